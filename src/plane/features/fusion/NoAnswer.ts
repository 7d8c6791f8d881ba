/** The end of a fusion without an answer: 503, with the last failure. Pure. */
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import type { Target } from "../../routing/resolve/ModelResolver.ts"
import type { FailoverEnd } from "../../failover/FailoverEnd.ts"
import type { MemberEnd } from "./Answers.ts"

const status = 503

const ownFailure = (failureStatus: number, reason: string, message: string): Failure => ({
  kind: "gateway_refusal",
  place: "call",
  status: failureStatus,
  answered: false,
  reason,
  rule: "fusion",
  message,
  hintMs: null,
  untilMs: null,
  scope: "none",
  exhausts: "nothing",
  contentBegan: false
})

const earliest = (times: ReadonlyArray<number | null>): number | null => {
  const known = times.filter((time) => time !== null)
  return known.length === 0 ? null : Math.min(...known)
}

/** Every member ended without an answer. */
export const noPanelAnswer = (ends: ReadonlyArray<MemberEnd>): FailoverEnd | null => {
  const failures = ends.flatMap(({ end }) => (end._tag === "Failed" ? [end] : []))
  const unavailable = ends.flatMap(({ end }) => (end._tag === "Unavailable" ? [end] : []))
  const asked = ends.flatMap(({ end }) => (end._tag === "Answered" ? [end] : []))
  const last = failures.at(-1)
  if (last !== undefined) {
    const message = `No model of the panel answered. ${last.failure.message}`
    const retryAfterMs = earliest(failures.map((end) => end.retryAfterMs))
    return { ...last, failure: { ...last.failure, status, message }, retryAfterMs }
  }
  const [silent] = asked
  if (silent !== undefined) {
    const failure = ownFailure(status, "panel_unanswered", "No model of the panel answered in time.")
    return { _tag: "Failed", target: silent.target, failure, retryAfterMs: null }
  }
  const [first] = unavailable
  if (first === undefined) return null
  const retryAfterMs = earliest(unavailable.map((end) => end.retryAfterMs))
  // The code of another status would contradict this one.
  const code = first.unready.status === status ? first.unready.code : "service_unavailable"
  return { ...first, unready: { ...first.unready, status, code }, retryAfterMs }
}

/** The client's request cannot be read as a conversation, so no member can be asked it. */
export const notTranslatable = (target: Target, message: string): FailoverEnd => ({
  _tag: "Failed",
  target,
  failure: ownFailure(400, "request_not_translatable", message),
  retryAfterMs: null
})
