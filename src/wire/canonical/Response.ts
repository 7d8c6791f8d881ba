/** The canonical answer: what every wire's non-streamed response is decoded to and encoded from. */
import type { JsonObject } from "../json/Json.ts"
import type { OpaquePart, ReasoningPart, RefusalPart, TextPart, ToolCallPart } from "./Conversation.ts"
import type { Usage } from "./Usage.ts"

/**
 * Reason for which the model stopped.
 * - `stop` the turn is over; `stop_sequence` one of the client's stop strings was met
 * - `length` the token limit; `context_window` the model's window is full
 * - `tool_calls` it waits for tool results; `pause` a server tool took long, the client may send the turn again
 * - `content_filter` the provider or model refused to continue
 * - `other` an unknown reason (see `raw`)
 */
export type StopReason =
  | "stop"
  | "stop_sequence"
  | "length"
  | "context_window"
  | "tool_calls"
  | "pause"
  | "content_filter"
  | "other"

export interface Stop {
  readonly reason: StopReason
  /** The value of the wire it came from. */
  readonly raw: string
  /** The stop string that was met, when the provider reports it. */
  readonly sequence: string | null
  /** The answer has its end mark alone: the reason is what it says of itself. */
  readonly isInferred?: true
}

/** Infers the stop of an answer that has come to its end mark without a reason. */
export const inferredStop = (hasToolCalls: boolean): Stop => ({
  reason: hasToolCalls ? "tool_calls" : "stop",
  raw: "",
  sequence: null,
  isInferred: true
})

export type AnswerPart = TextPart | RefusalPart | ReasoningPart | ToolCallPart | OpaquePart

export interface Response {
  /** The provider's id; null when it gave none. */
  readonly id: string | null
  /** The model as the provider names it; null when it gave none. */
  readonly model: string | null
  readonly createdMs: number | null
  readonly parts: ReadonlyArray<AnswerPart>
  readonly stop: Stop
  readonly usage: Usage | null
  /** `logprobs` in the form of the chat wire. */
  readonly logprobs: JsonObject | null
}
