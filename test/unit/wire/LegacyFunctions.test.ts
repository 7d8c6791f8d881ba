/** The older members for tools of the chat wire, to every wire and back. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { checkEnvelope } from "../../../src/wire/chat/Envelope.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { chatBody, chunk, context, sse, translate } from "./support.ts"

const look = {
  name: "look",
  description: "Looks",
  parameters: { type: "object", properties: { at: { type: "string" } } }
}

const asked = chatBody({
  messages: [
    { role: "user", content: "Hi" },
    { role: "assistant", content: null, function_call: { name: "look", arguments: '{"at":"a"}' } },
    { role: "function", name: "look", content: "1" },
    { role: "assistant", content: "Again", function_call: { name: "look", arguments: '{"at":"b"}' } },
    { role: "function", name: "look", content: "2" }
  ],
  functions: [look],
  function_call: { name: "look" }
})

describe("functions", () => {
  it("are tools on the messages wire, one call a turn", () => {
    const { body, dropped } = translate("chat", "messages", asked, { maxOutputTokens: 100 })
    assert.deepStrictEqual(dropped, [])
    assert.deepStrictEqual(body["tools"], [{ name: "look", description: "Looks", input_schema: look.parameters }])
    assert.deepStrictEqual(body["tool_choice"], { type: "tool", name: "look", disable_parallel_tool_use: true })
    assert.deepStrictEqual(body["messages"], [
      { role: "user", content: "Hi" },
      { role: "assistant", content: [{ type: "tool_use", id: "function_call_0", name: "look", input: { at: "a" } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "function_call_0", content: "1" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Again" },
          { type: "tool_use", id: "function_call_1", name: "look", input: { at: "b" } }
        ]
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "function_call_1", content: "2" }] }
    ])
  })

  for (const wire of ["responses", "gemini", "ollama"] as const) {
    it(`lose nothing on the ${wire} wire`, () => {
      const { body, dropped } = translate("chat", wire, asked)
      // Gemini and Ollama have no word for one call a turn, and Ollama has no choice.
      for (const name of dropped) assert.include(["parallel_tool_calls", "tool_choice"], name)
      const text = JSON.stringify(body)
      for (const said of ["look", '"1"', '"2"', "Again"]) assert.include(text, said)
    })
  }

  it("go on as they came on their own wire", () => {
    assert.deepStrictEqual(translate("chat", "chat", asked).body, { ...asked, model: "up" })
    const switched = chatBody({ functions: [look], function_call: "none" })
    assert.deepStrictEqual(translate("chat", "chat", switched).body, { ...switched, model: "up" })
  })

  it("count as tools for the choice of a target", () => {
    assert.isTrue(Either.getOrThrow(checkEnvelope(asked)).hasTools)
  })

  for (const [param, body] of [
    ["functions[0].name", { functions: [{}] }],
    ["functions[0]", { functions: ["look"] }],
    ["functions", { functions: "look" }],
    ["function_call", { functions: [look], function_call: "sometimes" }],
    ["function_call", { functions: [look], function_call: {} }]
  ] as const) {
    it(`are refused by their own name: ${param}`, () => {
      const decoded = codecs.chat.decodeRequest(chatBody(body))
      if (param === "functions") return assert.isTrue(Either.isRight(decoded))
      assert.strictEqual(Either.isLeft(decoded) ? decoded.left.param : null, param)
      return undefined
    })
  }
})

describe("the answer", () => {
  const own = { ...context, request: asked }
  const upstream: JsonObject = {
    id: "m1",
    model: "up",
    role: "assistant",
    content: [
      { type: "text", text: "Once more" },
      { type: "tool_use", id: "t1", name: "look", input: { at: "c" } }
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: 1, output_tokens: 1 }
  }

  it("has the call in function_call", () => {
    const response = Either.getOrThrow(codecs.messages.decodeResponse(upstream))
    const [choice] = codecs.chat.encodeResponse(response, own)["choices"] as ReadonlyArray<JsonObject>
    assert.strictEqual(choice?.["finish_reason"], "function_call")
    assert.deepInclude(choice?.["message"], {
      content: "Once more",
      function_call: { name: "look", arguments: '{"at":"c"}' }
    })
    assert.notProperty(choice?.["message"], "tool_calls")
  })

  it("has it in a stream, too, and the first of several alone", () => {
    const encoder = codecs.chat.makeStreamEncoder(own)
    const call = (index: number, at: string) =>
      [
        { type: "block_start", index, block: { type: "tool_call", id: `t${index}`, name: "look", kind: "function" } },
        { type: "delta", index, delta: { type: "args", text: `{"at":"${at}"}` } },
        { type: "block_stop", index }
      ] as const
    const text = [
      { type: "start", id: "m1", model: "up", createdMs: null } as const,
      ...call(0, "c"),
      ...call(1, "d"),
      { type: "finish", stop: { reason: "tool_calls", raw: "tool_use", sequence: null } } as const,
      { type: "done" } as const
    ]
      .map((event) => encoder.encode(event))
      .join("")
    const chunks = text
      .split("\n\n")
      .filter((line) => line.startsWith("data: {"))
      .map(
        (line) => JSON.parse(line.slice(6)) as { choices: ReadonlyArray<{ delta: JsonObject; finish_reason: unknown }> }
      )
      .flatMap(({ choices }) => choices)
    assert.deepStrictEqual(
      chunks.flatMap(({ delta }) => delta["function_call"] ?? []),
      [{ name: "look", arguments: "" }, { arguments: '{"at":"c"}' }]
    )
    assert.strictEqual(chunks.at(-1)?.finish_reason, "function_call")
    assert.notInclude(text, "tool_calls")
  })

  it("of an upstream of the same wire is an answer, streamed and whole", () => {
    const call = { name: "look", arguments: '{"at":"c"}' }
    const whole = {
      id: "c1",
      choices: [
        { index: 0, message: { role: "assistant", content: null, function_call: call }, finish_reason: "function_call" }
      ]
    }
    assert.deepInclude(codecs.chat.readAnswer(whole), { hasContent: true, toolArgChars: 10 })
    const { parts } = Either.getOrThrow(codecs.chat.decodeResponse(whole))
    assert.deepInclude(parts[0], { type: "tool_call", name: "look", args: '{"at":"c"}' })
    const tap = codecs.chat.makeStreamTap({ hideUsage: false })
    tap.push(
      Buffer.from(
        sse(
          chunk({ function_call: { name: "look", arguments: "" } }),
          chunk({ function_call: { arguments: "{}" } }),
          chunk({}, "function_call"),
          "[DONE]"
        )
      )
    )
    assert.isTrue(tap.facts.content)
    assert.strictEqual(tap.facts.stop?.reason, "tool_calls")
  })
})
