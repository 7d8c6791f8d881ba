import { assert, describe, it } from "@effect/vitest"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { withoutThinking } from "../../../src/wire/NoThinking.ts"

const cases: ReadonlyArray<
  readonly [name: string, wire: WireName, model: string, given: JsonObject, expected: JsonObject]
> = [
  [
    "disables thinking of messages",
    "messages",
    "claude-sonnet-4-5",
    { thinking: { type: "enabled", budget_tokens: 4096 }, temperature: 1 },
    { thinking: { type: "disabled" }, temperature: 1 }
  ],
  [
    "says it to messages that asked for nothing",
    "messages",
    "m",
    { max_tokens: 1 },
    { max_tokens: 1, thinking: { type: "disabled" } }
  ],
  [
    "takes out the edits that need thinking",
    "messages",
    "m",
    { context_management: { edits: [{ type: "clear_thinking_20251015" }, { type: "clear_tool_uses_20250919" }] } },
    { thinking: { type: "disabled" }, context_management: { edits: [{ type: "clear_tool_uses_20250919" }] } }
  ],
  [
    "takes out context management when nothing of it is left",
    "messages",
    "m",
    { context_management: { edits: [{ type: "clear_thinking_20251015" }] } },
    { thinking: { type: "disabled" } }
  ],
  [
    "drops what a chat request says of reasoning",
    "chat",
    "m",
    { model: "m", reasoning_effort: "high", reasoning: { effort: "low" }, thinking: { type: "enabled" } },
    { model: "m" }
  ],
  ["drops the reasoning of responses", "responses", "m", { reasoning: { effort: "high" }, input: "x" }, { input: "x" }],
  [
    "sets the budget of a Gemini model that takes none",
    "gemini",
    "gemini-2.5-flash",
    { generationConfig: { temperature: 0, thinkingConfig: { thinkingBudget: 99, includeThoughts: true } } },
    { generationConfig: { temperature: 0, thinkingConfig: { thinkingBudget: 0 } } }
  ],
  [
    "asks a Gemini model that must think for the least",
    "gemini",
    "gemini-2.5-pro",
    {},
    { generationConfig: { thinkingConfig: { thinkingBudget: 128 } } }
  ],
  [
    "speaks the word of models that take one, in the client's spelling",
    "gemini",
    "gemini-3-pro",
    { generation_config: { thinking_config: { thinking_budget: 5 } } },
    { generation_config: { thinkingConfig: { thinkingLevel: "LOW" } } }
  ],
  [
    "asks nothing of a Gemini upstream whose model is not known",
    "gemini",
    "m",
    { generationConfig: { thinkingConfig: { thinkingBudget: 5 } } },
    {}
  ],
  ["tells Ollama not to think", "ollama", "m", { think: "high" }, { think: false }]
]

describe("NoThinking", () => {
  it.each(cases)("%s", (_, wire, model, given, expected) => {
    const before = structuredClone(given)
    const once = withoutThinking(wire, given, model)
    assert.deepStrictEqual(once, expected)
    assert.deepStrictEqual(withoutThinking(wire, once, model), expected)
    assert.deepStrictEqual(given, before)
  })
})
