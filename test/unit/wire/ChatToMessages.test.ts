import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { codecs, translateRequest } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { chatBody, messagesBody, options, translate } from "./support.ts"

const toMessages = (more: JsonObject, limits: { maxOutputTokens?: number; reasoning?: boolean; model?: string } = {}) =>
  translate("chat", "messages", chatBody(more), limits)

const tool = {
  type: "function",
  function: { name: "look", description: "Looks", parameters: { type: "object", properties: { q: {} } } }
}
const call = (id: string, name = "look", args = "{}") => ({ id, type: "function", function: { name, arguments: args } })

describe("chat request → messages request", () => {
  it("gathers the system and developer messages in front, and keeps later ones at their place", () => {
    const { body, dropped } = toMessages({
      messages: [
        { role: "system", content: "One" },
        { role: "developer", content: [{ type: "text", text: "Two" }] },
        { role: "user", content: "Hi" },
        { role: "developer", content: "Three" },
        { role: "assistant", content: "Yes " }
      ]
    })
    assert.deepEqual(body, {
      model: "up",
      max_tokens: 8192,
      system: [
        { type: "text", text: "One" },
        { type: "text", text: "Two" }
      ],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Hi" },
            { type: "text", text: "<system-reminder>\nThree\n</system-reminder>" }
          ]
        },
        { role: "assistant", content: "Yes" }
      ]
    })
    assert.deepEqual(dropped, [])
  })

  it("lets a conversation of instructions alone speak as the user", () => {
    assert.deepEqual(toMessages({ messages: [{ role: "system", content: "Only" }] }).body["messages"], [
      { role: "user", content: "Only" }
    ])
  })

  it("answers parallel calls in one user message, results first, with ids of the wire's alphabet", () => {
    const { body } = toMessages({
      tools: [tool],
      messages: [
        { role: "user", content: "Both?" },
        { role: "assistant", content: null, tool_calls: [call("a:1", "look", '{"q":1}'), call("a|1", "look", "")] },
        { role: "tool", tool_call_id: "a|1", content: "" },
        { role: "tool", tool_call_id: "a:1", content: [{ type: "text", text: "sun" }] },
        { role: "user", content: "Compare" }
      ]
    })
    assert.deepEqual(body["messages"], [
      { role: "user", content: "Both?" },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "a_1_dbbd3e69", name: "look", input: { q: 1 } },
          { type: "tool_use", id: "a_1_584cc7d3", name: "look", input: {} }
        ]
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a_1_584cc7d3" },
          { type: "tool_result", tool_use_id: "a_1_dbbd3e69", content: "sun" },
          { type: "text", text: "Compare" }
        ]
      }
    ])
  })

  it("maps tools, forced choice and serial calls; a tool without parameters takes an empty object", () => {
    const { body } = toMessages({
      tools: [tool, { type: "function", function: { name: "list" } }],
      tool_choice: { type: "function", function: { name: "list" } },
      parallel_tool_calls: false
    })
    assert.deepEqual(body["tools"], [
      { name: "look", description: "Looks", input_schema: { type: "object", properties: { q: {} } } },
      { name: "list", input_schema: { type: "object", properties: {} } }
    ])
    assert.deepEqual(body["tool_choice"], { type: "tool", name: "list", disable_parallel_tool_use: true })
  })

  it("offers only the allowed tools", () => {
    const { body, mapped } = toMessages({
      tools: [tool, { type: "function", function: { name: "list" } }],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "list" } }] }
      }
    })
    assert.deepEqual(body["tool_choice"], { type: "any" })
    assert.lengthOf(body["tools"] as ReadonlyArray<unknown>, 1)
    assert.deepEqual(mapped, ["tool_choice"])
  })

  it("leaves out a choice without tools, and tools that have no counterpart", () => {
    const { body, dropped } = toMessages({
      tools: [{ type: "web_search" }],
      tool_choice: "auto",
      parallel_tool_calls: true
    })
    assert.notProperty(body, "tools")
    assert.notProperty(body, "tool_choice")
    assert.deepEqual(dropped, ["tools.web_search", "tool_choice", "parallel_tool_calls"])
  })

  it("carries pictures, PDFs and texts", () => {
    const { body, dropped } = toMessages({
      messages: [
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "high" } },
            { type: "image_url", image_url: { url: "https://x.test/a.png" } },
            { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,BBBB" } },
            { type: "file", file: { filename: "a.txt", file_data: "data:text/plain;base64,aGk=" } },
            { type: "text", text: "" }
          ]
        }
      ]
    })
    assert.deepEqual(body["messages"], [
      {
        role: "user",
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
          { type: "image", source: { type: "url", url: "https://x.test/a.png" } },
          { type: "document", source: { type: "base64", media_type: "application/pdf", data: "BBBB" }, title: "a.pdf" },
          { type: "document", source: { type: "text", media_type: "text/plain", data: "hi" }, title: "a.txt" }
        ]
      }
    ])
    assert.deepEqual(dropped, ["messages.content.image_url.detail"])
  })

  it("clamps the temperature, and says so", () => {
    const { body, dropped, mapped } = toMessages({
      temperature: 1.7,
      top_p: 0.5,
      stop: ["END", "\n"],
      user: "u1",
      top_k: 5
    })
    assert.strictEqual(body["temperature"], 1)
    assert.strictEqual(body["top_p"], 0.5)
    assert.strictEqual(body["top_k"], 5)
    assert.deepEqual(body["stop_sequences"], ["END"])
    assert.deepEqual(body["metadata"], { user_id: "u1" })
    assert.deepEqual(mapped, ["temperature"])
    assert.deepEqual(dropped, ["stop"])
  })

  it("names everything that has no counterpart", () => {
    const { dropped } = toMessages({
      seed: 1,
      presence_penalty: 1,
      logit_bias: {},
      store: true,
      response_format: { type: "json_object" },
      metadata: { a: "b" },
      "made-up": null
    })
    assert.sameMembers(
      [...dropped],
      ["seed", "presence_penalty", "logit_bias", "store", "response_format", "metadata", "made-up"]
    )
  })

  it("asks for a schema in the wire's own words", () => {
    const schema = { type: "object", properties: {}, additionalProperties: false }
    const { body } = toMessages({
      response_format: { type: "json_schema", json_schema: { name: "n", strict: true, schema } }
    })
    assert.deepEqual(body["output_config"], { format: { type: "json_schema", schema } })
  })

  it("drops unsigned reasoning from the history", () => {
    const { body, dropped } = toMessages({
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: "b", reasoning_content: "hm" },
        { role: "user", content: "c" }
      ]
    })
    assert.deepEqual((body["messages"] as ReadonlyArray<unknown>)[1], { role: "assistant", content: "b" })
    assert.deepEqual(dropped, ["messages.reasoning_content"])
  })

  it("gives max_tokens: the client's, the model's, or 8192", () => {
    assert.strictEqual(toMessages({ max_completion_tokens: 5 }).body["max_tokens"], 5)
    assert.strictEqual(toMessages({}, { maxOutputTokens: 64_000 }).body["max_tokens"], 64_000)
    const clamped = toMessages({ max_tokens: 9000 }, { maxOutputTokens: 4096 })
    assert.strictEqual(clamped.body["max_tokens"], 4096)
    assert.deepEqual(clamped.mapped, ["max_tokens"])
  })

  it("refuses several answers, naming n", () => {
    const result = translateRequest(codecs.chat, codecs.messages, chatBody({ n: 2 }), options)
    assert.strictEqual(Either.getOrThrow(Either.flip(result)).param, "n")
  })
})

describe("reasoning effort → thinking", () => {
  it("becomes a budget below max_tokens, without sampling the wire refuses then", () => {
    const { body, dropped } = toMessages({ reasoning_effort: "medium", temperature: 0.2, top_p: 0.5 })
    assert.deepEqual(body["thinking"], { type: "enabled", budget_tokens: 8192 })
    assert.strictEqual(body["max_tokens"], 16_384)
    assert.deepEqual(dropped, ["top_p", "temperature"])
  })

  it("fits into the client's limit, or is dropped", () => {
    const fitted = toMessages({ reasoning_effort: "high", max_tokens: 4000 })
    assert.deepEqual(fitted.body["thinking"], { type: "enabled", budget_tokens: 3200 })
    assert.deepEqual(fitted.mapped, ["reasoning_effort"])
    const dropped = toMessages({ reasoning_effort: "low", max_tokens: 1024 })
    assert.notProperty(dropped.body, "thinking")
    assert.deepEqual(dropped.dropped, ["reasoning_effort"])
  })

  it("is an effort word for families that think adaptively", () => {
    const { body } = toMessages({ reasoning_effort: "high" }, { model: "claude-opus-4-6" })
    assert.deepEqual(body["thinking"], { type: "adaptive" })
    assert.deepEqual(body["output_config"], { effort: "high" })
    assert.deepEqual(toMessages({ reasoning_effort: "low" }, { model: "claude-sonnet-4-20250514" }).body["thinking"], {
      type: "enabled",
      budget_tokens: 1024
    })
  })

  it("gives way to a forced tool, a call without thinking, and a model that cannot reason", () => {
    const waiting = [
      { role: "user", content: "a" },
      { role: "assistant", content: null, tool_calls: [call("t1")] },
      { role: "tool", tool_call_id: "t1", content: "x" }
    ]
    const all = [
      toMessages({ reasoning_effort: "low", tools: [tool], tool_choice: "required" }),
      toMessages({ reasoning_effort: "low", tools: [tool], messages: waiting }),
      toMessages({ reasoning_effort: "low" }, { reasoning: false })
    ]
    for (const { body, dropped } of all) {
      assert.notProperty(body, "thinking")
      assert.deepEqual(dropped, ["reasoning_effort"])
    }
  })

  it("stays on over a round of calls that began with thinking", () => {
    const thinking = (text: string) => ({ type: "thinking", thinking: text, signature: "c2ln" })
    const use = (id: string) => ({ type: "tool_use", id, name: "f", input: {} })
    const result = (id: string) => ({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "x" }] })
    const round = (...first: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> => [
      { role: "user", content: "a" },
      { role: "assistant", content: [...first, use("t1")] },
      result("t1"),
      { role: "assistant", content: [use("t2")] },
      result("t2")
    ]
    const on = { type: "enabled", budget_tokens: 1024 }
    const conversation = (messages: ReadonlyArray<JsonObject>, more: object) => ({
      ...Either.getOrThrow(codecs.messages.decodeRequest(messagesBody({ messages, thinking: on, max_tokens: 4000 }))),
      ...more
    })
    const to = { ...options, model: "claude-sonnet-4-5" }
    const sent = (messages: ReadonlyArray<JsonObject>, more: object) =>
      codecs.messages.encodeRequest(conversation(messages, more), to).body["thinking"]
    const proofsTaken = { leftOut: ["signature"] }
    assert.deepEqual(sent(round(thinking("Hm.")), proofsTaken), on)
    assert.isUndefined(sent(round(), proofsTaken))
    // Its own client decides, as it does directly.
    assert.deepEqual(sent(round(), {}), on)
  })

  it("means nothing when it is none", () => {
    const { body, dropped } = toMessages({ reasoning_effort: "none" })
    assert.notProperty(body, "thinking")
    assert.deepEqual(dropped, [])
  })
})
