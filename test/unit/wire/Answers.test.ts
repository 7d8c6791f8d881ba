import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { ChatResponse } from "../../../src/wire/chat/Schema.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { MessagesResponse } from "../../../src/wire/messages/Schema.ts"
import { context } from "./support.ts"

const toMessages = (message: JsonObject, finish: string, more: JsonObject = {}) => {
  const body = { id: "c1", model: "gpt", choices: [{ index: 0, message, finish_reason: finish }], ...more }
  return codecs.messages.encodeResponse(Either.getOrThrow(codecs.chat.decodeResponse(body)), context)
}

const toChat = (content: ReadonlyArray<JsonObject>, stop: string, usage: JsonObject = {}) => {
  const body = { id: "msg", type: "message", model: "claude", content, stop_reason: stop, stop_sequence: null, usage }
  return codecs.chat.encodeResponse(Either.getOrThrow(codecs.messages.decodeResponse(body)), context)
}

describe("chat completion → message", () => {
  it("maps every part, and the usage arithmetic", () => {
    const message = toMessages(
      { content: "Hi", reasoning_content: "hm", tool_calls: [{ id: "t:1", function: { name: "f", arguments: "" } }] },
      "tool_calls",
      { usage: { prompt_tokens: 50, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 20 } } }
    )
    assert.deepEqual(message, {
      id: "c1",
      type: "message",
      role: "assistant",
      model: "gpt",
      content: [
        { type: "thinking", thinking: "hm", signature: "" },
        { type: "text", text: "Hi" },
        { type: "tool_use", id: "t:1", name: "f", input: {} }
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 30, cache_creation_input_tokens: 0, cache_read_input_tokens: 20, output_tokens: 7 }
    })
    assert.isTrue(Schema.is(MessagesResponse)(message))
  })

  it("maps finish reasons", () => {
    const reasons = ["stop", "length", "content_filter", "function_call", "who knows"].map(
      (finish) => toMessages({ content: "a" }, finish)["stop_reason"]
    )
    assert.deepEqual(reasons, ["end_turn", "max_tokens", "refusal", "tool_use", "end_turn"])
  })

  it("refuses what is no answer: an error, no choices, no finish reason", () => {
    const problems = [{ error: { message: "boom" } }, {}, { choices: [{ message: { content: "a" } }] }].map(
      (body) => Either.getOrThrow(Either.flip(codecs.chat.decodeResponse(body))).message
    )
    assert.deepEqual(problems, [
      "boom",
      "The upstream's answer holds no choices.",
      "The upstream's answer is incomplete: it has no finish reason."
    ])
  })
})

describe("message → chat completion", () => {
  it("maps every part, and leaves out what its server has used up", () => {
    const completion = toChat(
      [
        { type: "thinking", thinking: "hm", signature: "c2ln" },
        { type: "redacted_thinking", data: "xx" },
        { type: "server_tool_use", id: "s", name: "web_search", input: {} },
        { type: "text", text: "A", citations: [{ type: "x" }] },
        { type: "text", text: "B" },
        { type: "tool_use", id: "t1", name: "f", input: { a: 1 } }
      ],
      "tool_use",
      { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 9 }
    )
    assert.deepEqual(completion["choices"], [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "AB",
          refusal: null,
          reasoning_content: "hm",
          tool_calls: [{ id: "t1", type: "function", function: { name: "f", arguments: '{"a":1}' } }]
        },
        logprobs: null,
        finish_reason: "tool_calls"
      }
    ])
    assert.deepInclude(completion["usage"], { prompt_tokens: 16, completion_tokens: 9, total_tokens: 25 })
    assert.isTrue(Schema.is(ChatResponse)(completion))
  })

  it("maps stop reasons", () => {
    const reasons = [
      "end_turn",
      "stop_sequence",
      "max_tokens",
      "refusal",
      "pause_turn",
      "model_context_window_exceeded"
    ].map(
      (stop) =>
        (toChat([{ type: "text", text: "a" }], stop)["choices"] as ReadonlyArray<JsonObject>)[0]?.["finish_reason"]
    )
    assert.deepEqual(reasons, ["stop", "stop", "length", "content_filter", "stop", "length"])
  })

  it("refuses an answer without a stop reason", () => {
    assert.isTrue(Either.isLeft(codecs.messages.decodeResponse({ content: [], stop_reason: null })))
    assert.isTrue(Either.isLeft(codecs.messages.decodeResponse({ type: "error", error: { message: "x" } })))
  })
})

describe("readAnswer", () => {
  it("counts what a relayed answer said", () => {
    const chat = codecs.chat.readAnswer({
      choices: [
        {
          index: 0,
          message: { content: "abc", tool_calls: [{ function: { name: "f", arguments: "{}" } }] },
          finish_reason: "stop"
        },
        { index: 1, message: { content: "de", reasoning: "hm" }, finish_reason: "stop" }
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2 }
    })
    assert.deepEqual(chat, {
      usage: { in: 1, out: 2, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
      stop: { reason: "tool_calls", raw: "stop", sequence: null },
      hasContent: true,
      textChars: 5,
      toolArgChars: 2,
      reasoningChars: 2
    })
    const empty = codecs.messages.readAnswer({ content: [{ type: "text", text: "" }], stop_reason: "end_turn" })
    assert.isFalse(empty.hasContent)
    assert.isNull(empty.usage)
  })
})
