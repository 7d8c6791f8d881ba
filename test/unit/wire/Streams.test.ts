import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { chunk, events, type Piece, sse, translateStream } from "./support.ts"

const usage = {
  prompt_tokens: 50,
  completion_tokens: 7,
  prompt_tokens_details: { cached_tokens: 20 },
  completion_tokens_details: { reasoning_tokens: 3 }
}

const message = (more: JsonObject = {}) => ({
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 1 },
    ...more
  }
})
const start = (index: number, content_block: JsonObject) => ({ type: "content_block_start", index, content_block })
const delta = (index: number, value: JsonObject) => ({ type: "content_block_delta", index, delta: value })
const stop = (index: number) => ({ type: "content_block_stop", index })
const end = (stop_reason: string, more: JsonObject = {}) => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 9, ...more } },
  { type: "message_stop" }
]

describe("chat stream → messages client", () => {
  const toMessages = (...parts: ReadonlyArray<Piece>) => translateStream("messages", "chat", sse(...parts))

  it("writes blocks one after the other, and usage with the stop reason", () => {
    const { facts, text } = toMessages(
      { choices: [], prompt_filter_results: [] },
      chunk({ role: "assistant", content: "" }),
      chunk({ reasoning_content: "hm" }),
      chunk({ content: "Hi" }),
      chunk({ tool_calls: [{ index: 1, id: "t1", function: { name: "look", arguments: "" } }] }),
      chunk({ tool_calls: [{ index: 1, id: "t1", function: { name: "look", arguments: '{"q":1}' } }] }),
      chunk({ tool_calls: [{ index: 2, id: "t2", function: { name: "list" } }] }),
      chunk({}, "stop"),
      chunk({}, null, { choices: [], usage }),
      "[DONE]"
    )
    assert.deepEqual(events(text), [
      {
        type: "message_start",
        message: {
          id: "c1",
          type: "message",
          role: "assistant",
          model: "gpt",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 }
        }
      },
      start(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "hm" }),
      stop(0),
      start(1, { type: "text", text: "" }),
      delta(1, { type: "text_delta", text: "Hi" }),
      stop(1),
      start(2, { type: "tool_use", id: "t1", name: "look", input: {} }),
      delta(2, { type: "input_json_delta", partial_json: '{"q":1}' }),
      stop(2),
      start(3, { type: "tool_use", id: "t2", name: "list", input: {} }),
      stop(3),
      {
        type: "message_delta",
        delta: { stop_reason: "tool_use", stop_sequence: null },
        usage: {
          input_tokens: 30,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 20,
          output_tokens: 7,
          output_tokens_details: { thinking_tokens: 3 }
        }
      },
      { type: "message_stop" }
    ])
    assert.deepEqual(facts, {
      events: facts.events,
      content: true,
      stop: { reason: "tool_calls", raw: "stop", sequence: null },
      terminated: true,
      usage: { in: 50, out: 7, cacheRead: 20, cacheWrite: 0, reasoning: 3 },
      problem: null,
      textChars: 2,
      toolArgChars: 7,
      reasoningChars: 2
    })
    assert.include(text, "event: content_block_start\ndata: ")
  })

  it("puts interleaved calls in a row", () => {
    const piece = (index: number, args: string, name?: string) =>
      chunk({
        tool_calls: [
          {
            index,
            ...(name === undefined ? {} : { id: `t${index}` }),
            function: { ...(name === undefined ? {} : { name }), arguments: args }
          }
        ]
      })
    const { text } = toMessages(
      piece(0, '{"a"', "one"),
      piece(1, "{", "two"),
      piece(0, ":1}"),
      piece(1, "}"),
      chunk({}, "tool_calls"),
      "[DONE]"
    )
    const blocks = events(text).filter((event) => event.type.startsWith("content_block"))
    assert.deepEqual(
      blocks.map((event) => [
        event.type.slice(14),
        event.index,
        event.content_block?.name ?? event.delta?.partial_json
      ]),
      [
        ["start", 0, "one"],
        ["delta", 0, '{"a"'],
        ["delta", 0, ":1}"],
        ["stop", 0, undefined],
        ["start", 1, "two"],
        ["delta", 1, "{"],
        ["delta", 1, "}"],
        ["stop", 1, undefined]
      ]
    )
  })

  it("tells calls apart that share an index or have none, and invents ids for those without", () => {
    const { text } = toMessages(
      chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{}" } }] }),
      chunk({ tool_calls: [{ index: 0, id: "b", function: { name: "f", arguments: "{}" } }] }),
      chunk({ tool_calls: [{ function: { name: "g", arguments: { x: 1 } } }] }),
      chunk({}, "stop"),
      "[DONE]"
    )
    const calls = events(text).filter((event) => event.content_block?.type === "tool_use")
    assert.deepEqual(
      calls.map((event) => event.content_block.id),
      ["a", "b", "call_c1_2"]
    )
  })

  it("shows a refusal as text, and a content filter as a refusal", () => {
    const { text } = toMessages(chunk({ refusal: "No." }), chunk({}, "content_filter"), "[DONE]")
    assert.deepEqual(events(text)[2].delta, { type: "text_delta", text: "No." })
    assert.strictEqual(events(text).at(-2).delta.stop_reason, "refusal")
  })

  it("accepts a missing [DONE] or a missing finish reason, and no stream without both", () => {
    const whole = translateStream("messages", "chat", sse(chunk({ content: "a" }), chunk({}, "length")))
    assert.strictEqual(events(whole.text).at(-2).delta.stop_reason, "max_tokens")
    const marked = translateStream("messages", "chat", sse(chunk({ content: "a" }), "[DONE]"))
    assert.strictEqual(events(marked.text).at(-2).delta.stop_reason, "end_turn")
    assert.deepInclude(marked.facts.stop, { reason: "stop", isInferred: true })
    for (const cutShort of [sse(chunk({ content: "a" })), sse("[DONE]")]) {
      const { facts, text } = translateStream("messages", "chat", cutShort)
      assert.notInclude(text, "message_stop")
      assert.strictEqual(facts.problem?.code, "incomplete_stream")
      assert.isFalse(facts.terminated)
    }
  })

  it("stops at an error inside the stream", () => {
    const { facts, text } = toMessages(
      chunk({ content: "a" }),
      { error: { message: "slow down", type: "rate_limit_error", code: null } },
      chunk({}, "stop"),
      "[DONE]"
    )
    assert.notInclude(text, "message_stop")
    assert.deepInclude(facts.problem, { status: 429, message: "slow down", type: "rate_limit_error", code: null })
  })

  it("reads the dialects of Mistral and Groq", () => {
    const { facts, text } = toMessages(
      chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] }),
      chunk({ content: [{ type: "text", text: "4" }] }),
      chunk({}, "stop", { x_groq: { usage: { prompt_tokens: 1, completion_tokens: 2 } } }),
      "[DONE]"
    )
    assert.deepEqual(
      events(text)
        .filter((event) => event.delta?.type?.endsWith("_delta"))
        .map((event) => event.delta),
      [
        { type: "thinking_delta", thinking: "hm" },
        { type: "text_delta", text: "4" }
      ]
    )
    assert.strictEqual(facts.usage?.out, 2)
  })
})

describe("messages stream → chat client", () => {
  const toChat = (parts: ReadonlyArray<Piece>, wantsUsage = true) =>
    translateStream("chat", "messages", sse(...parts), { wantsUsage })

  const answer = [
    message(),
    { type: "ping" },
    start(0, { type: "thinking", thinking: "", signature: "" }),
    delta(0, { type: "thinking_delta", thinking: "hm" }),
    delta(0, { type: "signature_delta", signature: "c2ln" }),
    stop(0),
    start(1, { type: "server_tool_use", id: "s", name: "web_search", input: {} }),
    delta(1, { type: "input_json_delta", partial_json: "{}" }),
    stop(1),
    start(2, { type: "text", text: "" }),
    delta(2, { type: "text_delta", text: "data: [DONE]\n\n" }),
    stop(2),
    start(3, { type: "tool_use", id: "t1", name: "look", input: {} }),
    delta(3, { type: "input_json_delta", partial_json: "" }),
    stop(3),
    ...end("tool_use", { input_tokens: 12 })
  ]

  it("writes role, deltas, finish, usage and [DONE], in this order", () => {
    const { facts, text } = toChat(answer)
    const chunks = events(text)
    assert.deepEqual(
      chunks.slice(0, -2).map((event) => [event.choices[0].delta, event.choices[0].finish_reason]),
      [
        [{ role: "assistant", content: "" }, null],
        [{ reasoning_content: "hm" }, null],
        [{ content: "data: [DONE]\n\n" }, null],
        [{ tool_calls: [{ index: 0, id: "t1", type: "function", function: { name: "look", arguments: "" } }] }, null],
        [{ tool_calls: [{ index: 0, function: { arguments: "{}" } }] }, null],
        [{}, "tool_calls"]
      ]
    )
    assert.deepEqual(chunks.at(-2), {
      id: "msg_1",
      object: "chat.completion.chunk",
      created: 1_700_000_000,
      model: "claude",
      choices: [],
      usage: {
        prompt_tokens: 18,
        completion_tokens: 9,
        total_tokens: 27,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 0 }
      }
    })
    assert.strictEqual(chunks.at(-1), "[DONE]")
    assert.strictEqual(facts.toolArgChars, 0)
    assert.isTrue(facts.content)
  })

  it("shows usage only to those who asked", () => {
    const { facts, text } = toChat(answer, false)
    assert.notInclude(text, "usage")
    assert.strictEqual(facts.usage?.in, 18)
  })

  it("passes over the repeated start of a proxy, and fails when another answer is spliced in", () => {
    const body = [start(0, { type: "text", text: "" }), delta(0, { type: "text_delta", text: "x" })]
    const repeated = toChat([message(), message(), ...body, stop(0), ...end("end_turn")])
    assert.strictEqual(events(repeated.text).at(-1), "[DONE]")
    const spliced = toChat([message(), ...body, message(), ...body, stop(0), ...end("end_turn")])
    assert.notInclude(spliced.text, "[DONE]")
    assert.strictEqual(spliced.facts.problem?.status, 502)
  })

  it("gives whole input that came with the block's start", () => {
    const { text } = toChat([
      message(),
      start(0, { type: "tool_use", id: "t", name: "f", input: { a: 1 } }),
      stop(0),
      ...end("tool_use")
    ])
    assert.strictEqual(events(text)[2].choices[0].delta.tool_calls[0].function.arguments, '{"a":1}')
  })

  it("stops at an error event, and at a missing stop reason", () => {
    const failed = toChat([message(), { type: "error", error: { type: "overloaded_error", message: "busy" } }])
    assert.deepInclude(failed.facts.problem, { status: 529, message: "busy", type: "overloaded_error", code: null })
    const cutShort = toChat([message(), { type: "message_stop" }])
    assert.notInclude(cutShort.text, "[DONE]")
    assert.strictEqual(cutShort.facts.problem?.code, "incomplete_stream")
  })

  it("reads events without event lines", () => {
    const bare = sse(...answer).replaceAll(/^event:.*\n/gm, "")
    assert.strictEqual(translateStream("chat", "messages", bare).text, toChat(answer).text)
  })
})
