import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { leastCachedTokens, withCacheMarks } from "../../../src/wire/CacheMarks.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"

const cache_control = { type: "ephemeral" }
const text = (words: string, isMarked = false) => ({
  type: "text",
  text: words,
  ...(isMarked ? { cache_control } : {})
})

describe("marks for the prompt cache", () => {
  it("stand behind tools and system, and behind the last two turns of the user once the conversation goes on", () => {
    const tools = [{ name: "a" }, { name: "b" }, { name: "later", defer_loading: true }]
    const messages = [
      { role: "user", content: "one" },
      { role: "assistant", content: "two" },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "three" }, text(" ")] },
      { role: "assistant", content: [text("four")] },
      { role: "user", content: [text("five"), { type: "image", source: {} }] }
    ]
    const body: JsonObject = { system: "Be exact.", tools, messages }
    assert.deepStrictEqual(withCacheMarks("messages", body), {
      system: [text("Be exact.", true)],
      tools: [{ name: "a" }, { name: "b", cache_control }, { name: "later", defer_loading: true }],
      messages: [
        { role: "user", content: "one" },
        { role: "assistant", content: "two" },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "t", content: "three", cache_control }, text(" ")]
        },
        { role: "assistant", content: [text("four")] },
        { role: "user", content: [text("five"), { type: "image", source: {}, cache_control }] }
      ]
    })
    const first = { system: [text("a"), text("b")], messages: messages.slice(0, 1) }
    assert.deepStrictEqual(withCacheMarks("messages", first), {
      system: [text("a"), text("b", true)],
      messages: messages.slice(0, 1)
    })
  })

  it("stand on texts alone on the chat wire", () => {
    const image = { type: "image_url", image_url: { url: "data:," } }
    const tool = { role: "tool", tool_call_id: "t", content: "result" }
    const body: JsonObject = {
      messages: [
        { role: "system", content: "a" },
        { role: "system", content: "b" },
        { role: "user", content: "c" },
        { role: "assistant", content: "d" },
        { role: "user", content: [text("e"), image] },
        tool
      ]
    }
    assert.deepStrictEqual(withCacheMarks("chat", body), {
      messages: [
        { role: "system", content: "a" },
        { role: "system", content: [text("b", true)] },
        { role: "user", content: [text("c", true)] },
        { role: "assistant", content: "d" },
        { role: "user", content: [text("e", true), image] },
        tool
      ]
    })
  })

  const turn = fc.record({
    role: fc.constantFrom("user", "assistant", "system"),
    content: fc.oneof(
      fc.string(),
      fc.array(
        fc.oneof(
          fc.record({ type: fc.constant("text"), text: fc.string() }),
          fc.record({ type: fc.constant("thinking") })
        )
      )
    )
  })
  const anyBody = fc.record({
    system: fc.oneof(fc.string(), fc.array(fc.record({ type: fc.constant("text"), text: fc.string() }))),
    tools: fc.array(fc.record({ name: fc.string() })),
    messages: fc.array(turn)
  })

  it("are four at most, and change nothing but themselves", () => {
    const without = (_key: string, value: unknown): unknown => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return value
      const { cache_control: _, content, system, ...others } = value as Record<string, unknown>
      const listed = (each: unknown) => (typeof each === "string" ? [{ type: "text", text: each }] : each)
      return { ...others, content: listed(content), system: listed(system) }
    }
    fc.assert(
      fc.property(anyBody, fc.constantFrom("messages" as const, "chat" as const), (body, wire) => {
        const marked = withCacheMarks(wire, body)
        const count = JSON.stringify(marked).split('"cache_control"').length - 1
        assert.isAtMost(count, 4)
        assert.strictEqual(JSON.stringify(marked, without), JSON.stringify(body, without))
      })
    )
  })

  it("are of use from a number of tokens on that the model has", () => {
    const least = {
      "claude-fable-5": 512,
      "claude-fable-5-1": 512,
      "claude-mythos-5": 512,
      "claude-mythos-preview": 2048,
      "claude-opus-5": 512,
      "claude-opus-5-5": 512,
      "claude-opus-4-8": 1024,
      "claude-opus-4-7": 2048,
      "claude-opus-4-6": 4096,
      "claude-opus-4-5-20251101": 4096,
      "claude-opus-4-1": 1024,
      "claude-opus-4-20250514": 1024,
      "claude-sonnet-5-5": 512,
      "claude-sonnet-5": 1024,
      "anthropic/claude-sonnet-4.6": 1024,
      "claude-sonnet-4-5": 1024,
      "claude-haiku-5-5": 512,
      "claude-haiku-4-5": 4096,
      "claude-3-5-haiku-20241022": 2048,
      "claude-3-haiku": 2048
    }
    for (const [model, tokens] of Object.entries(least)) assert.strictEqual(leastCachedTokens(model), tokens, model)
    assert.strictEqual(leastCachedTokens("something"), 1024)
  })
})
