/** Decides which answers to a line are followed by another try. Pure. */
import type { InferenceError } from "../../contract/domain/Errors.ts"
import { isOutOfTurn } from "../../plane/jobs/OrderedTurns.ts"
import { isArray, isObject, type Json, parseJson } from "../../wire/json/Json.ts"

export interface LineAnswer {
  readonly status: number
  readonly body: string
  /** Wait in ms by `Retry-After`; null without one. */
  readonly retryAfterMs: number | null
  readonly error: InferenceError | null
}

/** `untilExpiry`: as long as the batch lives. `sometimes`: a few times. `stopping`: by the next process. */
export type Verdict = "record" | "untilExpiry" | "sometimes" | "stopping"

/**
 * Codes that stay the same when the line is asked again: the day, budgets and tokens of the key, and requests that no
 * target fits.
 */
const lasting = new Set(["insufficient_quota", "rate_limit_exceeded", "no_suitable_target", "QUOTA_NOT_ALLOCATED"])
/** Passing, though no time is known. */
const passing = new Set(["queue_full", "overloaded"])

const errorOf = (body: string): { readonly code: string; readonly attempts: number } => {
  const parsed: Json | undefined = parseJson(body)
  const error = isObject(parsed) ? parsed["error"] : undefined
  if (!isObject(error)) return { code: "", attempts: 0 }
  const attempts = error["attempts"]
  return { code: String(error["code"] ?? ""), attempts: isArray(attempts) ? attempts.length : 0 }
}

/** A connection that its provider limits has the code of a key's limits, and is ready again. */
const isLasting = (code: string, error: InferenceError | null): boolean =>
  lasting.has(code) && !(code === "rate_limit_exceeded" && error?._tag === "TargetsUnavailable" && !error.isKeyLimit)

export const verdictOf = ({ body, error, retryAfterMs, status }: LineAnswer): Verdict => {
  if (status !== 429 && status !== 503) return "record"
  const { attempts, code } = errorOf(body)
  if (code === "server_shutting_down") return "stopping"
  // An upstream has answered. Its own limit is over soon, what else it refuses failed everywhere.
  if (attempts > 0) return status === 429 && code !== "insufficient_quota" ? "sometimes" : "record"
  if (isOutOfTurn(error)) return "untilExpiry"
  if (isLasting(code, error)) return "record"
  return retryAfterMs !== null || passing.has(code) ? "untilExpiry" : "record"
}
