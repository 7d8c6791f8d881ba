/** What an answer holds is the same for its client, whether it comes as a stream or whole. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { codecs, encodeAnswer, makeStreamTranslator } from "../../../src/wire/Codec.ts"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"

const context = (request: JsonObject = {}) => ({
  nowMs: 1_700_000_000_000,
  fallbackId: "id",
  model: "m",
  wantsUsage: true,
  request
})

const streamed = (
  client: WireName,
  upstream: WireName,
  events: ReadonlyArray<object | string>,
  request?: JsonObject
) => {
  const translator = makeStreamTranslator(codecs[client], codecs[upstream], context(request))
  const text = events
    .map((event) =>
      typeof event === "string"
        ? `data: ${event}\n\n`
        : `${"type" in event ? `event: ${String(event.type)}\n` : ""}data: ${JSON.stringify(event)}\n\n`
    )
    .join("")
  return translator.push(Buffer.from(text)) + translator.end()
}

const whole = (client: WireName, upstream: WireName, body: JsonObject, request?: JsonObject): JsonObject => {
  const decoded = codecs[upstream].decodeResponse(body)
  if (Either.isLeft(decoded)) throw new Error(decoded.left.message)
  return encodeAnswer(codecs[client], decoded.right, context(request))
}

// eslint-disable-next-line typescript/no-explicit-any -- events are read as they come
const eventsIn = (text: string): ReadonlyArray<Record<string, any>> =>
  text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []))

const foreign = ["messages", "responses", "gemini", "ollama"] as const

describe("an answer of sound alone", () => {
  const audio = { id: "a", data: "UklGRg==", expires_at: 1, transcript: "spoken words" }
  const body = {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: null, audio }, finish_reason: "stop" }]
  }
  const chunk = (delta: object, finish: string | null = null) => ({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }]
  })
  for (const client of foreign) {
    it(`keeps its transcript for ${client} clients, streamed and whole`, () => {
      assert.include(JSON.stringify(whole(client, "chat", body)), "spoken words")
      const text = streamed(client, "chat", [
        chunk({ role: "assistant", audio: { id: "a", transcript: "spoken " } }),
        chunk({ audio: { data: "UklGRg==" } }),
        chunk({ audio: { transcript: "words" } }),
        chunk({}, "stop"),
        "[DONE]"
      ])
      assert.match(text, /spoken [\s\S]*words/)
    })
  }

  it("says what is said as text once", () => {
    const [choice] = body.choices
    const both = { ...body, choices: [{ ...choice, message: { role: "assistant", content: "written", audio } }] }
    const text = JSON.stringify(whole("messages", "chat", both))
    assert.include(text, "written")
    assert.notInclude(text, "spoken words")
  })
})

describe("redacted thinking", () => {
  const redacted = { type: "redacted_thinking", data: "c2VjcmV0" }
  const message = {
    id: "msg",
    type: "message",
    role: "assistant",
    model: "m",
    content: [redacted, { type: "text", text: "Hi" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 }
  }
  const events = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: redacted },
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Hi" } },
    { type: "content_block_stop", index: 1 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: "message_stop" }
  ]

  it("gives responses clients the same items", () => {
    const inStream = eventsIn(streamed("responses", "messages", events)).find(
      ({ type }) => type === "response.completed"
    )
    const types = (output: ReadonlyArray<JsonObject>) =>
      output.map(({ content, summary, type }) => ({ type, content, summary }))
    assert.deepStrictEqual(
      types(inStream?.["response"].output),
      types(whole("responses", "messages", message)["output"] as unknown as ReadonlyArray<JsonObject>)
    )
  })

  it("gives messages clients the block itself", () => {
    const inStream = eventsIn(streamed("messages", "messages", events)).find(
      ({ type }) => type === "content_block_start"
    )
    assert.deepStrictEqual(inStream?.["content_block"], redacted)
    assert.deepStrictEqual((whole("messages", "messages", message)["content"] as ReadonlyArray<unknown>)[0], redacted)
  })

  for (const client of ["chat", "gemini", "ollama"] as const) {
    it(`shows ${client} clients nothing of it`, () => {
      assert.notInclude(streamed(client, "messages", events), "c2VjcmV0")
      assert.notInclude(JSON.stringify(whole(client, "messages", message)), "c2VjcmV0")
    })
  }
})

describe("a free-form call to a client that has offered none", () => {
  const input = 'print("two\nlines")'
  const call = { type: "custom_tool_call", id: "ctc_1", call_id: "call_1", name: "python", input, status: "completed" }
  const response = {
    id: "resp",
    object: "response",
    created_at: 1,
    model: "m",
    status: "completed",
    output: [call],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  }
  const events = [
    { type: "response.created", sequence_number: 0, response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", sequence_number: 1, output_index: 0, item: { ...call, input: "" } },
    {
      type: "response.custom_tool_call_input.delta",
      sequence_number: 2,
      output_index: 0,
      item_id: "ctc_1",
      delta: input.slice(0, 7)
    },
    {
      type: "response.custom_tool_call_input.delta",
      sequence_number: 3,
      output_index: 0,
      item_id: "ctc_1",
      delta: input.slice(7)
    },
    { type: "response.output_item.done", sequence_number: 4, output_index: 0, item: call },
    { type: "response.completed", sequence_number: 5, response }
  ]

  it("is JSON for messages clients, streamed and whole", () => {
    const [block] = whole("messages", "responses", response)["content"] as unknown as ReadonlyArray<JsonObject>
    assert.deepStrictEqual(block?.["input"], { input })
    const text = eventsIn(streamed("messages", "responses", events))
      .map(({ delta }) => delta?.partial_json ?? "")
      .join("")
    assert.deepStrictEqual(JSON.parse(text), { input })
  })

  it("is JSON for chat clients that know functions alone, and free text for those that offered it", () => {
    // eslint-disable-next-line typescript/no-explicit-any -- as above
    const callIn = (body: JsonObject): any => (body as any).choices[0].message.tool_calls[0]
    const functions = { tools: [{ type: "function", function: { name: "python" } }] }
    const made = callIn(whole("chat", "responses", response, functions))
    assert.deepStrictEqual(JSON.parse(made.function.arguments), { input })
    const joined = eventsIn(streamed("chat", "responses", events, functions))
      .map(({ choices }) => choices[0]?.delta?.tool_calls?.[0]?.function?.arguments ?? "")
      .join("")
    assert.deepStrictEqual(JSON.parse(joined), { input })
    const custom = { tools: [{ type: "custom", custom: { name: "python" } }] }
    assert.deepInclude(callIn(whole("chat", "responses", response, custom)), { custom: { name: "python", input } })
    assert.include(streamed("chat", "responses", events, custom), '"custom":{"input":')
  })

  for (const client of ["gemini", "ollama"] as const) {
    it(`is an object for ${client} clients, streamed and whole`, () => {
      const expected = JSON.stringify({ input })
      assert.include(JSON.stringify(whole(client, "responses", response)), expected)
      assert.include(streamed(client, "responses", events), expected)
    })
  }
})
