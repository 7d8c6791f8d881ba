import { assert, describe, it } from "@effect/vitest"
import { dialectOf } from "../../../src/plane/providers/registry/dialects.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { messagesBody, translate } from "./support.ts"

const toChat = (more: JsonObject, limits: { reasoning?: boolean; model?: string; stream?: boolean } = {}) =>
  translate("messages", "chat", messagesBody(more), limits)

const tool = { name: "look", input_schema: { type: "object", properties: {} }, cache_control: { type: "ephemeral" } }

describe("messages request → chat request", () => {
  it("turns system blocks into one message and leaves the billing line to its own wire", () => {
    const { body, dropped } = toChat({
      system: [
        { type: "text", text: "x-anthropic-billing-header: cc_version=1;" },
        { type: "text", text: "One", cache_control: { type: "ephemeral" } },
        { type: "text", text: "Two" }
      ]
    })
    assert.deepEqual(body, {
      model: "up",
      max_tokens: 100,
      messages: [
        { role: "system", content: "One\n\nTwo" },
        { role: "user", content: "Hi" }
      ]
    })
    assert.deepEqual(dropped, ["messages.content.x-anthropic-billing-header", "cache_control"])
  })

  it("takes instructions between turns", () => {
    const { body } = toChat({
      messages: [
        { role: "user", content: "a" },
        { role: "system", content: "be kind" }
      ]
    })
    assert.deepEqual(body["messages"], [
      { role: "user", content: "a" },
      { role: "system", content: "be kind" }
    ])
  })

  it("makes one tool message per result, right after the calls, and text after them", () => {
    const { body, dropped, mapped } = toChat({
      tools: [tool],
      messages: [
        { role: "user", content: "Both?" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "c2ln" },
            { type: "text", text: "Looking." },
            { type: "tool_use", id: "t1", name: "look", input: { q: 1 } },
            { type: "tool_use", id: "t2", name: "look", input: {} }
          ]
        },
        {
          role: "user",
          content: [
            { tool_use_id: "t1", type: "tool_result", content: "sun", is_error: true },
            {
              type: "tool_result",
              tool_use_id: "t2",
              content: [
                { type: "text", text: "see" },
                { type: "image", source: { type: "base64", media_type: "image/png", data: "AA" } }
              ]
            },
            { type: "text", text: "and?" }
          ]
        }
      ]
    })
    assert.deepEqual(body["messages"], [
      { role: "user", content: "Both?" },
      {
        role: "assistant",
        content: "Looking.",
        tool_calls: [
          { id: "t1", type: "function", function: { name: "look", arguments: '{"q":1}' } },
          { id: "t2", type: "function", function: { name: "look", arguments: "{}" } }
        ]
      },
      { role: "tool", tool_call_id: "t1", content: "sun" },
      { role: "tool", tool_call_id: "t2", content: "see" },
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA" } }] },
      { role: "user", content: "and?" }
    ])
    assert.sameMembers(
      [...dropped],
      ["messages.content.thinking", "messages.content.tool_result.is_error", "tools.cache_control"]
    )
    assert.deepEqual(mapped, ["messages.content.tool_result.image"])
  })

  it("gives unsigned thinking back to a chat upstream that documents a place for it, and names it elsewhere", () => {
    const thought = messagesBody({
      messages: [
        { role: "user", content: "a" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "" },
            { type: "text", text: "b" }
          ]
        },
        { role: "user", content: "c" }
      ]
    })
    const told = (provider: string, model: string) => {
      const { body, dropped } = translate("messages", "chat", thought, { model, dialect: dialectOf(provider) })
      return { message: (body["messages"] as ReadonlyArray<unknown>)[1], dropped }
    }
    const bare = { message: { role: "assistant", content: "b" }, dropped: ["messages.content.thinking"] }
    const with_ = (member: string) => ({ message: { role: "assistant", content: "b", [member]: "hm" }, dropped: [] })
    assert.deepEqual(told("zai-paas", "glm-4.7"), with_("reasoning_content"))
    assert.deepEqual(told("openrouter", "z-ai/glm-4.7"), with_("reasoning"))
    assert.deepEqual(told("groq", "openai/gpt-oss-120b"), bare)
    assert.deepEqual(told("mistral", "magistral-medium-latest"), bare)
    // The server is unknown: the model's maker decides.
    assert.deepEqual(told("together", "moonshotai/Kimi-K2.5"), with_("reasoning_content"))
    assert.deepEqual(told("together", "openai/gpt-oss-120b"), bare)
    // A server that refuses it does so for every model.
    assert.deepEqual(told("groq", "moonshotai/kimi-k2-instruct"), bare)
  })

  it("maps choice, serial calls and structured output", () => {
    const schema = { type: "object", properties: {} }
    const { body } = toChat({
      tools: [tool, { type: "web_search_20250305", name: "web_search" }],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
      output_config: { format: { type: "json_schema", schema } },
      stop_sequences: ["a", "b"]
    })
    assert.deepEqual(body["tools"], [{ type: "function", function: { name: "look", parameters: tool.input_schema } }])
    assert.strictEqual(body["tool_choice"], "required")
    assert.strictEqual(body["parallel_tool_calls"], false)
    assert.deepEqual(body["response_format"], { type: "json_schema", json_schema: { name: "answer", schema } })
    assert.deepEqual(body["stop"], ["a", "b"])
  })

  it("says a thinking budget as effort, and asks nothing for mere permission to think", () => {
    const budget = toChat({ thinking: { type: "enabled", budget_tokens: 31_999 } })
    assert.strictEqual(budget.body["reasoning_effort"], "high")
    const adaptive = toChat({ thinking: { type: "adaptive" }, output_config: { effort: "low" } })
    assert.notProperty(adaptive.body, "reasoning_effort")
    assert.deepEqual(adaptive.dropped, ["thinking"])
    const able = toChat({ thinking: { type: "adaptive" }, output_config: { effort: "low" } }, { reasoning: true })
    assert.strictEqual(able.body["reasoning_effort"], "low")
    assert.deepEqual(toChat({ thinking: { type: "disabled" } }).dropped, [])
  })

  it("names what has no counterpart, and an end-user id that is too long", () => {
    const { dropped } = toChat({
      top_k: 3,
      metadata: { user_id: "x".repeat(200) },
      context_management: {},
      stop_sequences: ["1", "2", "3", "4", "5"]
    })
    assert.sameMembers([...dropped], ["top_k", "metadata.user_id", "context_management", "stop_sequences"])
    assert.strictEqual(toChat({ metadata: { user_id: "u" } }).body["user"], "u")
  })

  it("always asks a stream for its usage", () => {
    assert.deepEqual(toChat({}, { stream: true }).body["stream_options"], { include_usage: true })
  })

  it("writes the limit as reasoning families want it, without sampling", () => {
    const { body, dropped } = toChat({ temperature: 1 }, { model: "openai/o3-mini" })
    assert.strictEqual(body["max_completion_tokens"], 100)
    assert.deepEqual(dropped, ["temperature"])
  })
})
