import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { chatBody, messagesBody } from "../support.ts"
import { model, translate, user } from "./support.ts"

const fromChat = (more: JsonObject, options: { model?: string; reasoning?: boolean } = {}) =>
  translate("chat", "gemini", chatBody(more), options)

const tool = (name: string, parameters?: JsonObject) => ({
  type: "function",
  function: { name, description: "Does", ...(parameters === undefined ? {} : { parameters }) }
})
const call = (id: string, name: string, args = "{}") => ({ id, type: "function", function: { name, arguments: args } })
const query = { type: "object", properties: { q: { type: "string" } } }
const tooled: ReadonlyArray<JsonObject> = [
  { role: "user", content: "Both?" },
  { role: "assistant", content: "Sure", tool_calls: [call("a", "look", '{"q":1}'), call("b", "list")] },
  { role: "tool", tool_call_id: "b", content: "files" },
  { role: "tool", tool_call_id: "a", content: "sun" },
  { role: "user", content: "Compare" }
]

describe("chat request → gemini request", () => {
  it("gathers instructions, keeps the turns, and leaves model and streaming to the path", () => {
    const { body, dropped } = fromChat({
      stream: true,
      messages: [
        { role: "system", content: "One" },
        { role: "user", content: "Hi" },
        { role: "developer", content: "Two" },
        { role: "assistant", content: "Yes" },
        { role: "user", content: "A" },
        { role: "user", content: "B" }
      ]
    })
    assert.deepEqual(body, {
      systemInstruction: { parts: [{ text: "One" }] },
      contents: [
        user({ text: "Hi" }, { text: "<system-reminder>\nTwo\n</system-reminder>" }),
        model({ text: "Yes" }),
        user({ text: "A" }, { text: "B" })
      ]
    })
    assert.deepEqual(dropped, [])
  })

  it("lets a conversation of instructions alone speak as the user", () => {
    const { body } = fromChat({ messages: [{ role: "system", content: "Only" }] })
    assert.deepEqual(body, { contents: [user({ text: "Only" })] })
  })

  it("answers parallel calls in one content, in the order they came, with their names", () => {
    const { body } = fromChat({ messages: tooled })
    assert.deepEqual(body["contents"], [
      user({ text: "Both?" }),
      model(
        { text: "Sure" },
        { functionCall: { id: "a", name: "look", args: { q: 1 } } },
        { functionCall: { id: "b", name: "list", args: {} } }
      ),
      user(
        { functionResponse: { id: "b", name: "list", response: { output: "files" } } },
        { functionResponse: { id: "a", name: "look", response: { output: "sun" } } },
        { text: "Compare" }
      )
    ])
  })

  it("signs the first call of a step for models that want it, and no other", () => {
    const { body } = fromChat({ messages: tooled }, { model: "gemini-3-pro-preview" })
    const parts = (body["contents"] as ReadonlyArray<{ parts: ReadonlyArray<JsonObject> }>)[1]?.parts ?? []
    assert.deepEqual(
      parts.map((part) => part["thoughtSignature"]),
      [undefined, "skip_thought_signature_validator", undefined]
    )
  })

  it("says schemas in the older member when it can, in the newer when it must", () => {
    const open = { type: "object", properties: { map: { type: "object", additionalProperties: { type: "string" } } } }
    const { body } = fromChat({
      tools: [tool("look", query), tool("list"), tool("put", open)],
      tool_choice: { type: "function", function: { name: "look" } }
    })
    assert.deepEqual(body["tools"], [
      {
        functionDeclarations: [
          {
            name: "look",
            description: "Does",
            parameters: { type: "OBJECT", properties: { q: { type: "STRING" } } }
          },
          { name: "list", description: "Does" },
          { name: "put", description: "Does", parametersJsonSchema: open }
        ]
      }
    ])
    assert.deepEqual(body["toolConfig"], {
      functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["look"] }
    })
  })

  it("maps every tool choice", () => {
    const choose = (tool_choice: JsonObject | string) => {
      const { body, mapped } = fromChat({ tools: [tool("look", query), tool("list")], tool_choice })
      const names = (body["tools"] as ReadonlyArray<{ functionDeclarations: ReadonlyArray<JsonObject> }>)[0]
      const config = (body["toolConfig"] as JsonObject)["functionCallingConfig"]
      return [config, names?.functionDeclarations.length, mapped]
    }
    const allowed = (mode: string): JsonObject => ({
      type: "allowed_tools",
      allowed_tools: { mode, tools: [{ type: "function", function: { name: "list" } }] }
    })
    assert.deepEqual(choose("auto"), [{ mode: "AUTO" }, 2, []])
    assert.deepEqual(choose("none"), [{ mode: "NONE" }, 2, []])
    assert.deepEqual(choose("required"), [{ mode: "ANY" }, 2, []])
    assert.deepEqual(choose(allowed("required")), [{ mode: "ANY", allowedFunctionNames: ["list"] }, 2, []])
    assert.deepEqual(choose(allowed("auto")), [{ mode: "AUTO" }, 1, ["tool_choice"]])
  })

  it("maps sampling, limits and the form of the answer", () => {
    const { body, dropped } = fromChat({
      temperature: 2,
      top_p: 0.5,
      seed: 42,
      presence_penalty: 1,
      max_tokens: 77,
      stop: ["A", "B"],
      logprobs: true,
      top_logprobs: 3,
      response_format: { type: "json_schema", json_schema: { name: "n", schema: query } }
    })
    assert.deepEqual(body["generationConfig"], {
      temperature: 2,
      topP: 0.5,
      seed: 42,
      presencePenalty: 1,
      stopSequences: ["A", "B"],
      responseLogprobs: true,
      logprobs: 3,
      maxOutputTokens: 77,
      responseMimeType: "application/json",
      responseSchema: { type: "OBJECT", properties: { q: { type: "STRING" } } }
    })
    assert.deepEqual(dropped, [])
  })

  it("carries media, and names what has no place", () => {
    const { body, dropped } = fromChat({
      logit_bias: { "1": 1 },
      user: "u",
      metadata: { a: "b" },
      store: true,
      parallel_tool_calls: false,
      tools: [{ type: "web_search" }],
      tool_choice: "auto",
      messages: [
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "high" } },
            { type: "image_url", image_url: { url: "https://x.test/a.JPG?s=1" } },
            { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,BBBB" } },
            { type: "input_audio", input_audio: { data: "CC", format: "wav" } },
            { type: "text", text: "" }
          ]
        },
        { role: "assistant", content: "A", reasoning_content: "hm" }
      ]
    })
    assert.deepEqual(body, {
      contents: [
        user(
          { inlineData: { mimeType: "image/png", data: "AAAA" } },
          { fileData: { mimeType: "image/jpeg", fileUri: "https://x.test/a.JPG?s=1" } },
          { inlineData: { mimeType: "application/pdf", data: "BBBB" } },
          { inlineData: { mimeType: "audio/wav", data: "CC" } }
        ),
        model({ text: "A" })
      ]
    })
    assert.sameMembers(
      [...dropped],
      [
        "user",
        "metadata",
        "messages.content.image_url.detail",
        "messages.content.file.filename",
        "messages.reasoning_content",
        "parallel_tool_calls",
        "tools.web_search",
        "tool_choice",
        "logit_bias",
        "store"
      ]
    )
  })
})

describe("thinking", () => {
  const ask = (reasoning_effort: string, name: string, reasoning?: boolean) => {
    const { body, dropped, mapped } = fromChat(
      { reasoning_effort },
      { model: name, ...(reasoning === undefined ? {} : { reasoning }) }
    )
    const config = body["generationConfig"] as JsonObject | undefined
    return [config?.["thinkingConfig"], dropped.length, mapped.length]
  }

  it("is a level for the third generation, a budget within bounds for others", () => {
    assert.deepEqual(ask("high", "gemini-3-pro-preview"), [{ thinkingLevel: "HIGH", includeThoughts: true }, 0, 0])
    assert.deepEqual(ask("medium", "gemini-3-pro-preview"), [{ thinkingLevel: "HIGH", includeThoughts: true }, 0, 1])
    assert.deepEqual(ask("medium", "gemini-3-flash"), [{ thinkingLevel: "MEDIUM", includeThoughts: true }, 0, 0])
    assert.deepEqual(ask("xhigh", "gemini-2.5-flash"), [{ thinkingBudget: 24_576, includeThoughts: true }, 0, 1])
    assert.deepEqual(ask("low", "someone"), [{ thinkingBudget: 1024, includeThoughts: true }, 0, 1])
  })

  it("is turned off as far as the model lets itself", () => {
    assert.deepEqual(ask("none", "gemini-2.5-flash"), [{ thinkingBudget: 0 }, 0, 0])
    assert.deepEqual(ask("none", "gemini-2.5-pro"), [{ thinkingBudget: 128 }, 0, 1])
    assert.deepEqual(ask("none", "gemini-3-flash"), [{ thinkingLevel: "LOW" }, 0, 1])
    assert.deepEqual(ask("none", "someone"), [undefined, 0, 0])
  })

  it("is not asked of a model that cannot", () => {
    assert.deepEqual(ask("high", "someone", false), [undefined, 1, 0])
  })

  it("keeps a budget of the messages wire, and leaves it to the model when the client does", () => {
    const from = (thinking: JsonObject, name: string) => {
      const { body } = translate("messages", "gemini", messagesBody({ thinking, max_tokens: 9000 }), { model: name })
      return (body["generationConfig"] as JsonObject)["thinkingConfig"]
    }
    assert.deepEqual(from({ type: "enabled", budget_tokens: 5000 }, "gemini-2.5-pro"), {
      thinkingBudget: 5000,
      includeThoughts: true
    })
    assert.deepEqual(from({ type: "adaptive" }, "gemini-2.5-pro"), { thinkingBudget: -1, includeThoughts: true })
    assert.deepEqual(from({ type: "adaptive" }, "gemini-3-pro"), { includeThoughts: true })
    assert.deepEqual(from({ type: "enabled", budget_tokens: 1024, display: "omitted" }, "gemini-3-pro"), {
      thinkingLevel: "LOW",
      includeThoughts: false
    })
  })
})

describe("messages request → gemini request", () => {
  it("carries results with pictures and errors", () => {
    const { body, mapped } = translate(
      "messages",
      "gemini",
      messagesBody({
        messages: [
          { role: "user", content: "Go" },
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "hm", signature: "c2ln" },
              { type: "tool_use", id: "t1", name: "shot", input: {} },
              { type: "tool_use", id: "t2", name: "fail", input: {} }
            ]
          },
          {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: "t1",
                content: [
                  { type: "text", text: "done" },
                  { type: "image", source: { type: "base64", media_type: "image/png", data: "AA" } }
                ]
              },
              { type: "tool_result", tool_use_id: "t2", content: "ENOENT", is_error: true }
            ]
          }
        ]
      })
    )
    assert.deepEqual((body["contents"] as ReadonlyArray<JsonObject>)[2], {
      role: "user",
      parts: [
        { functionResponse: { id: "t1", name: "shot", response: { output: "done" } } },
        { functionResponse: { id: "t2", name: "fail", response: { error: "ENOENT" } } },
        { inlineData: { mimeType: "image/png", data: "AA" } }
      ]
    })
    assert.include(mapped, "messages.content.tool_result.image")
  })
})
