/** The live feed of people who do not manage: each hears the own requests, and never another's. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { isOf } from "../../../src/entry/live/OwnListeners.ts"
import { unrestricted } from "../../../src/subjects/keys/entity.ts"
import type { ApiKey } from "../../../src/subjects/keys/entity.ts"
import { eventually } from "../../support/eventually.ts"
import { setUp, type TestKey } from "../people/support.ts"
import { type Client, open, refused } from "../ws/support.ts"

const bearer = ({ secret }: TestKey) => ({ authorization: `Bearer ${secret}` })

/** All that a client was told until the answer to a ping. */
const toldUntilPong = async (client: Client) => {
  client.send({ type: "ping" })
  const told: Array<Readonly<Record<string, unknown>> & { readonly data?: Readonly<Record<string, unknown>> }> = []
  for (;;) {
    const frame = await client.next()
    if (frame.type === "pong") return told
    told.push(frame)
  }
}

describe("the live feed of a person", () => {
  it.scopedLive("tells the own requests, and nothing of others or of the gateway", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      const { ada, bob, ofAda, ofBob, plain } = yield* Effect.promise(async () => {
        const { id: ada } = await people.user("Ada")
        const { id: bob } = await people.user("Bob", { role: "lead" })
        const { id: teamId } = await people.team("Research", { members: [ada, bob] })
        return {
          ada,
          bob,
          ofAda: await people.key("ada", { userId: ada, teamId }),
          ofBob: await people.key("bob", { userId: bob, teamId }),
          plain: await people.key("plain", {})
        }
      })
      assert.strictEqual((yield* Effect.promise(() => refused(people.gateway, "/api/live", bearer(plain)))).status, 403)
      const listening = yield* open(people.gateway, "/api/live", bearer(ofAda))
      const lead = yield* open(people.gateway, "/api/live", bearer(ofBob))
      yield* Effect.promise(async () => {
        assert.deepInclude(await listening.next(), { type: "welcome", channels: ["requests"] })
        assert.deepInclude(await lead.next(), { type: "welcome", channels: ["requests"] })
        // Other channels are not there to be chosen.
        listening.send({ type: "subscribe", channels: ["requests", "config", "stats", "health"] })
        assert.deepStrictEqual(await listening.next(), { type: "subscribed", channels: ["requests"] })

        await (await people.chat(ofBob)).arrayBuffer()
        await (await people.chat(plain)).arrayBuffer()
        const answer = await people.chat(ofAda)
        await answer.arrayBuffer()
        const told = await listening.next()
        assert.deepInclude(told, { type: "event", channel: "requests", event: "request.completed" })
        assert.deepEqual(Object.keys(told.data).toSorted(), [
          "api_key_id",
          "cost_usd",
          "latencyMs",
          "requested_model",
          "status",
          "streamed",
          "tokens_in",
          "tokens_out",
          "trace_id"
        ])
        assert.deepInclude(told.data, {
          trace_id: answer.headers.get("x-gateway-request-id"),
          api_key_id: ofAda.id,
          tokens_in: 20,
          status: 200
        })
        assert.deepStrictEqual(await toldUntilPong(listening), [])
        // A lead hears of the own requests, not of the team's.
        const ofLead = await toldUntilPong(lead)
        assert.deepStrictEqual(
          ofLead.map(({ data }) => data?.["api_key_id"]),
          [ofBob.id]
        )

        // A key that is another's now tells the other.
        await people.move(ofAda, { userId: bob })
        await (await people.chat(ofAda)).arrayBuffer()
        await eventually(
          "the request of the key that moved",
          () => toldUntilPong(lead),
          (found) => found.some(({ data }) => data?.["api_key_id"] === ofAda.id)
        )
        assert.isString(ada)
      })
    })
  )

  it.scopedLive("ends with the person", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      const { ada, ofAda } = yield* Effect.promise(async () => {
        const { id } = await people.user("Ada")
        return { ada: id, ofAda: await people.key("ada", { userId: id }) }
      })
      const listening = yield* open(people.gateway, "/api/live", bearer(ofAda))
      yield* Effect.promise(async () => {
        await listening.next()
        await people.gateway.manage("PUT", `/api/users/${ada}`, { state: "suspended" })
        assert.strictEqual((await listening.closed).code, 1008)
      })
    })
  )

  it("counts a request for the person whose key it was when it came", () => {
    const key = { ...unrestricted, userId: "ada", ownedSinceMs: 1_000 } as unknown as ApiKey
    assert.isTrue(isOf("ada", { timestampMs: 1_000 }, key))
    assert.isFalse(isOf("ada", { timestampMs: 999 }, key))
    assert.isFalse(isOf("bob", { timestampMs: 1_000 }, key))
    assert.isFalse(isOf("ada", { timestampMs: 1_000 }, null))
  })
})
