import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import { codecs, translateRequest } from "../../../src/wire/Codec.ts"
import { isArray, isObject, type Json, type JsonObject } from "../../../src/wire/json/Json.ts"
import { pairs } from "./fields/examples.ts"
import { options, translate } from "./support.ts"

const png = "iVBORw0KGgo="
const parameters = { type: "object", properties: { q: { type: "string" } } }

/** A request of each wire that uses its nested objects. */
const rich: Readonly<Record<WireName, JsonObject>> = {
  chat: {
    model: "m",
    messages: [
      { role: "system", content: [{ type: "text", text: "s" }] },
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
          { type: "file", file: { file_data: `data:application/pdf;base64,${png}`, filename: "a.pdf" } }
        ]
      },
      {
        role: "assistant",
        content: "b",
        tool_calls: [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }]
      },
      { role: "tool", tool_call_id: "c", content: [{ type: "text", text: "d" }] }
    ],
    tools: [{ type: "function", function: { name: "look", parameters } }],
    response_format: { type: "json_schema", json_schema: { name: "n", schema: parameters } }
  },
  messages: {
    model: "m",
    max_tokens: 9000,
    system: [{ type: "text", text: "s" }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
          { type: "document", source: { type: "base64", media_type: "application/pdf", data: png }, title: "t" }
        ]
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "c2ln" },
          { type: "tool_use", id: "c", name: "look", input: {} }
        ]
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "c", content: [{ type: "text", text: "d" }] }]
      }
    ],
    tools: [{ name: "look", input_schema: parameters }],
    thinking: { type: "enabled", budget_tokens: 2000 },
    tool_choice: { type: "auto" }
  },
  responses: {
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
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "b" }] },
      { type: "function_call", call_id: "c", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "d" }] }
    ],
    tools: [{ type: "function", name: "look", parameters }],
    reasoning: { effort: "high" },
    text: { format: { type: "text" } }
  },
  gemini: {
    model: "m",
    system_instruction: { parts: [{ text: "s" }] },
    contents: [
      { role: "user", parts: [{ text: "a" }, { inline_data: { mime_type: "image/png", data: png } }] },
      { role: "model", parts: [{ functionCall: { id: "c", name: "look", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { id: "c", name: "look", response: { output: "d" } } }] }
    ],
    tools: [{ functionDeclarations: [{ name: "look", parametersJsonSchema: parameters }] }],
    generationConfig: { temperature: 1 }
  },
  ollama: {
    model: "m",
    messages: [
      { role: "user", content: "a", images: [png] },
      { role: "assistant", content: "b", tool_calls: [{ id: "c", function: { name: "look", arguments: {} } }] },
      { role: "tool", content: "d", tool_call_id: "c" }
    ],
    tools: [{ type: "function", function: { name: "look", parameters } }],
    options: { temperature: 1 }
  }
}

const probe = "x_probe"

/** Objects that are the client's own data, and where new members of tools are kept under other rules. */
const free = new Set([
  "parameters",
  "parametersJsonSchema",
  "input_schema",
  "schema",
  "args",
  "arguments",
  "input",
  "response"
])

/** The body with one more member in each of its objects, one at a time, and the place of it. */
const probed = (value: Json, at: string): ReadonlyArray<readonly [place: string, body: Json]> => {
  if (isArray(value)) {
    return value.flatMap((item, index) =>
      probed(item, `${at}[${index}]`).map(([place, changed]) => [place, value.with(index, changed)] as const)
    )
  }
  if (!isObject(value)) return []
  const inner = Object.entries(value).flatMap(([key, member]) =>
    free.has(key)
      ? []
      : probed(member ?? null, `${at}.${key}`).map(([place, changed]) => [place, { ...value, [key]: changed }] as const)
  )
  return [[at, { ...value, [probe]: "new" }], ...inner]
}

describe("an unknown member", () => {
  it("is named wherever it stands in a request, or the request is refused, for every pair of wires", () => {
    const silent: Array<string> = []
    for (const { source, target } of pairs) {
      for (const [place, body] of probed(rich[source], source)) {
        if (!isObject(body)) continue
        const result = translateRequest(codecs[source], codecs[target], body, options)
        if (Either.isLeft(result)) continue
        const named = result.right.dropped.some((name) => /x_?probe/i.test(name))
        if (!named && !JSON.stringify(result.right.body).includes(probe)) silent.push(`${place} > ${target}`)
      }
    }
    assert.deepEqual(silent, [])
  })

  it("is not named when it says nothing", () => {
    const content = [{ type: "text", text: "a", annotations: [], note: null }]
    const { dropped } = translate("chat", "messages", { model: "m", messages: [{ role: "user", content }] })
    assert.deepEqual(dropped, [])
  })
})

describe("nested members that two wires know", () => {
  const mark = { mode: "explicit" }

  it("are carried: marks of the prompt cache between chat and responses, named elsewhere", () => {
    const chat = {
      model: "m",
      messages: [{ role: "user", content: [{ type: "text", text: "a", prompt_cache_breakpoint: mark }] }]
    }
    const { body } = translate("chat", "responses", chat)
    assert.deepEqual(body["input"], [
      { type: "message", role: "user", content: [{ type: "input_text", text: "a", prompt_cache_breakpoint: mark }] }
    ])
    assert.deepEqual(translate("responses", "chat", { ...body, model: "m" }).body["messages"], chat.messages)
    assert.deepEqual(translate("chat", "messages", chat).dropped, ["messages.content.prompt_cache_breakpoint"])
    assert.sameMembers(
      [...translate("responses", "gemini", { ...body, model: "m" }).dropped],
      ["store", "input.prompt_cache_breakpoint"]
    )
  })

  it("are carried: the order of properties, which Gemini writes as a list", () => {
    const contents = [{ role: "user", parts: [{ text: "a" }] }]
    const responseSchema = {
      type: "OBJECT",
      properties: { a: { type: "STRING" }, b: { type: "STRING" }, c: { type: "STRING" } },
      propertyOrdering: ["c", "a"]
    }
    const { body } = translate("gemini", "chat", { model: "m", contents, generationConfig: { responseSchema } })
    assert.match(JSON.stringify(body["response_format"]), /"properties":\{"c":.*"a":.*"b":/)
  })

  it("are named where only one does: citations of a document, the phase of a message", () => {
    const document = { type: "document", source: { type: "text", media_type: "text/plain", data: "a" } }
    const content = [{ ...document, context: "from the wiki", citations: { enabled: true } }]
    const messages = [{ role: "user", content }]
    const sent = translate("messages", "gemini", { model: "m", max_tokens: 9, messages })
    assert.sameMembers([...sent.dropped], ["messages.content.document.citations"])
    assert.include(JSON.stringify(sent.body), "from the wiki")
    const input = [
      { role: "user", content: "a" },
      { type: "message", role: "assistant", phase: "commentary", content: "b" },
      { role: "user", content: "c" }
    ]
    assert.deepEqual(translate("responses", "chat", { model: "m", input }).dropped, ["input.phase"])
  })
})
