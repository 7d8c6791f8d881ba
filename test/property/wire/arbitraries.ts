/** Random requests and streams of each wire. */
import * as FC from "effect/FastCheck"
import type { StreamEvent, WireCodec } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"

/** A piece of text that is not empty. */
export const text = FC.string({ minLength: 1, maxLength: 12, unit: "grapheme" })
/** An identifier that every wire takes. */
export const word = FC.stringMatching(/^[a-z][a-zA-Z0-9_]{0,8}$/)
const input = FC.dictionary(word, FC.oneof(FC.integer(), text, FC.boolean(), FC.constant(null)), { maxKeys: 3 })
const schema = FC.record({
  type: FC.constant("object"),
  properties: FC.dictionary(word, FC.constant({ type: "string" }), { maxKeys: 3 })
})
const cacheControl = FC.constant({ type: "ephemeral" })

/** `required` members always, `optional` ones sometimes. */
export const members = <R, O>(
  required: { [K in keyof R]: FC.Arbitrary<R[K]> },
  optional: { [K in keyof O]: FC.Arbitrary<O[K]> }
) =>
  FC.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) as never }) as FC.Arbitrary<JsonObject>

const turns = <A>(length: number, ...make: ReadonlyArray<(index: number) => FC.Arbitrary<ReadonlyArray<A>>>) =>
  FC.tuple(...Array.from({ length }, (_, index) => FC.oneof(...make.map((of) => of(index))))).map((parts) =>
    parts.flat()
  )

const withMessages = (body: JsonObject, messages: ReadonlyArray<JsonObject>): JsonObject => ({ ...body, messages })

const chatPart = FC.oneof(
  members({ type: FC.constant("text"), text }, { cache_control: cacheControl }),
  FC.record({
    type: FC.constant("image_url"),
    image_url: FC.record({ url: FC.constantFrom("https://x.test/a", "data:image/png;base64,AA==") })
  })
)

const chatTurn = (index: number) =>
  FC.tuple(
    FC.oneof(text, FC.array(chatPart, { minLength: 1, maxLength: 3 })),
    members({ role: FC.constant("assistant"), content: text }, { reasoning_content: text })
  ).map(([content, answer]): ReadonlyArray<JsonObject> => [
    { role: "user", content: content as never, "x-turn": index },
    answer
  ])

const chatToolTurn = (index: number) =>
  FC.tuple(input, text, text).map(([args, result, question]): ReadonlyArray<JsonObject> => {
    const id = `call:${index}`
    const call = { id, type: "function", function: { name: "look", arguments: JSON.stringify(args) } }
    return [
      { role: "user", content: question },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: id, content: result },
      { role: "assistant", content: question }
    ]
  })

export const chatRequest = FC.tuple(
  members(
    { model: word, stream: FC.constant(true) },
    {
      temperature: FC.constantFrom(0, 0.5, 2),
      max_tokens: FC.integer({ min: 1, max: 9000 }),
      stop: FC.oneof(text, FC.array(text, { minLength: 1, maxLength: 6 })),
      tools: FC.array(
        FC.record({
          type: FC.constant("function"),
          function: members({ name: word }, { description: text, parameters: schema, strict: FC.boolean() })
        }),
        { minLength: 1, maxLength: 3 }
      ),
      response_format: FC.constantFrom(
        { type: "json_object" },
        { type: "json_schema", json_schema: { name: "n", schema: { type: "object" } } }
      ),
      reasoning_effort: FC.constantFrom("none", "low", "xhigh"),
      user: text,
      seed: FC.integer(),
      metadata: FC.constant({ a: "b" }),
      store: FC.boolean(),
      stream_options: FC.constant({ include_obfuscation: false })
    }
  ),
  FC.option(FC.record({ role: FC.constantFrom("system", "developer"), content: text }), { nil: undefined }),
  FC.integer({ min: 1, max: 4 }).chain((length) => turns(length, chatTurn, chatToolTurn))
).map(([body, system, messages]) => withMessages(body, system === undefined ? messages : [system, ...messages]))

const block = FC.oneof(
  members({ type: FC.constant("text"), text }, { cache_control: cacheControl, "x-extra": FC.boolean() }),
  FC.record({
    type: FC.constant("image"),
    source: FC.record({ type: FC.constant("url"), url: FC.constant("https://x.test") })
  }),
  FC.record({
    type: FC.constant("document"),
    source: FC.constant({ type: "text", media_type: "text/plain", data: "d" }),
    title: text
  }),
  FC.record({ type: FC.constant("search_result"), title: text })
)

const messagesTurn = () =>
  FC.tuple(FC.oneof(text, FC.array(block, { minLength: 1, maxLength: 3 })), text, text).map(
    ([content, thinking, answer]): ReadonlyArray<JsonObject> => [
      { role: "user", content: content as never },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking, signature: "c2ln" },
          { type: "text", text: answer }
        ]
      }
    ]
  )

const messagesToolTurn = (index: number) =>
  FC.tuple(input, text, FC.boolean(), text).map(([args, result, failed, question]): ReadonlyArray<JsonObject> => [
    { role: "user", content: question },
    { role: "assistant", content: [{ type: "tool_use", id: `t_${index}`, name: "look", input: args }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: `t_${index}`, content: result, is_error: failed }] },
    { role: "assistant", content: question }
  ])

export const messagesRequest = FC.tuple(
  members(
    { model: word, stream: FC.constant(true), max_tokens: FC.integer({ min: 2000, max: 90_000 }) },
    {
      system: FC.oneof(text, FC.array(FC.record({ type: FC.constant("text"), text }), { minLength: 1, maxLength: 2 })),
      temperature: FC.constantFrom(0, 0.5, 1),
      top_k: FC.integer({ min: 1, max: 50 }),
      stop_sequences: FC.constant(["END"]),
      tools: FC.array(
        FC.oneof(
          members(
            { name: word, input_schema: schema },
            { description: text, cache_control: cacheControl, defer_loading: FC.boolean() }
          ),
          FC.constant({ type: "web_search_20250305", name: "web_search" })
        ),
        { minLength: 1, maxLength: 3 }
      ),
      output_config: FC.constantFrom(
        { effort: "low" },
        { format: { type: "json_schema", schema: { type: "object" } }, task_budget: 5 }
      ),
      metadata: FC.constantFrom({ user_id: "u" }, { user_id: "u", more: 1 }),
      container: text
    }
  ),
  FC.integer({ min: 1, max: 4 }).chain((length) => turns(length, messagesTurn, messagesToolTurn))
).map(([body, messages]) => withMessages(body, [...messages, { role: "user", content: "last" }]))

/** Where to cut a text into byte chunks: sizes that are used in turn. */
export const cutSizes = FC.array(FC.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 })

export const cutBy = (bytes: Buffer, sizes: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const pieces: Array<Buffer> = []
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}

/** The events of a stream that comes in these pieces. */
export const decodeAll = (
  codec: WireCodec,
  stream: string,
  sizes: ReadonlyArray<number>
): ReadonlyArray<StreamEvent> => {
  const decoder = codec.makeStreamDecoder()
  return [...cutBy(Buffer.from(stream), sizes).flatMap((piece) => decoder.push(piece)), ...decoder.end()]
}

const chatDelta = FC.oneof(
  text.map((content): JsonObject => ({ content })),
  text.map((reasoning_content): JsonObject => ({ reasoning_content })),
  FC.constant<JsonObject>({ content: "" })
)

/** A well-formed chat stream in one of the legal framings. */
export const chatStream = FC.tuple(
  FC.array(chatDelta, { maxLength: 8 }),
  FC.dictionary(word, FC.integer(), { maxKeys: 3 }),
  FC.boolean(),
  FC.constantFrom("\n", "\r\n", "\r"),
  FC.constantFrom("data: ", "data:"),
  FC.boolean()
).map(([deltas, args, calls, newline, field, comments]) => {
  const chunk = (delta: JsonObject, finish: string | null = null) => ({
    id: "c",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }]
  })
  const fragments = JSON.stringify(args).match(/.{1,5}/gsu) ?? []
  const callChunks = calls
    ? [
        chunk({ tool_calls: [{ index: 0, id: "t", function: { name: "f", arguments: "" } }] }),
        ...fragments.map((piece) => chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] }))
      ]
    : []
  const chunks = [...deltas.map((delta) => chunk(delta)), ...callChunks, chunk({}, calls ? "tool_calls" : "stop")]
  const usage = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } }
  const data = [...chunks, usage].map((value) => JSON.stringify(value))
  return [...data, "[DONE]"]
    .map((line) => `${comments ? `: c${newline}` : ""}${field}${line}${newline}${newline}`)
    .join("")
})

/** A well-formed messages stream. */
export const messagesStream = FC.array(
  FC.tuple(FC.constantFrom("text", "thinking", "tool_use"), FC.array(text, { maxLength: 4 })),
  { maxLength: 5 }
).map((blocks) => {
  const events: Array<JsonObject> = [
    {
      type: "message_start",
      message: { id: "m", model: "c", content: [], usage: { input_tokens: 3, output_tokens: 1 } }
    }
  ]
  for (const [index, [kind, pieces]] of blocks.entries()) {
    const start =
      kind === "tool_use" ? { type: kind, id: `t${index}`, name: "f", input: {} } : { type: kind, [kind]: "" }
    events.push({ type: "content_block_start", index, content_block: start })
    for (const piece of kind === "tool_use" ? [JSON.stringify(pieces)] : pieces) {
      const delta =
        kind === "text"
          ? { type: "text_delta", text: piece }
          : kind === "thinking"
            ? { type: "thinking_delta", thinking: piece }
            : { type: "input_json_delta", partial_json: piece }
      events.push({ type: "content_block_delta", index, delta })
    }
    events.push({ type: "content_block_stop", index })
  }
  events.push({
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 9 }
  })
  events.push({ type: "message_stop" })
  return events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join("")
})
