/** Events survive `kill -9`, whenever it comes: before they are in the outbox, while they are sent, and before the answer is noted. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"
import { type Answer, makeLatch } from "../../support/FakeUpstream.ts"
import { answering, assertSigned, envelopeOf } from "../../support/Receiver.ts"

const adminKey = "admin-key-of-the-program-tests"
const environment = { GATEWAY_ADMIN_KEY: adminKey, OUTBOUND_SSRF_GUARD_ENABLED: "false" }

const manage = async (program: Program.Program, path: string, body: unknown) => {
  const response = await fetch(program.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  assert.isTrue(response.ok, `${path}: ${response.status}`)
  return JSON.parse(await response.text())
}

const setUp = Effect.gen(function* () {
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion({ text: "Hello" })))
  const receiver = yield* Fake.start
  receiver.always(answering(200))
  const program = yield* Program.start(environment)
  const secret = yield* Effect.promise(async () => {
    const baseUrl = `${upstream.origin}/v1`
    await manage(program, "/api/provider-nodes", { name: "up", prefix: "up", type: "openai-compatible", baseUrl })
    await manage(program, "/api/providers", { provider: "up", apiKey: "k-0123456789", models: ["m"] })
    const { webhook } = await manage(program, "/api/webhooks", { url: receiver.origin, events: ["request.completed"] })
    return String(webhook.secret)
  })
  const ask = async (): Promise<string> => {
    const body = JSON.stringify({ model: "up/m", messages: [{ role: "user", content: "Hi" }] })
    const response = await fetch(`${program.url}/v1/chat/completions`, { method: "POST", body })
    await response.arrayBuffer()
    return response.headers.get("x-gateway-request-id") ?? ""
  }
  const kill = Effect.promise(() => {
    program.signal("SIGKILL")
    return program.ended
  })
  const restart = Program.start(environment, program.dataDir)
  const ids = () => receiver.requests.map((request) => envelopeOf(request).id)
  return { receiver, secret, ask, kill, stop: program.stop, restart, ids }
})

/** Every event of `wanted` arrives, signed. */
const arrives = (given: Effect.Effect.Success<typeof setUp>, wanted: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    await eventually("every event", given.ids, (ids) => wanted.every((id) => ids.includes(id)), { withinMs: 20_000 })
    for (const request of given.receiver.requests) assertSigned(request, given.secret)
  })

describe("kill -9", () => {
  it.scopedLive("before the events are in the outbox: each arrives once after the restart", () =>
    Effect.gen(function* () {
      const given = yield* setUp
      const wanted = yield* Effect.promise(() => Promise.all([given.ask(), given.ask(), given.ask()]))
      yield* given.kill
      const before = given.ids()
      yield* given.restart
      yield* arrives(given, wanted)
      if (before.length === 0) assert.sameMembers([...given.ids()], [...wanted])
    })
  )

  for (const [moment, answer] of [
    ["after the receiver was called and before it has answered", () => {}],
    ["as the receiver answers", answering(200)]
  ] as ReadonlyArray<readonly [string, Answer]>) {
    it.scopedLive(`${moment}: the event arrives`, () =>
      Effect.gen(function* () {
        const given = yield* setUp
        const arrived = makeLatch()
        given.receiver.enqueue(async (response, request) => {
          await answer(response, request)
          arrived.open()
        })
        const id = yield* Effect.promise(given.ask)
        yield* Effect.promise(() => arrived.opened)
        yield* given.kill
        const before = given.ids()
        assert.deepStrictEqual(before, [id])
        yield* given.restart
        // The answer may have been noted before the kill; what was not answered cannot have been.
        if (moment.startsWith("after")) {
          yield* Effect.promise(() =>
            eventually("the event again", given.ids, ({ length }) => length === 2, { withinMs: 20_000 })
          )
        }
        yield* arrives(given, [id])
      })
    )
  }
})

describe("an orderly stop", () => {
  it.scopedLive("during a delivery: the event arrives again after the restart, with the same id", () =>
    Effect.gen(function* () {
      const given = yield* setUp
      const arrived = makeLatch()
      given.receiver.enqueue(() => arrived.open())
      const id = yield* Effect.promise(given.ask)
      yield* Effect.promise(() => arrived.opened)
      assert.strictEqual((yield* given.stop).code, 0)
      assert.deepStrictEqual(given.ids(), [id])
      yield* given.restart
      yield* Effect.promise(() =>
        eventually("the event again", given.ids, ({ length }) => length === 2, { withinMs: 20_000 })
      )
      yield* arrives(given, [id])
      assert.deepStrictEqual(given.ids(), [id, id])
      const headers = given.receiver.requests.map((request) => request.headers["webhook-id"])
      assert.deepStrictEqual(headers, [id, id])
    })
  )
})
