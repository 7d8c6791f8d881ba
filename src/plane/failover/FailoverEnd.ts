/** Ends of failover. */
import { type InferenceError, shutdown } from "../../contract/domain/Errors.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { WalkEnd } from "../routing/walk/Steps.ts"
import { shuttingDown } from "../routing/walk/Unavailable.ts"
import type { AttemptResult } from "../attempt/AttemptResult.ts"
import type { Kept } from "../request/KeptAnswer.ts"

/** Results that reach the client as an answer, whole or not. */
export type AnsweredResult = Exclude<AttemptResult, { _tag: "Failed" }>

export type FailoverEnd =
  | { readonly _tag: "Answered"; readonly target: Target; readonly result: AnsweredResult }
  | Exclude<WalkEnd, { _tag: "Left" }>

/** A feature has answered in the place of a call. */
export interface KeptEnd {
  readonly _tag: "Kept"
  readonly kept: Kept
  /** Bytes of a successful answer that `answer` will give; null where it is none. */
  readonly rest: Buffer | null
  /** Gives the client its answer; run once the usage row is on file. */
  readonly answer: () => void
}

/** A feature lets the request go no further. */
export interface RefusedEnd {
  readonly _tag: "Refused"
  readonly error: InferenceError
}

/** End of a request: by its calls, or by a feature. */
export type RequestEnd = FailoverEnd | KeptEnd | RefusedEnd

export const answered = (target: Target, result: AnsweredResult): FailoverEnd => ({ _tag: "Answered", target, result })

export const endOfWalk = (end: WalkEnd): FailoverEnd =>
  end._tag === "Left" ? answered(end.target, { _tag: "Aborted", report: null, firstContentMs: null }) : end

/** Returns the same end after the gateway has stopped: an unanswered request is to be sent again later. */
export const stopped = (end: FailoverEnd): FailoverEnd => {
  const { retryAfterMs } = shutdown
  if (end._tag === "Answered") return end
  if (end._tag === "Failed" && isCutByStop(end)) return { ...end, retryAfterMs }
  return { _tag: "Unavailable", unready: shuttingDown, retryAfterMs }
}

/** The gateway has stopped while the upstream was asked: it may have answered in full, and bills what it was sent. */
export const isCutByStop = (end: RequestEnd): boolean => end._tag === "Failed" && end.failure.reason === shutdown.code

/** Returns the part of an answer that is still to come; null: none that could be looked at. */
export const restOf = (end: RequestEnd): Buffer | string | null => {
  if (end._tag === "Kept") return end.rest
  if (end._tag !== "Answered") return null
  switch (end.result._tag) {
    case "Completed":
      return end.result.body
    case "Broken":
      return end.result.ending
    case "Aborted":
      return null
  }
}
