import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { gemini } from "../../../../src/wire/gemini/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { geminiBody, model, translate, user } from "./support.ts"

const toChat = (more: JsonObject) => translate("gemini", "chat", geminiBody(more))
const toMessages = (more: JsonObject) => translate("gemini", "messages", geminiBody(more), { maxOutputTokens: 9000 })
const decode = (more: JsonObject) => Either.getOrThrow(gemini.decodeRequest(geminiBody(more)))

describe("gemini request → chat request", () => {
  it("reads both spellings", () => {
    const { body } = toChat({
      system_instruction: { role: "system", parts: [{ text: "Be" }, { text: "brief" }] },
      generation_config: {
        max_output_tokens: 5,
        top_p: 0.5,
        stop_sequences: ["X"],
        response_mime_type: "application/json"
      },
      contents: { parts: [{ inline_data: { mime_type: "image/png", data: "AA" } }, { text: "What?" }] }
    })
    assert.deepEqual(body, {
      model: "up",
      messages: [
        { role: "system", content: "Be\n\nbrief" },
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
            { type: "text", text: "What?" }
          ]
        }
      ],
      max_tokens: 5,
      top_p: 0.5,
      stop: ["X"],
      response_format: { type: "json_object" }
    })
  })

  it("gives calls without ids stable ones, and pairs results by name and order", () => {
    const turn = [
      user({ text: "Go" }),
      model(
        { functionCall: { name: "ping", args: { n: 1 } } },
        { functionCall: { name: "pong" } },
        { functionCall: { name: "ping", args: { n: 2 } } }
      ),
      user({ functionResponse: { name: "pong", response: { result: "o" } } }),
      { role: "function", parts: [{ functionResponse: { name: "ping", response: { output: "1" } } }] },
      user({ functionResponse: { name: "ping", response: { a: 1, b: 2 } } }, { text: "And?" })
    ]
    const ids = (contents: ReadonlyArray<JsonObject>) => {
      const list = toChat({ contents }).body["messages"] as ReadonlyArray<JsonObject>
      const calls = list.flatMap((message) => (message["tool_calls"] as ReadonlyArray<JsonObject> | undefined) ?? [])
      const results = list.filter((message) => message["role"] === "tool")
      return [
        calls.map((call) => call["id"]),
        results.map((result) => [result["tool_call_id"], result["content"]])
      ] as const
    }
    const [calls, results] = ids(turn)
    assert.lengthOf(new Set(calls), 3)
    assert.deepEqual(results, [
      [calls[1], "o"],
      [calls[0], "1"],
      [calls[2], '{"a":1,"b":2}']
    ])
    const later = [...turn, model({ functionCall: { name: "ping" } }), user({ functionResponse: { name: "ping" } })]
    assert.deepEqual(ids(later)[0].slice(0, 3), calls)
    assert.strictEqual(ids(later)[1].at(-1)?.[0], ids(later)[0].at(-1))
  })

  it("keeps the client's ids, and reads what clients wrap results in", () => {
    const result = (response: JsonObject) => {
      const { messages } = decode({
        contents: [
          user({ text: "Go" }),
          model({ functionCall: { id: "x:1", name: "f" } }),
          user({ functionResponse: { id: "x:1", name: "f", response } })
        ]
      })
      const part = messages[2]?.parts[0]
      return part?.type === "tool_result" ? { callId: part.callId, content: part.content, isError: part.isError } : null
    }
    const read = (text: string, isError = false) => ({
      callId: "x:1",
      content: [{ type: "text" as const, text }],
      isError
    })
    assert.deepEqual(result({ output: "a" }), read("a"))
    assert.deepEqual(result({ name: "f", content: "b" }), read("b"))
    assert.deepEqual(result({ error: "c" }), read("c", true))
    assert.deepEqual(result({ output: "a", code: 1 }), read('{"output":"a","code":1}'))
    assert.deepEqual(result({ output: { a: 1 } }), read('{"output":{"a":1}}'))
  })

  it("reads declarations in both forms, and names built-in tools as dropped", () => {
    const { body, dropped } = toChat({
      tools: [
        { google_search: {} },
        {
          function_declarations: [
            { name: "a", parameters: { type: "OBJECT", properties: { q: { type: "STRING" } } } },
            { name: "b", description: "B", parametersJsonSchema: { type: "object", properties: { $x: {} } } },
            { name: "c", behavior: "BLOCKING" }
          ]
        }
      ],
      tool_config: { function_calling_config: { mode: "ANY", allowed_function_names: ["a"] } }
    })
    const tools = body["tools"] as ReadonlyArray<{ function: JsonObject }>
    assert.deepEqual(
      tools.map((tool) => tool.function),
      [
        { name: "a", parameters: { type: "object", properties: { q: { type: "string" } } } },
        { name: "b", description: "B", parameters: { type: "object", properties: { $x: {} } } },
        { name: "c", parameters: { type: "object", properties: {} } }
      ]
    )
    assert.deepEqual(body["tool_choice"], { type: "function", function: { name: "a" } })
    assert.deepEqual(dropped, ["tools.googleSearch", "tools.behavior"])
  })

  it("names everything else it cannot say, in the client's words", () => {
    const { dropped } = toChat({
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }],
      toolConfig: { retrievalConfig: {} },
      generationConfig: { topK: 4, mediaResolution: "LOW", responseModalities: ["TEXT"] },
      contents: [
        user({ text: "Go" }),
        model(
          { text: "hm", thought: true, thoughtSignature: "c2ln" },
          { executableCode: { language: "PYTHON", code: "1" } },
          { text: "A", thoughtSignature: "c2ln" }
        ),
        user({ text: "Go on" })
      ]
    })
    assert.sameMembers(
      [...dropped],
      [
        "safetySettings",
        "toolConfig",
        "generationConfig.topK",
        "generationConfig.mediaResolution",
        "generationConfig.responseModalities",
        "contents.parts.thought"
      ]
    )
  })

  it("maps thinking", () => {
    const effort = (thinkingConfig: JsonObject) =>
      toChat({ generationConfig: { thinkingConfig } }).body["reasoning_effort"]
    assert.strictEqual(effort({ thinkingBudget: 8192, includeThoughts: true }), "medium")
    assert.strictEqual(effort({ thinkingLevel: "HIGH" }), "high")
    assert.isUndefined(effort({ thinkingBudget: 0 }))
    assert.isUndefined(effort({ thinkingLevel: "THINKING_LEVEL_UNSPECIFIED" }))
  })
})

describe("gemini request → messages request", () => {
  it("puts results first, and shows thoughts as the wire says it", () => {
    const { body } = toMessages({
      generationConfig: { thinkingConfig: { thinkingBudget: 2048, includeThoughts: true } },
      contents: [
        user({ text: "Go" }),
        model({ functionCall: { id: "a:b", name: "f", args: { x: 1 } } }),
        user({ text: "first" }, { functionResponse: { id: "a:b", name: "f", response: { error: "bad" } } }),
        model({ text: "ok" }),
        user({ text: "on" })
      ]
    })
    assert.deepEqual(body["thinking"], { type: "enabled", budget_tokens: 2048, display: "summarized" })
    assert.deepEqual((body["messages"] as ReadonlyArray<unknown>).slice(1, 3), [
      { role: "assistant", content: [{ type: "tool_use", id: "a_b_08bd8540", name: "f", input: { x: 1 } }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a_b_08bd8540", content: "bad", is_error: true },
          { type: "text", text: "first" }
        ]
      }
    ])
  })
})

describe("gemini request → gemini request", () => {
  it("keeps signatures, thoughts, opaque parts and unknown members", () => {
    const contents = [
      user(
        { text: "Go", partMetadata: { a: 1 } },
        { fileData: { fileUri: "files/1", mimeType: "video/mp4" }, videoMetadata: { fps: 1 } }
      ),
      model(
        { text: "hm", thought: true },
        { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature: "s0" },
        { functionCall: { id: "1", name: "f", args: {} }, thoughtSignature: "s1" },
        { functionCall: { id: "2", name: "f", args: {} } }
      ),
      user(
        { functionResponse: { id: "1", name: "f", response: { a: [1] }, scheduling: "SILENT" } },
        {
          functionResponse: {
            id: "2",
            name: "f",
            response: { output: "o" },
            parts: [{ inlineData: { mimeType: "image/png", data: "AA" } }]
          }
        }
      ),
      model({ text: "end", thoughtSignature: "s2" })
    ]
    const more: JsonObject = {
      systemInstruction: { parts: [{ text: "S" }] },
      contents,
      tools: [
        { codeExecution: {} },
        { functionDeclarations: [{ name: "f", parametersJsonSchema: {}, behavior: "B" }] }
      ],
      toolConfig: { functionCallingConfig: { mode: "VALIDATED" }, retrievalConfig: { languageCode: "de" } },
      generationConfig: {
        temperature: 1,
        responseMimeType: "text/x.enum",
        responseSchema: { type: "STRING", enum: ["a"] },
        thinkingConfig: { thinkingLevel: "LOW", includeThoughts: true },
        mediaResolution: "LOW"
      },
      safetySettings: [],
      labels: { a: "b" },
      unheardOf: 1
    }
    const { body, dropped } = translate("gemini", "gemini", geminiBody(more), { model: "gemini-3-pro" })
    assert.deepEqual(body, more)
    assert.deepEqual(dropped, [])
  })

  it("signs calls that came from elsewhere, and checks every field of a wrong request", () => {
    const contents = [user({ text: "Go" }), model({ functionCall: { id: "1", name: "f", args: {} } })]
    const { body } = translate("gemini", "gemini", geminiBody({ contents }), { model: "gemini-3-pro" })
    const [, step] = body["contents"] as ReadonlyArray<{ parts: ReadonlyArray<JsonObject> }>
    assert.strictEqual(step?.parts[0]?.["thoughtSignature"], "skip_thought_signature_validator")
    const wrong = gemini.decodeRequest(
      geminiBody({
        contents: [
          { role: "bot", parts: [] },
          user({}),
          user({ inlineData: { data: "A" } }),
          user({ functionCall: {} })
        ],
        tools: [{ functionDeclarations: [{}] }],
        generationConfig: { temperature: "hot" }
      })
    )
    assert.sameMembers(
      Either.getOrThrow(Either.flip(wrong)).details.map(({ field }) => field),
      [
        "contents[0].role",
        "contents[1].parts[0]",
        "contents[2].parts[0].inlineData.mimeType",
        "contents[3].parts[0].functionCall.name",
        "tools[0].functionDeclarations[0].name",
        "generationConfig.temperature"
      ]
    )
  })
})
