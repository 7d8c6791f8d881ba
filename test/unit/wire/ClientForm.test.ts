/** Requests in forms that clients mix: they are put into their endpoint's own form. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { inOwnForm } from "../../../src/wire/ClientForm.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { chatBody } from "./support.ts"

const formed = (wire: "chat" | "responses" | "messages", body: JsonObject): JsonObject =>
  Either.getOrThrow(inOwnForm(codecs[wire], body)).body

const schema = { type: "object", properties: { at: { type: "string" } } }
const spec = { name: "look", description: "Looks", parameters: schema }
const grammar = { syntax: "lark", definition: "start: /a/" }

/** The same tool in the form of each wire. */
const chatFunction: JsonObject = { type: "function", function: spec }
const flatFunction: JsonObject = { type: "function", ...spec }
const anthropicTool: JsonObject = { name: "look", description: "Looks", input_schema: schema }
const functions: ReadonlyArray<JsonObject> = [
  chatFunction,
  flatFunction,
  { ...spec },
  anthropicTool,
  { type: "custom", name: "look", description: "Looks", input_schema: schema }
]
const chatCustom: JsonObject = { type: "custom", custom: { name: "patch", format: { type: "grammar", grammar } } }
const flatCustom: JsonObject = { type: "custom", name: "patch", format: { type: "grammar", ...grammar } }
const customs = [chatCustom, flatCustom]

describe("tools of any form", () => {
  it("are chat's on chat, and flat on responses", () => {
    for (const tool of functions) {
      assert.deepStrictEqual(formed("chat", chatBody({ tools: [tool] }))["tools"], [
        { type: "function", function: spec }
      ])
      const { tools } = formed("responses", { model: "m", input: "Hi", tools: [tool] })
      assert.deepStrictEqual(tools, [{ type: "function", ...spec }])
    }
    for (const tool of customs) {
      assert.deepStrictEqual(formed("chat", chatBody({ tools: [tool] }))["tools"], [chatCustom])
      assert.deepStrictEqual(formed("responses", { model: "m", input: "Hi", tools: [tool] })["tools"], [flatCustom])
    }
  })

  it("are read each by itself, and a cache mark stays", () => {
    const mark = { cache_control: { type: "ephemeral" } }
    const { tools } = formed("chat", chatBody({ tools: [chatFunction, { ...anthropicTool, ...mark }, flatCustom] }))
    assert.deepStrictEqual(tools, [chatFunction, { type: "function", function: spec, ...mark }, chatCustom])
  })

  it("are chosen by name in any form", () => {
    const choices: ReadonlyArray<readonly [JsonObject | string, JsonObject | string, JsonObject | string]> = [
      [
        { type: "tool", name: "look" },
        { type: "function", function: { name: "look" } },
        { type: "function", name: "look" }
      ],
      [
        { type: "function", name: "look" },
        { type: "function", function: { name: "look" } },
        { type: "function", name: "look" }
      ],
      [
        { type: "function", function: { name: "look" } },
        { type: "function", function: { name: "look" } },
        { type: "function", name: "look" }
      ],
      [{ type: "any" }, "required", "required"],
      [{ type: "auto" }, "auto", "auto"],
      ["auto", "auto", "auto"]
    ]
    for (const [choice, onChat, onResponses] of choices) {
      const tools = [flatFunction]
      assert.deepStrictEqual(formed("chat", chatBody({ tools, tool_choice: choice }))["tool_choice"], onChat)
      const body = { model: "m", input: "Hi", tools, tool_choice: choice }
      assert.deepStrictEqual(formed("responses", body)["tool_choice"], onResponses)
    }
  })

  it("leaves tools of the provider, and what is in order, alone", () => {
    for (const [wire, body] of [
      ["chat", chatBody({ tools: [chatFunction, { type: "web_search" }, { odd: 1 }], tool_choice: "auto" })],
      ["responses", { model: "m", input: "Hi", tools: [flatFunction, { type: "web_search" }] }],
      ["messages", { model: "m", messages: [], tools: [chatFunction] }]
    ] as const)
      assert.strictEqual(formed(wire, body), body)
  })
})

describe("blocks of the messages wire in chat messages", () => {
  it("are calls and results of chat", () => {
    const { messages } = formed(
      "chat",
      chatBody({
        messages: [
          { role: "user", content: "Hi" },
          {
            role: "assistant",
            content: [
              { type: "text", text: "Looking" },
              { type: "tool_use", id: "t1", name: "look", input: { at: "a" } }
            ]
          },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "Found" }] },
              { type: "text", text: "And?" }
            ]
          }
        ]
      })
    )
    assert.deepStrictEqual(messages, [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: [{ type: "text", text: "Looking" }],
        tool_calls: [{ id: "t1", type: "function", function: { name: "look", arguments: '{"at":"a"}' } }]
      },
      { role: "tool", tool_call_id: "t1", content: [{ type: "text", text: "Found" }] },
      { role: "user", content: [{ type: "text", text: "And?" }] }
    ])
  })

  it("with nothing beside them make no empty message", () => {
    const result = { type: "tool_result", tool_use_id: "t1", content: "Found" }
    const { messages } = formed("chat", chatBody({ messages: [{ role: "user", content: [result] }] }))
    assert.deepStrictEqual(messages, [{ role: "tool", tool_call_id: "t1", content: "Found" }])
  })
})

describe("a responses request on chat", () => {
  it("is one of chat", () => {
    const body = formed("chat", {
      model: "m",
      stream: true,
      stream_options: { include_usage: true },
      instructions: "Be brief.",
      input: [
        { role: "user", content: "Hi" },
        { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "Found" }
      ],
      tools: [chatFunction],
      max_output_tokens: 50,
      reasoning: { effort: "high" }
    })
    assert.deepInclude(body, {
      model: "m",
      stream: true,
      stream_options: { include_usage: true },
      reasoning_effort: "high",
      max_tokens: 50
    })
    assert.deepStrictEqual(body["messages"], [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }]
      },
      { role: "tool", tool_call_id: "c1", content: "Found" }
    ])
  })

  it("names what chat has no place for, and refuses what it would lose", () => {
    const named = Either.getOrThrow(inOwnForm(codecs.chat, { model: "m", input: "Hi", truncation: "auto" }))
    assert.deepStrictEqual(named.dropped, ["truncation"])
    const lost = inOwnForm(codecs.chat, { model: "m", input: "Hi", previous_response_id: "resp_1" })
    assert.strictEqual(Either.isLeft(lost) ? lost.left.param : null, "previous_response_id")
    const wrong = inOwnForm(codecs.chat, { model: "m", input: 5 })
    assert.strictEqual(Either.isLeft(wrong) ? wrong.left.param : null, "input")
  })
})
