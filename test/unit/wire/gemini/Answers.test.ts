import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { gemini } from "../../../../src/wire/gemini/Codec.ts"
import { GeminiResponse } from "../../../../src/wire/gemini/Schema.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { context } from "../support.ts"
import { answer, type Wire, wires } from "./support.ts"

const say = (client: Wire, upstream: Wire, body: JsonObject): JsonObject =>
  wires[client].encodeResponse(Either.getOrThrow(wires[upstream].decodeResponse(body)), context)

const usageMetadata = {
  promptTokenCount: 50,
  toolUsePromptTokenCount: 4,
  cachedContentTokenCount: 20,
  candidatesTokenCount: 7,
  thoughtsTokenCount: 5,
  totalTokenCount: 66,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: 50 }]
}

const whole = answer(
  [
    { text: "hm", thought: true, thoughtSignature: "s0" },
    { text: "Hi", thoughtSignature: "s1" },
    { functionCall: { name: "f", args: { a: 1 } }, thoughtSignature: "s2" },
    { functionCall: { name: "f" } },
    { executableCode: { language: "PYTHON", code: "1" } }
  ],
  "STOP",
  { usageMetadata }
)

describe("gemini answer", () => {
  it("is decoded with signatures where they belong, and STOP after calls is waiting for them", () => {
    const response = Either.getOrThrow(gemini.decodeResponse(whole))
    const state = (signature: string) => ({ wire: "gemini" as const, signature })
    assert.deepEqual(response.parts, [
      { type: "reasoning", text: "hm", state: state("s0") },
      { type: "text", text: "Hi", state: state("s1") },
      { type: "tool_call", id: "call_r-1_0", name: "f", kind: "function", args: '{"a":1}', state: state("s2") },
      { type: "tool_call", id: "call_r-1_1", name: "f", kind: "function", args: "{}" },
      {
        type: "opaque",
        wire: "gemini",
        kind: "executableCode",
        value: { executableCode: { language: "PYTHON", code: "1" } }
      }
    ])
    assert.deepEqual(response.stop, { reason: "tool_calls", raw: "STOP", sequence: null })
    assert.deepEqual(response.usage, { in: 54, out: 12, cacheRead: 20, cacheWrite: 0, reasoning: 5 })
  })

  it("goes to the chat and messages wires", () => {
    const choice = (say("chat", "gemini", whole)["choices"] as ReadonlyArray<JsonObject>)[0]
    assert.deepInclude(choice?.["message"], {
      content: "Hi",
      reasoning_content: "hm",
      tool_calls: [
        { id: "call_r-1_0", type: "function", function: { name: "f", arguments: '{"a":1}' } },
        { id: "call_r-1_1", type: "function", function: { name: "f", arguments: "{}" } }
      ]
    })
    assert.strictEqual(choice?.["finish_reason"], "tool_calls")
    const message = say("messages", "gemini", whole)
    assert.deepEqual(
      (message["content"] as ReadonlyArray<JsonObject>).map((block) => block["type"]),
      ["thinking", "text", "tool_use", "tool_use"]
    )
    assert.deepInclude(message["usage"], { input_tokens: 34, cache_read_input_tokens: 20, output_tokens: 12 })
  })

  it("stays what it is on its own wire", () => {
    const { usageMetadata: _usage, ...rest } = answer(
      [
        { text: "a", thoughtSignature: "s" },
        { functionCall: { id: "1", name: "f", args: {} }, thoughtSignature: "t" }
      ],
      "RECITATION",
      { usageMetadata }
    )
    const { usageMetadata: usage, ...out } = say("gemini", "gemini", { ...rest, usageMetadata })
    assert.deepEqual(out, rest)
    assert.deepEqual(usage, {
      promptTokenCount: 54,
      candidatesTokenCount: 7,
      thoughtsTokenCount: 5,
      cachedContentTokenCount: 20,
      totalTokenCount: 66
    })
  })

  it("maps finish reasons", () => {
    const reasons = ["STOP", "MAX_TOKENS", "SAFETY", "SPII", "LANGUAGE", "OTHER", "NEW"].map(
      (finish) => (say("chat", "gemini", answer([{ text: "a" }], finish))["choices"] as ReadonlyArray<JsonObject>)[0]
    )
    assert.deepEqual(
      reasons.map((choice) => choice?.["finish_reason"]),
      ["stop", "length", "content_filter", "content_filter", "content_filter", "stop", "stop"]
    )
  })

  it("takes a refused prompt for an answer that was filtered", () => {
    const body = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 9 } }
    const response = Either.getOrThrow(gemini.decodeResponse(body))
    assert.deepEqual(response.stop, { reason: "content_filter", raw: "PROHIBITED_CONTENT", sequence: null })
    assert.strictEqual(response.usage?.in, 9)
    assert.deepEqual(response.parts, [])
    const dated = gemini.decodeResponse({ ...body, createTime: "1970-01-01T00:00:01.5Z" })
    assert.strictEqual(Either.getOrThrow(dated).createdMs, 1500)
  })

  it("refuses what is no answer", () => {
    const problems = [
      { error: { code: 503, message: "busy", status: "UNAVAILABLE" } },
      {},
      answer([{ text: "a" }]),
      answer([], "MALFORMED_FUNCTION_CALL")
    ].map((body) => Either.getOrThrow(Either.flip(gemini.decodeResponse(body))).message)
    assert.deepEqual(problems, [
      "busy",
      "The upstream's answer holds no candidates.",
      "The upstream's answer is incomplete: it has no finish reason.",
      "The upstream's model broke off: MALFORMED_FUNCTION_CALL."
    ])
  })

  it("reads the facts of a relayed answer for the usage row", () => {
    assert.deepEqual(gemini.readAnswer(whole), {
      usage: { in: 54, out: 12, cacheRead: 20, cacheWrite: 0, reasoning: 5 },
      stop: { reason: "tool_calls", raw: "STOP", sequence: null },
      hasContent: true,
      textChars: 2,
      toolArgChars: 9,
      reasoningChars: 2
    })
    assert.isFalse(gemini.readAnswer(answer([{ text: "" }], "STOP")).hasContent)
  })
})

describe("answers of other wires → gemini", () => {
  it("maps every part of a chat completion", () => {
    const message = {
      content: "Hi",
      refusal: "No.",
      reasoning_content: "hm",
      tool_calls: [{ id: "t", function: { name: "f", arguments: '{"a":1}' } }]
    }
    const usage = {
      prompt_tokens: 9,
      completion_tokens: 8,
      prompt_tokens_details: { cached_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 5 }
    }
    const out = say("gemini", "chat", {
      id: "c1",
      model: "gpt",
      choices: [{ message, finish_reason: "tool_calls" }],
      usage
    })
    assert.deepEqual(out, {
      candidates: [
        {
          content: {
            parts: [
              { text: "hm", thought: true },
              { text: "Hi" },
              { text: "No." },
              { functionCall: { id: "t", name: "f", args: { a: 1 } } }
            ],
            role: "model"
          },
          finishReason: "STOP",
          index: 0
        }
      ],
      usageMetadata: {
        promptTokenCount: 9,
        candidatesTokenCount: 3,
        thoughtsTokenCount: 5,
        cachedContentTokenCount: 3,
        totalTokenCount: 17
      },
      modelVersion: "gpt",
      responseId: "c1"
    })
    assert.isTrue(Schema.is(GeminiResponse)(out))
  })

  it("never writes a content without parts, and leaves foreign proofs out", () => {
    const out = say("gemini", "messages", {
      content: [{ type: "redacted_thinking", data: "xx" }],
      stop_reason: "max_tokens",
      usage: {}
    })
    const [candidate] = out["candidates"] as ReadonlyArray<JsonObject>
    assert.deepEqual(candidate, {
      content: { parts: [{ text: "" }], role: "model" },
      finishReason: "MAX_TOKENS",
      index: 0
    })
    assert.isTrue(Schema.is(GeminiResponse)(out))
  })
})
