/** A complete answer as the events of a stream, for upstreams that answer in one piece although a stream was requested. */
import { isArray, isObject, type JsonObject } from "../json/Json.ts"
import type { ReasoningState } from "./Conversation.ts"
import type { BlockDelta, BlockStart, StreamEvent } from "./Event.ts"
import type { AnswerPart, Response } from "./Response.ts"

const startOf = (part: AnswerPart): BlockStart => {
  switch (part.type) {
    case "text":
    case "refusal":
    case "reasoning":
      return { type: part.type }
    case "tool_call":
      return { type: "tool_call", id: part.id, name: part.name, kind: part.kind }
    case "opaque":
      return { type: "opaque", part }
  }
}

const stateOf = ({ state }: { readonly state?: ReasoningState }): ReadonlyArray<BlockDelta> =>
  state === undefined ? [] : [{ type: "state", state }]

const deltasOf = (part: AnswerPart, logprobs: ReadonlyArray<JsonObject>): ReadonlyArray<BlockDelta> => {
  switch (part.type) {
    case "text":
      return [
        { type: "text", text: part.text, ...(logprobs.length === 0 ? {} : { logprobs }) },
        ...(part.citations ?? []).map((citation): BlockDelta => ({ type: "citation", citation })),
        ...stateOf(part)
      ]
    case "refusal":
      return [{ type: "text", text: part.text }]
    case "reasoning":
      return [...(part.text === "" ? [] : [{ type: "text", text: part.text } as const]), ...stateOf(part)]
    case "tool_call":
      return [{ type: "args", text: part.args }, ...stateOf(part)]
    case "opaque":
      return []
  }
}

/** The events of a complete stream equivalent to `response`. */
export const replay = (response: Response): ReadonlyArray<StreamEvent> => {
  const content = response.logprobs?.["content"]
  const logprobs = isArray(content) ? content.filter(isObject) : []
  // Log probabilities belong to the whole text: sent with its first part.
  const first = response.parts.findIndex((part) => part.type === "text" && part.text !== "")
  return replayed(response, (index) => (index === first ? logprobs : []))
}

const replayed = (
  response: Response,
  logprobsAt: (index: number) => ReadonlyArray<JsonObject>
): ReadonlyArray<StreamEvent> => [
  { type: "start", id: response.id, model: response.model, createdMs: response.createdMs },
  ...response.parts.flatMap((part, index): ReadonlyArray<StreamEvent> => [
    { type: "block_start", index, block: startOf(part) },
    ...deltasOf(part, logprobsAt(index)).map((delta): StreamEvent => ({ type: "delta", index, delta })),
    { type: "block_stop", index }
  ]),
  ...(response.usage === null ? [] : [{ type: "usage", usage: response.usage } as const]),
  { type: "finish", stop: response.stop },
  { type: "done" }
]
