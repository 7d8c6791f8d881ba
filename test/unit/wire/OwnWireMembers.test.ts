/** A request that is written anew for its own wire: what the gateway does not know goes on. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import { codecs, translateRequest } from "../../../src/wire/Codec.ts"
import { isArray, isObject, type Json, type JsonObject } from "../../../src/wire/json/Json.ts"
import { options } from "./support.ts"

const png = "iVBORw0KGgo="
const parameters = { type: "object", properties: { q: { type: "string" } } }
const cache = { type: "ephemeral" }

/** A request of each wire that uses each of its objects. */
const rich: Readonly<Record<WireName, ReadonlyArray<JsonObject>>> = {
  chat: [
    {
      model: "m",
      messages: [
        { role: "system", content: [{ type: "text", text: "s" }], name: "n" },
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${png}`, detail: "low" } },
            { type: "input_audio", input_audio: { data: png, format: "wav" } },
            { type: "file", file: { file_data: `data:application/pdf;base64,${png}`, filename: "a.pdf" } }
          ]
        },
        {
          role: "assistant",
          content: "b",
          tool_calls: [
            { id: "c", type: "function", function: { name: "look", arguments: "{}" } },
            { id: "d", type: "custom", custom: { name: "own", input: "x" } }
          ]
        },
        { role: "tool", tool_call_id: "c", content: [{ type: "text", text: "d" }] },
        { role: "tool", tool_call_id: "d", content: "e" }
      ],
      tools: [
        { type: "function", function: { name: "look", parameters, strict: true } },
        { type: "custom", custom: { name: "own", format: { type: "text" } } }
      ],
      tool_choice: { type: "function", function: { name: "look" } },
      response_format: { type: "json_schema", json_schema: { name: "n", schema: parameters } },
      stream: true,
      stream_options: { include_usage: true },
      metadata: { a: "1" },
      prediction: { type: "content", content: "p" },
      web_search_options: { user_location: { type: "approximate", approximate: { country: "DE" } } }
    },
    {
      model: "m",
      messages: [{ role: "user", content: "a" }],
      tools: [{ type: "function", function: { name: "look", parameters } }],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "look" } }] }
      }
    }
  ],
  messages: [
    {
      model: "m",
      max_tokens: 9000,
      system: [{ type: "text", text: "s", cache_control: cache }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "a", cache_control: cache },
            { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
            {
              type: "document",
              source: { type: "base64", media_type: "application/pdf", data: png },
              title: "t",
              citations: { enabled: true }
            }
          ]
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "c2ln" },
            { type: "redacted_thinking", data: "c2ln" },
            { type: "tool_use", id: "c", name: "look", input: {} }
          ]
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c", content: [{ type: "text", text: "d" }], cache_control: cache }
          ]
        }
      ],
      tools: [
        { name: "look", input_schema: parameters, cache_control: cache },
        { type: "web_search_20250305", name: "web_search" }
      ],
      thinking: { type: "enabled", budget_tokens: 2000 },
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
      metadata: { user_id: "u" },
      context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
      mcp_servers: [{ type: "url", url: "https://mcp.example", name: "n" }]
    },
    { model: "m", max_tokens: 9, messages: [{ role: "user", content: "a" }], thinking: { type: "disabled" } },
    {
      model: "m",
      max_tokens: 9000,
      messages: [{ role: "user", content: "a" }],
      thinking: { type: "adaptive" },
      output_config: { effort: "low", format: { type: "json_schema", schema: parameters } }
    },
    {
      model: "m",
      max_tokens: 9,
      messages: [{ role: "user", content: "a" }],
      tools: [{ name: "look", input_schema: parameters }],
      tool_choice: { type: "tool", name: "look" }
    }
  ],
  responses: [
    {
      model: "m",
      input: [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "a" },
            { type: "input_image", image_url: `data:image/png;base64,${png}` },
            { type: "input_file", file_data: `data:application/pdf;base64,${png}`, filename: "a.pdf" }
          ]
        },
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "c2ln" },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "b", annotations: [] }] },
        { type: "function_call", call_id: "c", name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "d" }] },
        { type: "custom_tool_call", call_id: "e", name: "own", input: "x" },
        { type: "custom_tool_call_output", call_id: "e", output: "f" }
      ],
      tools: [
        { type: "function", name: "look", parameters, strict: true },
        { type: "custom", name: "own", format: { type: "text" } },
        {
          type: "web_search",
          filters: { allowed_domains: ["a.example"] },
          user_location: { type: "approximate", country: "DE" }
        }
      ],
      tool_choice: { type: "function", name: "look" },
      reasoning: { effort: "high", summary: "auto" },
      text: { format: { type: "json_schema", name: "n", schema: parameters }, verbosity: "low" },
      metadata: { a: "1" },
      stream: true,
      stream_options: { include_obfuscation: false }
    },
    { model: "m", input: "a", text: { format: { type: "text" } }, reasoning: {} }
  ],
  gemini: [
    {
      model: "m",
      systemInstruction: { parts: [{ text: "s" }] },
      contents: [
        { role: "user", parts: [{ text: "a" }, { inlineData: { mimeType: "image/png", data: png } }] },
        {
          role: "model",
          parts: [
            { text: "hm", thought: true },
            { functionCall: { id: "c", name: "look", args: {} }, thoughtSignature: "c2ln" }
          ]
        },
        { role: "user", parts: [{ functionResponse: { id: "c", name: "look", response: { output: "d" } } }] }
      ],
      tools: [{ functionDeclarations: [{ name: "look", parametersJsonSchema: parameters }] }, { googleSearch: {} }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["look"] } },
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
      generationConfig: {
        temperature: 1,
        thinkingConfig: { thinkingBudget: 1024, includeThoughts: true },
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } },
        imageConfig: { aspectRatio: "1:1" }
      }
    },
    { model: "m", contents: [{ role: "user", parts: [{ text: "a" }] }], generationConfig: { thinkingConfig: {} } },
    {
      model: "m",
      contents: [{ role: "user", parts: [{ text: "a" }] }],
      generationConfig: { thinkingConfig: { thinkingBudget: 0 } }
    },
    {
      model: "m",
      contents: [{ role: "user", parts: [{ text: "a" }] }],
      generationConfig: { thinkingConfig: { thinkingLevel: "HIGH" } }
    }
  ],
  ollama: [
    {
      model: "m",
      messages: [
        { role: "user", content: "a", images: [png] },
        {
          role: "assistant",
          content: "b",
          thinking: "hm",
          tool_calls: [{ id: "c", function: { name: "look", arguments: {} } }]
        },
        { role: "tool", content: "d", tool_call_id: "c" }
      ],
      tools: [{ type: "function", function: { name: "look", parameters } }],
      options: { temperature: 1 },
      format: parameters,
      think: "high"
    }
  ]
}

const probe = "x_probe"

/** Objects that are the client's own data. */
const free = new Set([
  "parameters",
  "parametersJsonSchema",
  "input_schema",
  "schema",
  "args",
  "arguments",
  "input",
  "response",
  "format",
  "metadata"
])

const probed = (value: Json, at: string): ReadonlyArray<readonly [place: string, body: Json]> => {
  if (isArray(value)) {
    return value.flatMap((item, index) =>
      probed(item, `${at}[${index}]`).map(([place, changed]) => [place, value.with(index, changed)] as const)
    )
  }
  if (!isObject(value)) return []
  const inner = Object.entries(value).flatMap(([key, member]) =>
    free.has(key) && !isArray(member)
      ? []
      : probed(member ?? null, `${at}.${key}`).map(([place, changed]) => [place, { ...value, [key]: changed }] as const)
  )
  return [[at, { ...value, [probe]: "new" }], ...inner]
}

/** The model thinks: else what is said of thinking is left out, by name. */
const how = (body: JsonObject) => ({ ...options, reasoning: true, stream: body["stream"] === true })

/** They name tools alone, and are written by what the tools are called. */
const isReference = (place: string): boolean => place.includes(".allowed_tools.tools[")

describe("a request that is written anew for its own wire", () => {
  it.each(Object.entries(rich))("keeps each unknown member of each object: %s", (name, bodies) => {
    const wire = name as WireName
    const lost: Array<string> = []
    for (const [index, whole] of bodies.entries()) {
      for (const [place, body] of probed(whole, `${wire}${index}`)) {
        if (!isObject(body) || isReference(place)) continue
        const result = translateRequest(codecs[wire], codecs[wire], body, how(body))
        if (Either.isLeft(result)) lost.push(`${place}: refused, ${JSON.stringify(result.left)}`.slice(0, 200))
        else if (!/x_?probe/iu.test(JSON.stringify(result.right.body))) lost.push(place)
      }
    }
    assert.deepStrictEqual(lost, [])
  })

  it("keeps an object of unknown members alone, and does not bring back what was left out", () => {
    const asked = (generationConfig: JsonObject): JsonObject => ({
      model: "m",
      contents: [{ role: "user", parts: [{ text: "a" }] }],
      generationConfig
    })
    const written = (body: JsonObject, wire: WireName = "gemini") =>
      Either.getOrThrow(translateRequest(codecs[wire], codecs[wire], body, options)).body
    assert.deepStrictEqual(written(asked({ thinkingConfig: { style: "brief" } }))["generationConfig"], {
      thinkingConfig: { style: "brief" }
    })
    assert.deepStrictEqual(
      written(asked({ thinking_config: { thinking_budget: 5, style: "brief" } }))["generationConfig"],
      {
        thinkingConfig: { thinkingBudget: 5, style: "brief" }
      }
    )
    const chat = { model: "m", messages: [{ role: "user", content: "a" }] }
    assert.notProperty(
      written({ ...chat, tools: [], tool_choice: { type: "function", function: { name: "f" }, x: 1 } }, "chat"),
      "tool_choice"
    )
  })

  it("takes no member for a prototype", () => {
    const body = JSON.parse(
      '{"model":"m","contents":[{"role":"user","parts":[{"text":"a"}]}],"generationConfig":{"thinkingConfig":{"thinkingBudget":5,"__proto__":{"polluted":1}}}}'
    )
    const { body: written } = Either.getOrThrow(translateRequest(codecs.gemini, codecs.gemini, body, options))
    assert.notInclude(JSON.stringify(written), "polluted")
    assert.isUndefined(({} as { readonly polluted?: unknown }).polluted)
  })
})
