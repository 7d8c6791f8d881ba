/** Answers of a Gemini upstream that hold pictures, and those its model broke off. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
const picture = { inlineData: { mimeType: "image/png", data: png } }

const answer = (parts: ReadonlyArray<object>, finishReason = "STOP", more: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, finishReason, index: 0, ...more }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1290, totalTokenCount: 1293 },
  modelVersion: "m",
  responseId: "r"
})

const ask = { model: "up/m", messages: [{ role: "user", content: "Draw." }] }
const draw = { contents: [{ role: "user", parts: [{ text: "Draw." }] }] }
const streamOf = (body: object) => Fake.sse([`data: ${JSON.stringify(body)}\r\n\r\n`])

describe("a Gemini upstream's answer", () => {
  it.scopedLive(
    "of nothing but a picture arrives at a chat client, and is an error that tells why at a messages client",
    () =>
      Effect.gen(function* () {
        const gateway = yield* TestGateway.start()
        const upstream = yield* Fake.start
        yield* Effect.promise(async () => {
          await gateway.connect("up", upstream, "gemini")
          const only = answer([picture])
          upstream.enqueue(Fake.json(only), Fake.json(only), streamOf(only), streamOf(only))
          const chat = await gateway.post("/v1/chat/completions", ask)
          assert.include(await chat.text(), `data:image/png;base64,${png}`)
          const messages = await gateway.post("/v1/messages", { ...ask, max_tokens: 50 })
          assert.strictEqual(messages.status, 502)
          assert.match(await messages.text(), /answered with a picture, which the messages wire cannot carry/)
          const streamed = await gateway.post("/v1/messages", { ...ask, max_tokens: 50, stream: true })
          assert.match(await streamed.text(), /answered with a picture, which the messages wire cannot carry/)
          // It is no failure of the account, which stays in use.
          const again = await gateway.post("/v1/chat/completions", { ...ask, stream: true })
          assert.include(await again.text(), png)
        })
      })
  )

  it.scopedLive("names a picture that a messages client cannot be told beside the text", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "gemini")
        upstream.enqueue(Fake.json(answer([{ text: "Here:" }, picture])))
        const response = await gateway.post("/v1/messages", { ...ask, max_tokens: 50 })
        assert.strictEqual(response.headers.get("x-gateway-dropped"), "answer.inlineData")
        assert.include(await response.text(), "Here:")
      })
    })
  )

  for (const reason of ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"]) {
    it.scopedLive(
      `that ended in ${reason} passes to a Gemini client as it is, and is never a clean end elsewhere`,
      () =>
        Effect.gen(function* () {
          const gateway = yield* TestGateway.start()
          const upstream = yield* Fake.start
          yield* Effect.promise(async () => {
            await gateway.connect("up", upstream, "gemini")
            const broken = answer([], reason, { finishMessage: "Malformed function call: print(x)" })
            const sent = JSON.stringify(broken)
            upstream.enqueue(Fake.json(broken), streamOf(broken))
            const whole = await gateway.post("/v1beta/models/up/m:generateContent", draw)
            assert.deepEqual([whole.status, await whole.text()], [200, sent])
            const streamed = await gateway.post("/v1beta/models/up/m:streamGenerateContent?alt=sse", draw)
            assert.deepEqual([streamed.status, await streamed.text()], [200, `data: ${sent}\r\n\r\n`])
            upstream.enqueue(Fake.json(broken))
            const other = await gateway.post("/v1/chat/completions", ask)
            assert.isAtLeast(other.status, 400)
            assert.include(await other.text(), "Malformed function call: print(x)")
          })
        })
    )
  }
})
