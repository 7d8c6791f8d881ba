/** Reasoning in the words of the servers that chat clients were written for: how it is asked for, and how earlier turns keep it. */
import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { checkEnvelope } from "../../../src/wire/chat/Envelope.ts"
import { withoutThinking } from "../../../src/wire/NoThinking.ts"
import * as Either from "effect/Either"
import { chatBody, translate } from "./support.ts"

const claude = (more: JsonObject) =>
  translate("chat", "messages", chatBody(more), {
    model: "claude-sonnet-4-5",
    maxOutputTokens: 32_000,
    reasoning: true
  })

const enabled = (budget: number): JsonObject => ({ type: "enabled", budget_tokens: budget })

describe("asking for reasoning", () => {
  const budgets: ReadonlyArray<JsonObject> = [
    { reasoning: { max_tokens: 4_000 } },
    { thinking: enabled(4_000) },
    { enable_thinking: true, thinking_budget: 4_000 },
    { extra_body: { google: { thinking_config: { thinking_budget: 4_000, include_thoughts: true } } } },
    { google: { thinking_config: { thinking_budget: 4_000 } } },
    { reasoning_effort: "low", thinking: enabled(4_000) }
  ]
  for (const words of budgets) {
    it(`with a budget: ${JSON.stringify(words)}`, () => {
      const { body, dropped } = claude(words)
      assert.deepInclude(body["thinking"], enabled(4_000))
      assert.deepStrictEqual(dropped, [])
    })
  }

  const offs: ReadonlyArray<JsonObject> = [
    { thinking: { type: "disabled" } },
    { thinking: { type: "disabled" }, reasoning_effort: "high" },
    { reasoning: { enabled: false } },
    { reasoning: { enabled: false, effort: "high" } },
    { reasoning: { effort: "none" } },
    { enable_thinking: false, reasoning_effort: "high" },
    { chat_template_kwargs: { enable_thinking: false } },
    { chat_template_kwargs: { thinking: false } },
    { thinking: false, include_reasoning: true },
    { extra_body: { google: { thinking_config: { thinking_budget: 0 } } } }
  ]
  for (const words of offs) {
    it(`off: ${JSON.stringify(words)}`, () => {
      const { body, dropped } = claude(words)
      assert.notDeepInclude(body, { thinking: enabled(4_000) })
      assert.isTrue(body["thinking"] === undefined || (body["thinking"] as JsonObject)["type"] === "disabled")
      assert.deepStrictEqual(dropped, [])
      const envelope = Either.getOrThrow(checkEnvelope(chatBody(words)))
      assert.isFalse(envelope.wantsReasoning)
    })
  }

  for (const words of [
    { reasoning: { effort: "high" } },
    { reasoning_effort: "high" },
    { extra_body: { google: { thinking_config: { thinking_level: "HIGH" } } } }
  ] satisfies ReadonlyArray<JsonObject>) {
    it(`by a level: ${JSON.stringify(words)}`, () => {
      const { body, dropped } = translate("chat", "responses", chatBody(words), { reasoning: true })
      assert.strictEqual((body["reasoning"] as JsonObject)["effort"], "high")
      assert.deepStrictEqual(dropped, [])
      assert.isTrue(Either.getOrThrow(checkEnvelope(chatBody(words))).wantsReasoning)
    })
  }

  it("goes on as it came on its own wire", () => {
    for (const words of [...budgets, ...offs]) {
      const { body } = translate("chat", "chat", chatBody(words))
      for (const [name, value] of Object.entries(words)) assert.deepStrictEqual(body[name], value, name)
      assert.strictEqual(body["reasoning_effort"], words["reasoning_effort"])
    }
  })

  it("is named by the member that says it", () => {
    assert.deepStrictEqual(claude({ thinking: enabled(4_000), reasoning_effort: "low" }).mapped, [])
    assert.deepStrictEqual(claude({ enable_thinking: true }).mapped, ["enable_thinking"])
    assert.deepStrictEqual(claude({ reasoning: { effort: "high" } }).mapped, ["reasoning"])
    assert.deepStrictEqual(claude({ reasoning_effort: "high" }).mapped, ["reasoning_effort"])
    const { dropped } = translate("chat", "messages", chatBody({ thinking: enabled(4_000) }), {
      model: "claude-3-haiku",
      maxOutputTokens: 9_000,
      reasoning: false
    })
    assert.deepStrictEqual(dropped, ["thinking"])
  })

  it("names what else stands in those members", () => {
    assert.deepStrictEqual(claude({ chat_template_kwargs: { enable_thinking: true, style: 1 } }).dropped, [
      "chat_template_kwargs"
    ])
    assert.deepStrictEqual(claude({ extra_body: { other: 1 } }).dropped, ["extra_body"])
    assert.deepStrictEqual(claude({ thinking: "yes" }).dropped, ["thinking"])
  })

  it("is taken out of all these members by the no-thinking alias", () => {
    for (const words of budgets)
      assert.deepStrictEqual(withoutThinking("chat", chatBody(words), "m"), chatBody(), JSON.stringify(words))
    const kept = chatBody({ chat_template_kwargs: { style: 1 } })
    assert.deepStrictEqual(
      withoutThinking("chat", chatBody({ chat_template_kwargs: { style: 1, thinking: true } }), "m"),
      kept
    )
  })
})

const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } }

const history = (assistant: JsonObject): JsonObject =>
  chatBody({
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Looking", tool_calls: [call], ...assistant },
      { role: "tool", tool_call_id: "c1", content: "Found" }
    ],
    tools: [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }]
  })

describe("earlier reasoning with its proofs", () => {
  const thoughts = [
    { type: "thinking", thinking: "Hm", signature: "c2ln" },
    { type: "redacted_thinking", data: "ZGF0YQ==" }
  ]
  const written: ReadonlyArray<readonly [string, JsonObject]> = [
    ["thinking_blocks", { reasoning_content: "Hm", thinking_blocks: thoughts }],
    [
      "reasoning_details",
      {
        reasoning: "Hm",
        reasoning_details: [
          { type: "reasoning.text", text: "Hm", signature: "c2ln", format: "anthropic-claude-v1", index: 0 },
          { type: "reasoning.encrypted", data: "ZGF0YQ==", format: "anthropic-claude-v1", index: 1 }
        ]
      }
    ]
  ]
  for (const [name, words] of written) {
    it(`of Claude go back to it from ${name}`, () => {
      const { body, dropped } = translate("chat", "messages", history(words), { maxOutputTokens: 100 })
      const turns = body["messages"] as ReadonlyArray<{ content: ReadonlyArray<JsonObject> }>
      assert.deepStrictEqual(turns[1]?.content.slice(0, 3), [...thoughts, { type: "text", text: "Looking" }])
      assert.deepStrictEqual(dropped, [])
    })

    it(`are named where they do not belong, from ${name}`, () => {
      const { body, dropped } = translate("chat", "gemini", history(words))
      assert.notInclude(JSON.stringify(body), "c2ln")
      assert.lengthOf(dropped, 1)
    })

    it(`go on as they came on their own wire, ${name}`, () => {
      const { body } = translate("chat", "chat", history(words))
      const turns = body["messages"] as ReadonlyArray<JsonObject>
      assert.deepStrictEqual(turns[1]?.[name], words[name])
    })
  }

  it("of Gemini go back to it, from a call, a message and OpenRouter's details", () => {
    const google = { extra_content: { google: { thought_signature: "c2ln" } } }
    const parts = (assistant: JsonObject): ReadonlyArray<JsonObject> => {
      const { body, dropped } = translate("chat", "gemini", history(assistant))
      assert.deepStrictEqual(dropped, [])
      return (body["contents"] as ReadonlyArray<{ parts: ReadonlyArray<JsonObject> }>)[1]?.parts ?? []
    }
    assert.strictEqual(parts({ tool_calls: [{ ...call, ...google }] })[1]?.["thoughtSignature"], "c2ln")
    const detail = { type: "reasoning.encrypted", data: "c2ln", format: "google-gemini-v1", id: "c1", index: 0 }
    assert.strictEqual(parts({ reasoning_details: [detail] })[1]?.["thoughtSignature"], "c2ln")
    assert.strictEqual(parts(google)[0]?.["thoughtSignature"], "c2ln")
  })

  it("of the responses wire go back to it as one item", () => {
    const format = "openai-responses-v1"
    const { body, dropped } = translate(
      "chat",
      "responses",
      history({
        reasoning_details: [
          { type: "reasoning.summary", summary: "Hm", format, id: "rs_1", index: 0 },
          { type: "reasoning.encrypted", data: "ZGF0YQ==", format, id: "rs_1", index: 0 }
        ]
      })
    )
    assert.deepStrictEqual(dropped, [])
    const item = (body["input"] as ReadonlyArray<JsonObject>).find(({ type }) => type === "reasoning")
    assert.deepInclude(item, { encrypted_content: "ZGF0YQ==", summary: [{ type: "summary_text", text: "Hm" }] })
  })

  it("are named where they cannot be read", () => {
    assert.deepStrictEqual(translate("chat", "messages", history({ reasoning_details: [{ type: "odd" }] })).dropped, [
      "messages.reasoning_details"
    ])
    assert.deepStrictEqual(
      translate("chat", "messages", history({ thinking_blocks: [{ type: "thinking", thinking: "x" }] })).dropped,
      ["messages.thinking_blocks"]
    )
  })
})
