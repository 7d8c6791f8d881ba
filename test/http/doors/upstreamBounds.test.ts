/** Hostile answers of an upstream: read within limits, told in the client's words, and no bug. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const deep = "[".repeat(20_000) + "]".repeat(20_000)
const requests = [
  ["/v1/chat/completions", { model: "up/m", messages: [{ role: "user", content: "Hi" }] }],
  ["/v1/messages", { model: "up/m", max_tokens: 8, messages: [{ role: "user", content: "Hi" }] }],
  ["/v1/responses", { model: "up/m", input: "Hi" }]
] as const

describe("an upstream", () => {
  it.scopedLive("whose answer is nested 20,000 deep has given no answer; deep members beside one do no harm", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "chat")
        const nestedAnswer = `${JSON.stringify(Fake.chatCompletion({ text: "served" })).slice(0, -1)},"x":${deep}}`
        for (const [path, body] of requests) {
          for (const told of [nestedAnswer, deep]) {
            upstream.always(Fake.text(told, { headers: { "content-type": "application/json" } }))
            const answer = await gateway.post(path, body)
            const text = await answer.text()
            assert.strictEqual(answer.status, 502, `${path} ${text.slice(0, 300)}`)
            assert.notInclude(text, "[[[[")
            await gateway.manage("POST", "/api/resilience/reset", {})
          }
        }
      })
    })
  )

  it.scopedLive(
    "whose stream has an event nested 20,000 deep ends with an error or goes on, and the gateway with it",
    () =>
      Effect.gen(function* () {
        const gateway = yield* TestGateway.start()
        const upstream = yield* Fake.start
        yield* Effect.promise(async () => {
          await gateway.connect("up", upstream, "chat")
          for (const [path, body] of requests) {
            upstream.always(Fake.text(`data: {"x":${deep}}\n\n`, { headers: { "content-type": "text/event-stream" } }))
            const answer = await gateway.post(path, { ...body, stream: true })
            const text = await answer.text()
            assert.strictEqual(answer.status, 502, `${path} ${text.slice(0, 300)}`)
            await gateway.manage("POST", "/api/resilience/reset", {})
          }
          upstream.always(Fake.sse(Fake.chatStream(["Hello"])))
          const [path, body] = requests[0]
          const answer = await gateway.post(path, { ...body, stream: true })
          assert.include(await answer.text(), "Hello")
        })
      })
  )

  it.scopedLive("that lists 300,000 models has the first 5,000 of them", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      const data = Array.from({ length: 300_000 }, (_, index) => ({ id: `m${index}` }))
      upstream.lists(Fake.json({ data }))
      yield* Effect.promise(async () => {
        const { id } = await gateway.connect("up", upstream, "chat", { models: [] })
        const { models } = await gateway.manage("GET", `/api/providers/${id}/models`)
        assert.strictEqual(models.length, 5_000)
      })
    })
  )
})
