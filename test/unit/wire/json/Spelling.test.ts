import { assert, describe, it } from "@effect/vitest"
import { codecs } from "../../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { read } from "../../../../src/wire/json/Members.ts"
import { makeSpelling } from "../../../../src/wire/json/Spelling.ts"

describe("makeSpelling", () => {
  const misspelt = makeSpelling({
    ...read("model"),
    list: {
      each: { of: { role: true, free: true, part: { each: { byType: { a: read("type", "x"), b: read("y") } } } } }
    }
  })

  it.each<[string, JsonObject, string | null]>([
    ["a known member", { model: "m" }, null],
    ["an unknown member", { other: 1, MODEL2: 1 }, null],
    ["another case", { Model: "m" }, "Model"],
    ["another case beside the right one", { model: "m", MODEL: "n" }, "MODEL"],
    ["inside a list", { list: [{ role: 1 }, { Role: 2 }] }, "list.1.Role"],
    ["inside an object where a list is usual", { list: { ROLE: 1 } }, "list.ROLE"],
    ["inside a value that is read whole", { list: [{ free: { Model: 1, Role: 2 } }] }, null],
    ["of any kind of object at the place", { list: [{ part: [{ type: "a", Y: 1 }] }] }, "list.0.part.0.Y"],
    ["by a letter that folds to s", { liſt: [] }, "li\u017ft"],
    ["members of the prototype", { constructor: 1, toString: 2, hasOwnProperty: 3 }, null]
  ])("%s", (_, body, path) => assert.strictEqual(misspelt(body)?.path ?? null, path))

  it("takes each spelling of a member, but not both", () => {
    const check = makeSpelling({ generationConfig: { of: read("topK", "_own") } }, { takesSnakeCase: true })
    const pathOf = (body: JsonObject): string | null => check(body)?.path ?? null
    assert.isNull(pathOf({ generationConfig: { topK: 1 } }))
    assert.isNull(pathOf({ generation_config: { top_k: 1, _own: 2 } }))
    assert.strictEqual(pathOf({ generationConfig: {}, generation_config: {} }), "generation_config")
    assert.strictEqual(pathOf({ generation_config: {}, generationConfig: {} }), "generation_config")
    assert.strictEqual(pathOf({ generation_config: { top_k: 1, topK: 2 } }), "generation_config.top_k")
    assert.strictEqual(pathOf({ Generation_Config: {} }), "Generation_Config")
    assert.strictEqual(pathOf({ generationconfig: {} }), "generationconfig")
  })
})

describe("the wires' requests", () => {
  const cases: ReadonlyArray<readonly [keyof typeof codecs, JsonObject, string | null]> = [
    ["chat", { Max_Tokens: 1 }, "Max_Tokens"],
    ["chat", { messages: [{ role: "user", Content: "x" }] }, "messages.0.Content"],
    ["chat", { tools: [{ type: "function", Function: {} }] }, "tools.0.Function"],
    ["chat", { tools: [{ type: "function", function: { name: "f", parameters: { Type: "object", Name: 1 } } }] }, null],
    ["chat", { messages: [{ content: [{ type: "text", Text: "x" }] }] }, "messages.0.content.0.Text"],
    ["chat", { messages: [{ role: "assistant", function_call: { Name: "f" } }] }, "messages.0.function_call.Name"],
    ["chat", { tool_choice: { type: "function", Function: { name: "f" } } }, "tool_choice.Function"],
    ["chat", { reasoning: { Max_Tokens: 1 } }, "reasoning.Max_Tokens"],
    ["chat", { thinking: { Budget_Tokens: 1 } }, "thinking.Budget_Tokens"],
    ["chat", { Models: ["a"] }, "Models"],
    ["chat", { functions: [{ name: "f", parameters: { Name: 1 } }] }, null],
    ["messages", { mcp_servers: [{ URL: "x" }] }, "mcp_servers.0.URL"],
    ["responses", { tool_choice: { type: "function", Name: "f" } }, "tool_choice.Name"],
    ["responses", { prompt: { Id: "p" } }, "prompt.Id"],
    ["gemini", { safetySettings: [{ Category: "x" }] }, "safetySettings.0.Category"],
    ["messages", { MAX_TOKENS: 1 }, "MAX_TOKENS"],
    ["messages", { system: [{ type: "text", Text: "x" }] }, "system.0.Text"],
    ["messages", { messages: [{ content: [{ type: "tool_use", input: { Content: 1, Messages: [] } }] }] }, null],
    ["messages", { messages: [{ content: [{ type: "tool_result", Content: "x" }] }] }, "messages.0.content.0.Content"],
    ["responses", { Input: "x" }, "Input"],
    ["responses", { input: [{ type: "message", Role: "user" }] }, "input.0.Role"],
    ["responses", { metadata: { Model: "x" } }, null],
    ["gemini", { Contents: [] }, "Contents"],
    ["gemini", { system_instruction: {}, systemInstruction: {} }, "system_instruction"],
    ["gemini", { contents: [{ parts: [{ functionCall: { name: "f", args: { Name: 1, Parts: 2 } } }] }] }, null],
    [
      "gemini",
      { generationConfig: { maxOutputTokens: 1, max_output_tokens: 2 } },
      "generationConfig.max_output_tokens"
    ],
    ["ollama", { Messages: [] }, "Messages"],
    ["ollama", { options: { Num_Predict: 1 } }, "options.Num_Predict"]
  ]
  it.each(cases)("%s: %j", (wire, body, path) => assert.strictEqual(codecs[wire].misspelt(body)?.path ?? null, path))
})
