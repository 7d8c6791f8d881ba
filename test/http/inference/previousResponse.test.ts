/** `previous_response_id` for upstreams that keep nothing. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

type Body = Record<string, unknown>

const setUp = (wire: WireName) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start()
    const upstream = yield* Fake.start
    yield* Effect.promise(() => gateway.connect("up", upstream, wire))
    return { gateway, upstream }
  })

/** Asks, and gives the id of the finished response. */
const ask = async (gateway: TestGateway.TestGateway, body: Body): Promise<string> => {
  const response = await gateway.post("/v1/responses", { model: "up/m", ...body })
  const text = await response.text()
  assert.strictEqual(response.status, 200, text)
  if (body["stream"] !== true) return (JSON.parse(text) as { id: string }).id
  const last = text.split("\n").findLast((line) => line.includes("response.completed") && line.startsWith("data:"))
  return (JSON.parse(last?.slice(5) ?? "") as { response: { id: string } }).response.id
}

describe("previous_response_id", () => {
  for (const stream of [true, false]) {
    it.scopedLive(`a chat upstream gets the whole conversation (stream: ${stream})`, () =>
      Effect.gen(function* () {
        const { gateway, upstream } = yield* setUp("chat")
        yield* Effect.promise(async () => {
          const answer = stream
            ? Fake.sse(Fake.chatStream(["Bon", "jour"]))
            : Fake.json(Fake.chatCompletion({ text: "Bonjour" }))
          upstream.always(answer)
          const first = await ask(gateway, { input: "Hi", stream, instructions: "Speak French." })
          const second = await ask(gateway, { input: "Again", stream, previous_response_id: first })
          await ask(gateway, { input: "Once more", stream, previous_response_id: second })
          const { messages } = JSON.parse((await upstream.received(3)).body) as { messages: ReadonlyArray<Body> }
          assert.deepStrictEqual(
            messages.map(({ role, content }) => [role, content]),
            [
              ["user", "Hi"],
              ["assistant", "Bonjour"],
              ["user", "Again"],
              ["assistant", "Bonjour"],
              ["user", "Once more"]
            ]
          )
        })
      })
    )
  }

  it.scopedLive("a responses upstream that keeps nothing gets it too", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("responses")
      yield* Effect.promise(async () => {
        const message = {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Bonjour", annotations: [] }]
        }
        upstream.always(Fake.json({ id: "resp_1", object: "response", status: "completed", output: [message] }))
        const first = await ask(gateway, { input: "Hi" })
        await ask(gateway, { input: "Again", previous_response_id: first })
        const sent = JSON.parse((await upstream.received(2)).body) as { input: ReadonlyArray<Body> } & Body
        assert.lengthOf(sent.input, 3)
        assert.deepInclude(sent.input[1], { id: "msg_1" })
        assert.notProperty(sent, "previous_response_id")
      })
    })
  )

  it.scopedLive("what was not to be stored, or belongs to another key, or was never there is not found", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("chat")
      yield* Effect.promise(async () => {
        const answer = Fake.chatCompletion({ text: "Bonjour" })
        upstream.enqueue(Fake.json({ ...answer, id: "chatcmpl-a" }), Fake.json({ ...answer, id: "chatcmpl-b" }))
        const unstored = await ask(gateway, { input: "Hi", store: false })
        const mine = await ask(gateway, { input: "Hi" })
        const { secret } = (await gateway.manage("POST", "/api/keys", { name: "other" })) as { secret: string }
        const cases: ReadonlyArray<readonly [id: string, headers: Record<string, string>]> = [
          [unstored, {}],
          ["resp_unknown", {}],
          [mine, { authorization: `Bearer ${secret}` }]
        ]
        for (const [id, headers] of cases) {
          const body = { model: "up/m", input: "Again", previous_response_id: id }
          const response = await gateway.post("/v1/responses", body, headers)
          const { error } = (await response.json()) as { error: Body }
          assert.strictEqual(response.status, 400)
          assert.deepInclude(error, { code: "previous_response_not_found", param: "previous_response_id" })
        }
      })
    })
  )

  it.scopedLive("an id that only the upstream can know is left to it", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("responses")
      yield* Effect.promise(async () => {
        upstream.always(Fake.json({ id: "resp_2", object: "response", status: "completed", output: [] }))
        await (
          await gateway.post("/v1/responses", { model: "up/m", input: "Hi", previous_response_id: "resp_x" })
        ).text()
        const sent = JSON.parse((await upstream.received(1)).body) as Body
        assert.strictEqual(sent["previous_response_id"], "resp_x")
      })
    })
  )
})
