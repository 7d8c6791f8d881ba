/** Marks for the provider's prompt cache, which are set where the client set none. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const system = Array.from({ length: 400 }, (_, at) => `Rule ${at} says that the gate stays closed.`).join("\n")
const messages = [
  { role: "user", content: "One." },
  { role: "assistant", content: "Two." },
  { role: "user", content: "Three." }
]
const body = { model: "up/m", max_tokens: 50, system, messages }
const chatBody = { model: "up/m", messages: [{ role: "system", content: system }, ...messages] }

const marksIn = (text: string | undefined): number =>
  (text ?? "").split('"cache_control":{"type":"ephemeral"}').length - 1

const setUp = (wire: "messages" | "chat", promptCache: "auto" | "off") =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start()
    const upstream = yield* Fake.start
    upstream.always(Fake.json(wire === "messages" ? Fake.messagesAnswer() : Fake.chatCompletion()))
    yield* Effect.promise(async () => {
      await gateway.connect("up", upstream, wire)
      await gateway.manage("PATCH", "/api/settings", { promptCache })
    })
    const sent = async (path: string, asked: unknown): Promise<string | undefined> => {
      const response = await gateway.post(path, asked)
      assert.strictEqual(response.status, 200, await response.text())
      return upstream.requests.at(-1)?.body
    }
    return { gateway, upstream, sent }
  })

describe("promptCache", () => {
  it.scopedLive("auto: marks what goes to a messages upstream, from its own clients and from others", () =>
    Effect.gen(function* () {
      const { sent } = yield* setUp("messages", "auto")
      yield* Effect.promise(async () => {
        assert.strictEqual(marksIn(await sent("/v1/messages", body)), 3)
        assert.strictEqual(marksIn(await sent("/v1/chat/completions", chatBody)), 3)
        // A short prompt is not cached, and one with marks of the client is its own affair.
        assert.strictEqual(marksIn(await sent("/v1/messages", { ...body, system: "Be exact." })), 0)
        const own = { role: "user", content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }] }
        assert.strictEqual(marksIn(await sent("/v1/messages", { ...body, messages: [own] })), 1)
      })
    })
  )

  it.scopedLive("auto: leaves the chat wire as it is, whose servers cache by themselves", () =>
    Effect.gen(function* () {
      const { sent } = yield* setUp("chat", "auto")
      yield* Effect.promise(async () => {
        assert.strictEqual(marksIn(await sent("/v1/chat/completions", chatBody)), 0)
      })
    })
  )

  it.scopedLive("auto: marks on the chat wire where the provider documents it", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("chat", "auto")
      yield* Effect.promise(async () => {
        const connection = { provider: "openrouter", apiKey: "sk-or", baseUrl: `${upstream.origin}/v1` }
        await gateway.manage("POST", "/api/providers", { ...connection, models: ["anthropic/claude-sonnet-4.5"] })
        const model = "openrouter/anthropic/claude-sonnet-4.5"
        const response = await gateway.post("/v1/chat/completions", { ...chatBody, model })
        assert.strictEqual(response.status, 200, await response.text())
        assert.strictEqual(marksIn(upstream.requests.at(-1)?.body), 3)
      })
    })
  )

  it.scopedLive("off: sends the client's own bytes", () =>
    Effect.gen(function* () {
      const { sent } = yield* setUp("messages", "off")
      yield* Effect.promise(async () => {
        assert.strictEqual(await sent("/v1/messages", body), JSON.stringify(body).replace("up/m", "m"))
      })
    })
  )
})
