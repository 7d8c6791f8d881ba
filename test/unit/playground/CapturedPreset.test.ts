import { assert, describe, it } from "@effect/vitest"
import { presetOf } from "../../../src/agents/playground/CapturedPreset.ts"
import { NotAPreset } from "../../../src/agents/playground/Errors.ts"
import { aRecord } from "../../support/TrafficRecords.ts"

const captured = (path: string, body: unknown, more: object = {}) =>
  presetOf(aRecord({ path, requestBody: typeof body === "string" ? body : JSON.stringify(body), ...more }))

const ask = [{ role: "user", content: "Hi" }]

const wires: ReadonlyArray<readonly [string, string, object]> = [
  [
    "chat",
    "/v1/chat/completions",
    {
      model: "m",
      messages: [
        { role: "system", content: "Be short." },
        { role: "developer", content: [{ type: "text", text: "Be kind." }] },
        ...ask
      ],
      temperature: 0.5,
      max_completion_tokens: 9,
      top_p: 0.9,
      presence_penalty: 1,
      frequency_penalty: -1,
      seed: 7,
      stop: ["END"]
    }
  ],
  [
    "messages",
    "/v1/messages?beta=true",
    {
      model: "m",
      system: [
        { type: "text", text: "Be short." },
        { type: "text", text: "Be kind." }
      ],
      messages: ask,
      temperature: 0.5,
      max_tokens: 9,
      top_p: 0.9,
      stop_sequences: ["END"]
    }
  ],
  [
    "responses",
    "/v1/responses",
    { model: "m", instructions: "Be short.\nBe kind.", input: "Hi", temperature: 0.5, max_output_tokens: 9, top_p: 0.9 }
  ],
  [
    "gemini",
    "/v1beta/models/m:streamGenerateContent?alt=sse",
    {
      systemInstruction: { parts: [{ text: "Be short." }, { text: "Be kind." }] },
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      generationConfig: { temperature: 0.5, maxOutputTokens: 9, topP: 0.9, seed: 7, stopSequences: ["END"] }
    }
  ],
  [
    "ollama",
    "/api/chat",
    {
      model: "m",
      messages: [{ role: "system", content: "Be short.\nBe kind." }, ...ask],
      options: { temperature: 0.5, num_predict: 9, top_p: 0.9, seed: 7, stop: ["END"] }
    }
  ]
]

const read = (preset: ReturnType<typeof presetOf>) => {
  if (preset instanceof NotAPreset) throw new Error(preset.reason)
  return { ...preset, params: JSON.parse(preset.paramsJson) }
}

describe("a preset of a captured request", () => {
  for (const [wire, path, body] of wires) {
    it(`has endpoint, model, system prompt and parameters of the ${wire} wire`, () => {
      const { endpoint, model, name, params, system } = read(captured(path, body))
      assert.deepEqual([endpoint, model, system], ["chat", "m", "Be short.\nBe kind."])
      assert.deepInclude(params, { temperature: 0.5, max_tokens: 9, top_p: 0.9 })
      assert.include(name, "m 2026-11-24")
      if (wire === "chat") {
        assert.deepInclude(params, { presence_penalty: 1, frequency_penalty: -1, seed: 7, stop: ["END"] })
      }
    })
  }

  it("has the endpoint of its route", () => {
    const routes: ReadonlyArray<readonly [string, string, object]> = [
      ["completions", "/v1/completions", { prompt: "x" }],
      ["embeddings", "/v1/embeddings", { input: "x" }],
      ["images", "/v1/images/generations", { prompt: "x" }],
      ["speech", "/v1/audio/speech", { input: "x" }],
      ["transcriptions", "/v1/audio/transcriptions", {}],
      ["audio", "/v1/music/generations", { prompt: "x" }],
      ["moderations", "/v1/moderations", { input: "x" }],
      ["rerank", "/v1/rerank", { query: "x", documents: [] }],
      ["search", "/v1/search", { query: "x" }]
    ]
    for (const [endpoint, path, body] of routes) {
      const preset = read(captured(path, { model: "m", ...body }))
      assert.deepEqual([preset.endpoint, preset.model, preset.system], [endpoint, "m", null], path)
    }
  })

  it("leaves out what a preset does not take", () => {
    const { params } = read(
      captured("/v1/chat/completions", { model: "m", messages: ask, temperature: 1.9, top_k: 4, n: 2, seed: 1 })
    )
    assert.deepEqual(params, { temperature: 1.9, seed: 1 })
  })

  it("is none where the request is none to a model, or its body is not whole", () => {
    const reason = (preset: ReturnType<typeof presetOf>) => (preset instanceof NotAPreset ? preset.reason : null)
    assert.strictEqual(reason(captured("/v1/chat/completions", "no json")), "not_llm")
    assert.strictEqual(reason(captured("/login", { user: "x" })), "not_llm")
    assert.strictEqual(reason(captured("/v1/chat/completions", "[".repeat(5_000))), "not_llm")
    const llm = { llm: {} as never }
    assert.strictEqual(
      reason(captured("/v1/chat/completions", "{", { requestTruncated: true, ...llm })),
      "body_incomplete"
    )
    assert.strictEqual(reason(presetOf(aRecord({ ...llm }))), "body_incomplete")
  })
})
