/** How failover ended. */
import { shutdown } from "../../domain/Errors.ts"
import type { Target } from "../../routing/resolve/ModelResolver.ts"
import type { WalkEnd } from "../../routing/walk/Steps.ts"
import { shuttingDown } from "../../routing/walk/Unavailable.ts"
import type { AttemptResult } from "../attempt/AttemptResult.ts"

/** What reaches the client as an answer, whole or not. */
export type AnsweredResult = Exclude<AttemptResult, { _tag: "Failed" }>

export type FailoverEnd =
  | { readonly _tag: "Answered"; readonly target: Target; readonly result: AnsweredResult }
  | Exclude<WalkEnd, { _tag: "Left" }>

export const answered = (target: Target, result: AnsweredResult): FailoverEnd => ({ _tag: "Answered", target, result })

export const endOfWalk = (end: WalkEnd): FailoverEnd =>
  end._tag === "Left" ? answered(end.target, { _tag: "Aborted", report: null, firstContentMs: null }) : end

/** The same end when the gateway has stopped meanwhile: what was not answered is told to come back. */
export const stopped = (end: FailoverEnd): FailoverEnd => {
  const { retryAfterMs } = shutdown
  if (end._tag === "Answered") return end
  if (end._tag === "Failed" && isCutByStop(end)) return { ...end, retryAfterMs }
  return { _tag: "Unavailable", unready: shuttingDown, retryAfterMs }
}

/** The gateway has stopped while the upstream was asked: it may have answered in full, and bills what it was sent. */
export const isCutByStop = (end: FailoverEnd): boolean => end._tag === "Failed" && end.failure.reason === shutdown.code
