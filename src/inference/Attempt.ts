/**
 * One call to one target. Until `commit` nothing has reached the client, so a failure is free to be followed by another target;
 * after it the answer is fixed. Native callbacks throughout: this is the hottest code of the house (no Effect per chunk).
 *
 * Phases: waiting (headers, then first content) → relaying → done. Timeouts: contract B5.
 */
import type { Stop } from "../wire/canonical/Response.ts"
import type { UpstreamProblem } from "../wire/canonical/Event.ts"
import type { Usage } from "../wire/canonical/Usage.ts"

/** What an answer told the books. */
export interface AnswerReport {
  readonly usage: Usage | null
  readonly stop: Stop | null
  readonly textChars: number
  readonly toolArgChars: number
  readonly reasoningChars: number
}

/** Why an attempt failed before anything reached the client. */
export interface AttemptFailure {
  /** Status the failure counts as; the upstream's own where it answered. */
  readonly status: number
  /** Whether `status` came from the upstream. */
  readonly answered: boolean
  /** Stable words: `http_503`, `refused`, `first_byte_timeout`, `empty_answer`, … */
  readonly reason: string
  readonly message: string
  readonly retryAfterMs: number | null
}

export type AttemptResult =
  /**
   * A complete answer. `body` is what is still to be sent: all of a `whole` answer or of one that is told as a stream
   * (`replayed`), the end of a stream whose beginning the client has already (`relayed`).
   */
  | {
      readonly _tag: "Completed"
      readonly form: "whole" | "replayed" | "relayed"
      readonly body: Buffer | string
      readonly report: AnswerReport
      readonly firstContentMs: number | null
      readonly dropped: ReadonlyArray<string>
    }
  /** The stream broke after content had reached the client. `ending` tells the client so in its own wire. */
  | {
      readonly _tag: "Broken"
      readonly ending: Buffer | string
      readonly problem: UpstreamProblem
      readonly reason: string
      readonly report: AnswerReport
      readonly firstContentMs: number | null
    }
  /** The client left. No report: the upstream was not asked yet. */
  | { readonly _tag: "Aborted"; readonly report: AnswerReport | null; readonly firstContentMs: number | null }
  | { readonly _tag: "Failed"; readonly failure: AttemptFailure }

export const noReport: AnswerReport = { usage: null, stop: null, textChars: 0, toolArgChars: 0, reasoningChars: 0 }

/** Reads `Retry-After`: whole seconds or an HTTP date. Null when absent, unreadable or in the past. */
export const retryAfterMs = (value: string | null, nowMs: number): number | null => {
  if (value === null || value === "") return null
  const seconds = Number(value)
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.round(seconds * 1000) : null
  const at = Date.parse(value)
  return Number.isFinite(at) && at > nowMs ? at - nowMs : null
}

/** Takes an upstream's body piece by piece and comes to a result. */
export interface BodyReader {
  /** False pauses the upstream until the client can take more. */
  readonly data: (chunk: Buffer) => boolean
  /** The body is complete. */
  readonly end: () => AttemptResult
  /** The body will not be completed: the result, given why. */
  readonly broken: (failure: AttemptFailure) => AttemptResult
  readonly report: () => AnswerReport
  /** Monotonic milliseconds of the first content; null before it. */
  readonly firstContentMs: () => number | null
}

export const failed = (failure: AttemptFailure): AttemptResult => ({ _tag: "Failed", failure })

/** A failure that the upstream did not put into words itself. */
export const ownFailure = (status: number, reason: string, message: string): AttemptFailure => ({
  status,
  answered: false,
  reason,
  message,
  retryAfterMs: null
})
