/** The settings that act on every request: the system prompt and the thinking budget, on every wire. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const answers: Readonly<Record<WireName, unknown>> = {
  chat: Fake.chatCompletion({ text: "ok" }),
  messages: Fake.messagesAnswer({ text: "ok" }),
  responses: {
    id: "resp_1",
    object: "response",
    status: "completed",
    model: "m",
    output: [
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "ok", annotations: [] }]
      }
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  },
  gemini: {
    candidates: [{ index: 0, finishReason: "STOP", content: { role: "model", parts: [{ text: "ok" }] } }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
  },
  ollama: {
    model: "m",
    created_at: "2026-01-01T00:00:00Z",
    message: { role: "assistant", content: "ok" },
    done: true,
    done_reason: "stop",
    prompt_eval_count: 1,
    eval_count: 1
  }
}

const setUp = (wire: WireName) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start()
    const upstream = yield* Fake.start
    upstream.always(Fake.json(answers[wire]))
    yield* Effect.promise(() => gateway.connect("up", upstream, wire))
    const sent = async (path: string, body: unknown) => {
      const count = upstream.requests.length
      await (await gateway.post(path, body)).text()
      assert.strictEqual(upstream.requests.length, count + 1)
      return String(upstream.requests.at(-1)?.body)
    }
    return { gateway, upstream, sent }
  })

const around = { enabled: true, prefixPrompt: "BEFORE", suffixPrompt: "BEHIND" }
const user = { role: "user", content: "Hi" }

describe("the system prompt", () => {
  for (const [wire, path, body, place, told] of [
    [
      "chat",
      "/v1/chat/completions",
      { model: "up/m", messages: [{ role: "system", content: "own" }, user] },
      "messages",
      [
        { role: "system", content: "BEFORE" },
        { role: "system", content: "own" },
        { role: "system", content: "BEHIND" },
        user
      ]
    ],
    [
      "messages",
      "/v1/messages",
      { model: "up/m", max_tokens: 9, system: "own", messages: [user] },
      "system",
      ["BEFORE", "own", "BEHIND"].map((text) => ({ type: "text", text }))
    ],
    [
      "responses",
      "/v1/responses",
      { model: "up/m", input: "Hi", instructions: "own" },
      "instructions",
      "BEFORE\n\nown\n\nBEHIND"
    ],
    [
      "gemini",
      "/v1beta/models/up%2Fm:generateContent",
      { contents: [{ role: "user", parts: [{ text: "Hi" }] }], systemInstruction: { parts: [{ text: "own" }] } },
      "systemInstruction",
      { parts: [{ text: "BEFORE" }, { text: "own" }, { text: "BEHIND" }] }
    ],
    [
      "ollama",
      "/api/chat",
      { model: "up/m", stream: false, messages: [user] },
      "messages",
      [{ role: "system", content: "BEFORE" }, { role: "system", content: "BEHIND" }, user]
    ]
  ] as const) {
    it.scopedLive(
      `stands around the client's own on the ${wire} wire, and is gone without a trace when it is off`,
      () =>
        Effect.gen(function* () {
          const { gateway, sent } = yield* setUp(wire)
          yield* Effect.promise(async () => {
            const plain = await sent(path, body)
            assert.notInclude(plain, "BEFORE")
            await gateway.manage("PUT", "/api/settings/system-prompt", around)
            assert.deepStrictEqual(JSON.parse(await sent(path, body))[place], told)
            await gateway.manage("PUT", "/api/settings/system-prompt", { enabled: false })
            assert.strictEqual(await sent(path, body), plain)
          })
        })
    )
  }

  it.scopedLive(
    "is in a translated request, in Ollama's generate, and not in embeddings; a later turn has it once",
    () =>
      Effect.gen(function* () {
        const { gateway, sent, upstream } = yield* setUp("chat")
        yield* Effect.promise(async () => {
          await gateway.manage("PUT", "/api/settings/system-prompt", around)
          const texts = (body: string) =>
            (JSON.parse(body) as { messages: ReadonlyArray<{ role: string; content: string }> }).messages
              .filter(({ role }) => role === "system")
              .map(({ content }) => content)
              .join("|")
          assert.match(
            texts(await sent("/v1/messages", { model: "up/m", max_tokens: 9, system: "own", messages: [user] })),
            /^BEFORE\W+own\W+BEHIND$/
          )
          assert.match(
            texts(await sent("/api/generate", { model: "up/m", prompt: "Hi", system: "own", stream: false })),
            /^BEFORE\W+own\W+BEHIND$/
          )
          assert.notInclude(await sent("/v1/embeddings", { model: "up/m", input: "Hi" }), "BEFORE")
          const first = await gateway.post("/v1/responses", { model: "up/m", input: "Hi" })
          const { id } = (await first.json()) as { id: string }
          const next = await sent("/v1/responses", { model: "up/m", input: "More", previous_response_id: id })
          assert.strictEqual(next.split("BEFORE").length, 2)
          assert.isAbove(upstream.requests.length, 4)
        })
      })
  )
})

describe("the thinking budget", () => {
  it.scopedLive("sets, strips and scales the thinking of models that think, and of no others", () =>
    Effect.gen(function* () {
      const { gateway, sent } = yield* setUp("messages")
      yield* Effect.promise(async () => {
        for (const [modelId, reasoning] of [
          ["thinker", true],
          ["plain", false]
        ] as const) {
          await gateway.manage("POST", "/api/provider-models", { provider: "up", modelId, capabilities: { reasoning } })
        }
        const put = (settings: object) => gateway.manage("PUT", "/api/settings/thinking-budget", settings)
        const asked = (model: string, more: object = {}, text = "Hi") =>
          sent("/v1/messages", { model, max_tokens: 20_000, messages: [{ role: "user", content: text }], ...more })
        const thinking = async (...args: Parameters<typeof asked>) => JSON.parse(await asked(...args)).thinking
        const own = { thinking: { type: "enabled", budget_tokens: 2_000 } }
        const untouched = await asked("up/thinker", own)

        await put({ mode: "custom", customBudget: 4_096 })
        assert.deepStrictEqual(await thinking("up/thinker"), { type: "enabled", budget_tokens: 4_096 })
        assert.deepStrictEqual(await thinking("up/thinker", own), { type: "enabled", budget_tokens: 4_096 })
        assert.isUndefined(await thinking("up/plain"))
        await put({ customBudget: 0 })
        assert.notStrictEqual((await thinking("up/thinker", own))?.type, "enabled")

        await put({ mode: "auto" })
        assert.isUndefined(await thinking("up/thinker", own))

        await put({ mode: "adaptive", customBudget: 8_000 })
        const { budget_tokens: small } = await thinking("up/thinker")
        const { budget_tokens: large } = await thinking("up/thinker", {}, "Think of this. ".repeat(300))
        assert.isBelow(small, large)
        assert.isAtLeast(small, 1_024)

        await put({ mode: "passthrough" })
        assert.strictEqual(await asked("up/thinker", own), untouched)
      })
    })
  )
})
