/** How the walk over the targets ended. */
import { shutdown } from "../../domain/Errors.ts"
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import type { Target } from "../../routing/ModelResolver.ts"
import type { Unready } from "../../routing/TargetHealth.ts"
import { isSoonOver } from "../../routing/walk/Exhausted.ts"
import type { AttemptResult } from "../Attempt.ts"

/** What reaches the client as an answer, whole or not. */
export type AnsweredResult = Exclude<AttemptResult, { _tag: "Failed" }>

export type LoopEnd =
  | { readonly _tag: "Answered"; readonly target: Target; readonly result: AnsweredResult }
  /** The last target's failure, when somebody was asked. */
  | {
      readonly _tag: "Failed"
      readonly target: Target
      readonly failure: Failure
      readonly retryAfterMs: number | null
    }
  /** Nobody could be asked. */
  | { readonly _tag: "Unavailable"; readonly unready: Unready; readonly retryAfterMs: number | null }

export const answered = (target: Target, result: AnsweredResult): LoopEnd => ({ _tag: "Answered", target, result })

export const clientLeft = (target: Target): LoopEnd =>
  answered(target, { _tag: "Aborted", report: null, firstContentMs: null })

export const queueFull: Unready = {
  rule: "cooldown",
  untilMs: null,
  terminal: null,
  kind: null,
  detail: "The connection takes no more requests now, and its queue is full or too slow",
  status: 503,
  code: "queue_full"
}

/** `queueFull`, and when it is over where the throttle knows. */
export const fullUntil = (retryAfterMs: number | undefined, nowMs: number): Unready =>
  retryAfterMs === undefined ? queueFull : { ...queueFull, untilMs: nowMs + retryAfterMs }

/** The decision left nobody to ask, and says why. */
export const nobodySuits = (reason: string): Unready => ({
  ...queueFull,
  detail: `No target may serve this request: ${reason}`,
  code: "no_suitable_target"
})

const shuttingDown: Unready = { ...queueFull, detail: shutdown.message, code: shutdown.code }

/** The same end when the gateway has stopped meanwhile: what was not answered is told to come back. */
export const stopped = (end: LoopEnd): LoopEnd => {
  const { retryAfterMs } = shutdown
  if (end._tag === "Answered") return end
  if (end._tag === "Failed" && isCutByStop(end)) return { ...end, retryAfterMs }
  return { _tag: "Unavailable", unready: shuttingDown, retryAfterMs }
}

/** The gateway has stopped while the upstream was asked: it may have answered in full, and bills what it was sent. */
export const isCutByStop = (end: LoopEnd): boolean => end._tag === "Failed" && end.failure.reason === shutdown.code

export const isPassing = (end: LoopEnd): boolean => {
  if (end._tag === "Answered") return false
  return isSoonOver(end._tag === "Failed" ? end.failure.kind : end.unready.kind)
}
