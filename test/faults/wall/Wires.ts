/** The story as each wire tells it, taken apart so that a fault can leave out, repeat or break any part. */
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Story from "./Story.ts"

export type WallWire = Extract<WireName, "chat" | "messages" | "responses">

/** Wires that the wall asks in; the two more than upstreams have need a translation of whatever the upstream does. */
export type ClientWire = WallWire | Extract<WireName, "gemini" | "ollama">

/** A stream in its parts; played one after the other they are a complete answer. */
export interface Told {
  /** Before the first content: roles, ids, empty blocks. */
  readonly opening: ReadonlyArray<string>
  readonly content: ReadonlyArray<string>
  /** The finish reason, and the usage where the wire tells it there. */
  readonly finish: ReadonlyArray<string>
  /** The success terminator. */
  readonly mark: ReadonlyArray<string>
}

export interface Telling {
  readonly pieces?: ReadonlyArray<string>
  readonly tool?: boolean
  readonly withoutUsage?: boolean
}

export const all = (told: Told): ReadonlyArray<string> => [
  ...told.opening,
  ...told.content,
  ...told.finish,
  ...told.mark
]

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { readonly type: string } & Readonly<Record<string, unknown>>): string =>
  `event: ${value.type}\n${data(value)}`

const { fragments, id, name } = Story.tool

const chatStream = ({ pieces = Story.pieces, tool, withoutUsage }: Telling): Told => {
  const head = { id: "chatcmpl-wall", object: "chat.completion.chunk", created: 1_700_000_000, model: "wall" }
  const delta = (value: object, finish: string | null = null) =>
    data({ ...head, choices: [{ index: 0, delta: value, finish_reason: finish }] })
  const call = (value: object) => delta({ tool_calls: [{ index: 0, ...value }] })
  const usage = {
    prompt_tokens: Story.usage.in,
    completion_tokens: Story.usage.out,
    total_tokens: Story.usage.in + Story.usage.out
  }
  return {
    opening: [delta({ role: "assistant", content: tool ? null : "" })],
    content: tool
      ? [
          call({ id, type: "function", function: { name, arguments: "" } }),
          ...fragments.map((part) => call({ function: { arguments: part } }))
        ]
      : pieces.map((content) => delta({ content })),
    finish: [delta({}, tool ? "tool_calls" : "stop"), ...(withoutUsage ? [] : [data({ ...head, choices: [], usage })])],
    mark: ["data: [DONE]\n\n"]
  }
}

const messagesStream = ({ pieces = Story.pieces, tool, withoutUsage }: Telling): Told => {
  const message = {
    id: "msg_wall",
    type: "message",
    role: "assistant",
    model: "wall",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...(withoutUsage ? {} : { usage: { input_tokens: Story.usage.in, output_tokens: 1 } })
  }
  const block = tool ? { type: "tool_use", id, name, input: {} } : { type: "text", text: "" }
  const deltas = tool
    ? fragments.map((partial_json) => ({ type: "input_json_delta", partial_json }))
    : pieces.map((text) => ({ type: "text_delta", text }))
  return {
    opening: [
      named({ type: "message_start", message }),
      named({ type: "content_block_start", index: 0, content_block: block })
    ],
    content: deltas.map((delta) => named({ type: "content_block_delta", index: 0, delta })),
    finish: [
      named({ type: "content_block_stop", index: 0 }),
      named({
        type: "message_delta",
        delta: { stop_reason: tool ? "tool_use" : "end_turn", stop_sequence: null },
        ...(withoutUsage ? {} : { usage: { output_tokens: Story.usage.out } })
      })
    ],
    mark: [named({ type: "message_stop" })]
  }
}

const responsesItem = ({ pieces = Story.pieces, tool }: Telling, status: string) =>
  tool
    ? {
        id: "fc_wall",
        type: "function_call",
        call_id: id,
        name,
        status,
        arguments: status === "completed" ? Story.toolArguments : ""
      }
    : {
        id: "msg_wall",
        type: "message",
        role: "assistant",
        status,
        content: status === "completed" ? [{ type: "output_text", text: pieces.join(""), annotations: [] }] : []
      }

const responsesObject = (telling: Telling, status: string) => ({
  id: "resp_wall",
  object: "response",
  created_at: 1_700_000_000,
  status,
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  model: "wall",
  output: status === "completed" ? [responsesItem(telling, "completed")] : [],
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: "auto",
  tools: [],
  top_p: 1,
  ...(status !== "completed" || telling.withoutUsage
    ? { usage: null }
    : {
        usage: {
          input_tokens: Story.usage.in,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: Story.usage.out,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: Story.usage.in + Story.usage.out
        }
      })
})

const responsesStream = (telling: Telling): Told => {
  const { pieces = Story.pieces, tool } = telling
  let next = 0
  const event = (type: string, more: object): string => named({ type, sequence_number: next++, ...more })
  const item_id = tool ? "fc_wall" : "msg_wall"
  const at = { item_id, output_index: 0 }
  const inPart = { ...at, content_index: 0 }
  const part = (text: string) => ({ type: "output_text", text, annotations: [] })
  const item = (status: string) => ({ output_index: 0, item: responsesItem(telling, status) })
  return {
    opening: [
      event("response.created", { response: responsesObject(telling, "in_progress") }),
      event("response.in_progress", { response: responsesObject(telling, "in_progress") }),
      event("response.output_item.added", item("in_progress")),
      ...(tool ? [] : [event("response.content_part.added", { ...inPart, part: part("") })])
    ],
    content: tool
      ? fragments.map((delta) => event("response.function_call_arguments.delta", { ...at, delta }))
      : pieces.map((delta) => event("response.output_text.delta", { ...inPart, delta, logprobs: [] })),
    finish: [
      ...(tool
        ? [event("response.function_call_arguments.done", { ...at, name, arguments: Story.toolArguments })]
        : [
            event("response.output_text.done", { ...inPart, text: pieces.join(""), logprobs: [] }),
            event("response.content_part.done", { ...inPart, part: part(pieces.join("")) })
          ]),
      event("response.output_item.done", item("completed"))
    ],
    mark: [event("response.completed", { response: responsesObject(telling, "completed") })]
  }
}

const streams = { chat: chatStream, messages: messagesStream, responses: responsesStream } as const

export const streamed = (wire: WallWire, telling: Telling = {}): Told => streams[wire](telling)

const chatWhole = ({ pieces = Story.pieces, tool, withoutUsage }: Telling) => {
  const { usage, ...answer } = Fake.chatCompletion({
    ...(tool ? { toolCalls: [{ id, name, arguments: Story.toolArguments }] } : { text: pieces.join("") }),
    usage: Story.usage
  })
  return withoutUsage ? answer : { ...answer, usage }
}

const messagesWhole = ({ pieces = Story.pieces, tool, withoutUsage }: Telling) => {
  const { usage, ...answer } = Fake.messagesAnswer({
    ...(tool ? { toolCalls: [{ id, name, arguments: Story.toolArguments }] } : { text: pieces.join("") }),
    usage: Story.usage
  })
  return withoutUsage ? answer : { ...answer, usage }
}

/** The whole answer as a JSON value. */
export const whole = (wire: WallWire, telling: Telling = {}): object => {
  switch (wire) {
    case "chat":
      return chatWhole(telling)
    case "messages":
      return messagesWhole(telling)
    case "responses":
      return responsesObject(telling, "completed")
  }
}

/** An error event as an upstream of that wire puts it into a stream. */
export const errorEvent = (wire: WallWire, message: string, type: string): string => {
  switch (wire) {
    case "chat":
      return data({ error: { message, type, param: null, code: null } })
    case "messages":
      return named({ type: "error", error: { type, message } })
    case "responses":
      return named({ type: "error", sequence_number: 99, code: type, message, param: null })
  }
}

/** A comment or ping: a sign of life without an event of an answer. */
export const ping = (wire: WallWire): string => (wire === "messages" ? named({ type: "ping" }) : ": still here\n\n")
