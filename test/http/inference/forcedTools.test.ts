/** Tools that a provider runs itself, on an upstream of another wire: forced ones are refused, others are left out and named. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const [chat, messages] = [yield* Fake.start, yield* Fake.start]
  yield* Effect.promise(async () => {
    chat.always(Fake.json(Fake.chatCompletion({ text: "made up" })))
    messages.always(Fake.json(Fake.messagesAnswer({ text: "searched" })))
    await gateway.connect("chatty", chat, "chat")
    await gateway.connect("claudy", messages, "messages")
    await gateway.combo("both", "chatty/m", "claudy/m")
  })
  return { gateway, chat, messages }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

interface Refused {
  readonly type?: string
  readonly error: { readonly type: string; readonly message: string }
}

const hi = [{ role: "user", content: "What is new?" }]
const search = (model: string, choice?: Record<string, unknown>) => ({
  model,
  max_tokens: 50,
  messages: hi,
  tools: [{ type: "web_search_20250305", name: "web_search" }],
  ...(choice === undefined ? {} : { tool_choice: choice })
})
const forced = { type: "tool", name: "web_search" }

describe("a tool the provider runs, forced", () => {
  scene("is refused in the words of each client, and nothing is asked", async ({ chat, gateway, messages }) => {
    const told = /the tool 'web_search' is the provider's own.*Ask for a model of a provider that speaks this wire/
    const claude = await gateway.post("/v1/messages", search("chatty/m", forced))
    const body = (await claude.json()) as Refused
    assert.strictEqual(claude.status, 400)
    assert.strictEqual(body.type, "error")
    assert.strictEqual(body.error.type, "invalid_request_error")
    assert.match(body.error.message, told)
    for (const model of ["chatty/m", "claudy/m"]) {
      const codex = await gateway.post("/v1/responses", {
        model,
        input: "What is new?",
        tools: [{ type: "web_search" }],
        tool_choice: { type: "web_search" }
      })
      const { error } = (await codex.json()) as Refused
      assert.strictEqual(codex.status, 400)
      assert.strictEqual(error.type, "invalid_request_error")
      assert.match(error.message, told)
    }
    assert.lengthOf([...chat.requests, ...messages.requests], 0)
  })

  scene("goes to the target of a combo that can run it", async ({ chat, gateway }) => {
    const response = await gateway.post("/v1/messages", search("both", forced))
    assert.strictEqual(response.status, 200)
    assert.strictEqual(response.headers.get("x-gateway-provider"), "claudy")
    assert.lengthOf(chat.requests, 0)
  })

  scene("is left out and named when it is only offered", async ({ chat, gateway }) => {
    const response = await gateway.post("/v1/messages", search("chatty/m"))
    assert.strictEqual(response.status, 200)
    assert.include(response.headers.get("x-gateway-dropped") ?? "", "tools.web_search_20250305")
    assert.notProperty(JSON.parse(chat.requests[0]!.body), "tools")
  })
})
