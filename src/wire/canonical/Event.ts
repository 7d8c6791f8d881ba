/**
 * Canonical stream events. A well-formed sequence is
 * `start (block_start delta* block_stop)* [usage]* finish [usage]* done`, where several tool-call blocks may be open at once.
 * `error` may come at any point and is the last one. A stream that ends without `done` or `error` is incomplete.
 */
import type { JsonObject } from "../json/Json.ts"
import type { Citation, OpaquePart, ReasoningState } from "./Conversation.ts"
import type { Stop } from "./Response.ts"
import type { UsagePatch } from "./Usage.ts"

export type BlockStart =
  | { readonly type: "text" }
  | { readonly type: "refusal" }
  | { readonly type: "reasoning" }
  | { readonly type: "tool_call"; readonly id: string; readonly name: string; readonly kind: "function" | "custom" }
  /** A complete block of one wire; deltas that only that wire has follow as `opaque` deltas. */
  | { readonly type: "opaque"; readonly part: OpaquePart }

export type BlockDelta =
  /** Text of a `text`, `refusal` or `reasoning` block, with the log probabilities of its tokens in the form of the chat wire. */
  | { readonly type: "text"; readonly text: string; readonly logprobs?: ReadonlyArray<JsonObject> }
  /** Argument text of a tool call; JSON for functions, free text for custom tools. */
  | { readonly type: "args"; readonly text: string }
  /** State of a `reasoning` block, or of a text or call (gemini); replaces an earlier one. */
  | { readonly type: "state"; readonly state: ReasoningState }
  | { readonly type: "citation"; readonly citation: Citation }
  | { readonly type: "opaque"; readonly part: OpaquePart }

/** A failure with the provider's own message, and the HTTP status it stands for. */
export interface UpstreamProblem {
  readonly status: number
  readonly message: string
  readonly type: string | null
  readonly code: string | null
  /** Time in ms to wait before a retry, when the body has it; absent otherwise. */
  readonly retryAfterMs?: number
  /** The error object as the provider wrote it; absent when there was none, or one too large to pass on. */
  readonly native?: JsonObject
}

export type StreamEvent =
  | {
      readonly type: "start"
      readonly id: string | null
      readonly model: string | null
      readonly createdMs: number | null
    }
  | { readonly type: "block_start"; readonly index: number; readonly block: BlockStart }
  | { readonly type: "delta"; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: "block_stop"; readonly index: number }
  | { readonly type: "usage"; readonly usage: UsagePatch }
  | { readonly type: "finish"; readonly stop: Stop }
  /** A keep-alive without content. */
  | { readonly type: "ping" }
  | { readonly type: "done" }
  | { readonly type: "error"; readonly problem: UpstreamProblem }
