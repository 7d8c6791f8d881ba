import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const chatBody = { messages: [{ role: "user", content: "Hi" }] }
const messagesBody = { ...chatBody, max_tokens: 50 }

describe("one request", () => {
  it.scopedLive("chat to a chat upstream, not streamed: the upstream's bytes, and the usage row", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      const answer = Fake.chatCompletion({ text: "Hello there", usage: { in: 11, out: 4 } })
      upstream.always(Fake.json(answer))
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "chat")
        const response = await gateway.post("/v1/chat/completions", {
          ...chatBody,
          model: "up/m",
          made_up: { kept: true }
        })
        assert.strictEqual(response.status, 200)
        assert.strictEqual(await response.text(), JSON.stringify(answer))
        const sent = JSON.parse(upstream.requests[0]!.body)
        assert.deepStrictEqual(sent, { ...chatBody, model: "m", made_up: { kept: true } })
        const row = await gateway.usageRow(response.headers.get("x-gateway-request-id")!)
        assert.deepInclude(row, { outcome: "completed", provider: "up", model: "m", usageSource: "upstream" })
        assert.deepInclude(row.tokens, { in: 11, out: 4 })
      })
    })
  )

  it.scopedLive("chat to a messages upstream, streamed", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      upstream.always(Fake.sse(Fake.messagesStream(["Hel", "lo"])))
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "messages")
        const response = await gateway.post("/v1/chat/completions", { ...chatBody, model: "up/m", stream: true })
        assert.strictEqual(response.status, 200)
        const text = await response.text()
        assert.include(text, '"content":"Hel"')
        assert.isTrue(text.endsWith("data: [DONE]\n\n"), text)
      })
    })
  )
})
void messagesBody
