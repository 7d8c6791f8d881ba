import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { codecs, encodeConversation, makeStreamTranslator } from "../../../../src/wire/Codec.ts"
import { completions } from "../../../../src/wire/media/completions/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import { context, cut, options } from "../support.ts"

const body = (more: JsonObject = {}): JsonObject => ({ model: "m", prompt: "Once upon", ...more })

const refusal = (request: JsonObject) => Either.getOrThrow(Either.flip(completions.checkEnvelope(request)))

const sent = (wire: WireName, request: JsonObject) =>
  Either.getOrThrow(
    Either.flatMap(completions.decodeRequest(request), (conversation) =>
      encodeConversation(completions, codecs[wire], conversation, options)
    )
  )

describe("text completion requests", () => {
  it("become one user turn on every wire", () => {
    for (const wire of ["chat", "messages", "responses", "gemini", "ollama"] as const) {
      const { body: request, dropped } = sent(wire, body())
      assert.include(JSON.stringify(request), "Once upon", wire)
      assert.deepStrictEqual(dropped, [], wire)
    }
    assert.deepStrictEqual(sent("chat", body({ prompt: ["Once"] })).body["messages"], [
      { role: "user", content: "Once" }
    ])
  })

  it("keep what a conversation can say, and name what it cannot", () => {
    const { body: request, dropped } = sent(
      "chat",
      body({
        max_tokens: 9,
        temperature: 0.5,
        stop: ["a"],
        n: 1,
        logprobs: 2,
        best_of: 3,
        echo: true,
        min_p: 0.1
      })
    )
    assert.deepInclude(request, { max_tokens: 9, temperature: 0.5, stop: ["a"], min_p: 0.1 })
    for (const field of ["suffix", "logprobs", "best_of", "echo", "prompt", "n"]) assert.notProperty(request, field)
    assert.deepStrictEqual(dropped, ["logprobs", "best_of"])
    assert.deepStrictEqual(sent("messages", body({ min_p: 0.1 })).dropped, ["min_p"])
  })

  it("are no question without their suffix", () => {
    for (const wire of ["chat", "messages", "responses", "gemini", "ollama"] as const) {
      const conversation = Either.getOrThrow(completions.decodeRequest(body({ suffix: "end" })))
      const result = encodeConversation(completions, codecs[wire], conversation, { ...options, maxOutputTokens: 9 })
      assert.strictEqual(Either.isLeft(result) ? result.left.param : null, "suffix", wire)
    }
  })

  it("are dropped no field for what says nothing", () => {
    assert.deepStrictEqual(sent("chat", body({ suffix: null, logprobs: null, best_of: 1, n: null })).dropped, [])
  })

  for (const [what, prompt, word] of [
    ["nothing", undefined, "required"],
    ["null", null, "required"],
    ["an empty string", "", "required"],
    ["an empty list", [], "required"],
    ["several prompts", ["a", "b"], "one prompt per request"],
    ["token ids", [1, 2], "token ids"],
    ["one token id", [1], "token ids"],
    ["lists of token ids", [[1, 2]], "token ids"],
    ["several lists of token ids", [[1], [2]], "token ids"],
    ["an object", { a: 1 }, "expected a string"]
  ] as const) {
    it(`refuse ${what} for a prompt`, () => {
      const { message, param } = refusal({ model: "m", ...(prompt === undefined ? {} : { prompt }) })
      assert.strictEqual(param, "prompt")
      assert.include(message, word)
      assert.isTrue(Either.isLeft(completions.decodeRequest({ model: "m", prompt } as JsonObject)))
    })
  }

  it("refuse more than one answer, and fields of the wrong kind", () => {
    assert.strictEqual(refusal(body({ n: 2 })).param, "n")
    assert.strictEqual(refusal(body({ max_tokens: "9" })).param, "max_tokens")
    assert.strictEqual(refusal(body({ stream: "yes" })).param, "stream")
    assert.strictEqual(refusal({ prompt: "a" }).param, "model")
  })
})

describe("text completion answers", () => {
  const answer = (request: JsonObject, finish = "stop") =>
    completions.encodeResponse(
      Either.getOrThrow(
        codecs.chat.decodeResponse({
          id: "c1",
          created: 7,
          model: "up",
          choices: [{ index: 0, message: { role: "assistant", content: " a time" }, finish_reason: finish }],
          usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
        })
      ),
      { ...context, request }
    )

  it("hold text, finish reason and usage", () => {
    const written = answer(body())
    assert.deepInclude(written, { id: "c1", object: "text_completion", created: 7, model: "up" })
    assert.deepStrictEqual(written["choices"], [{ text: " a time", index: 0, logprobs: null, finish_reason: "stop" }])
    assert.deepInclude(written["usage"], { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 })
    assert.include(JSON.stringify(answer(body(), "length")), '"finish_reason":"length"')
    assert.include(JSON.stringify(answer(body(), "tool_calls")), '"finish_reason":"stop"')
  })

  it("repeat the prompt when asked to", () => {
    assert.include(JSON.stringify(answer(body({ echo: true }))), '"text":"Once upon a time"')
  })
})

describe("text completion streams", () => {
  const upstream = [
    { choices: [{ index: 0, delta: { role: "assistant", reasoning_content: "hm" }, finish_reason: null }] },
    { choices: [{ index: 0, delta: { content: " a" }, finish_reason: null }] },
    { choices: [{ index: 0, delta: { content: " time" }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "length" }] },
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }
  ]
  const text = `${upstream.map((chunk) => `data: ${JSON.stringify({ id: "c1", created: 7, model: "up", ...chunk })}\n\n`).join("")}data: [DONE]\n\n`

  const run = (request: JsonObject, wantsUsage: boolean): ReadonlyArray<JsonObject | string> => {
    const translator = makeStreamTranslator(completions, codecs.chat, { ...context, request, wantsUsage })
    const out = cut(text, 13).map((piece) => translator.push(piece))
    const all = out.join("") + translator.end()
    assert.isTrue(translator.facts.terminated)
    return all
      .split("\n\n")
      .filter((event) => event.startsWith("data: "))
      .map((event) => (event === "data: [DONE]" ? "[DONE]" : (JSON.parse(event.slice(6)) as JsonObject)))
  }

  it("are text_completion chunks to the end mark", () => {
    const chunks = run(body(), false)
    assert.strictEqual(chunks.at(-1), "[DONE]")
    const choices = chunks.slice(0, -1).map((chunk) => (chunk as { choices: ReadonlyArray<JsonObject> }).choices[0])
    assert.deepStrictEqual(
      choices.map((choice) => choice?.["text"]),
      [" a", " time", ""]
    )
    assert.strictEqual(choices.at(-1)?.["finish_reason"], "length")
    for (const chunk of chunks.slice(0, -1)) {
      assert.deepInclude(chunk as JsonObject, { id: "c1", object: "text_completion", model: "up" })
      assert.notProperty(chunk, "usage")
    }
  })

  it("tell usage when asked, and repeat the prompt when asked", () => {
    const chunks = run(body({ echo: true }), true)
    const counted = chunks.at(-2) as JsonObject
    assert.deepStrictEqual(counted["choices"], [])
    assert.deepInclude(counted["usage"], { prompt_tokens: 3, completion_tokens: 2 })
    assert.include(JSON.stringify(chunks[0]), '"text":"Once upon"')
  })
})
