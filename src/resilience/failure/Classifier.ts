/**
 * The one place that decides what a failure is. Pure and total: the table of `Rules.ts` is read from the top, the first row that
 * holds decides; a failure of the call itself needs no words and has its own table.
 */
import { causes } from "./Causes.ts"
import type { Failure, FailureKind, FailurePlace } from "./FailureKind.ts"
import { type HintPurpose, readHint } from "./Hints.ts"
import { policies } from "./Policy.ts"
import { holds, type Reopens, type Rule } from "./Rule.ts"
import { rules } from "./Rules.ts"
import { type FailureCause, type FailureSignal, readEvidence } from "./Signal.ts"
import { untilClock } from "./When.ts"

const purposes: Readonly<Partial<Record<FailureKind, HintPurpose>>> = {
  transient: "retry",
  capacity: "retry",
  rate_limit: "rate",
  forbidden: "retry",
  quota_exhausted: "quota"
}

/** Midnight in Los Angeles is 07:00 or 08:00 UTC; at 08:00 it is over in either case. */
const pacificMidnightUtc = 8

const reopensAfter = (reopens: Reopens, nowMs: number): number =>
  typeof reopens === "number" ? reopens : untilClock(reopens === "midnight_utc" ? 0 : pacificMidnightUtc, 0, nowMs)

const reasonOf = (place: FailureSignal["place"], status: number): string =>
  place === "status" ? `http_${status}` : place === "answer" ? "error_in_200" : "error_in_stream"

const placeOf = ({ contentBegan, place }: FailureSignal): FailurePlace =>
  place === "stream" ? (contentBegan ? "midway" : "opening") : place

/** An answer that is neither good nor an error (a redirect) counts as a bad gateway. */
const errorStatus = (status: number | null): number =>
  status !== null && status >= 400 && status <= 599 ? status : 502

const ofCause = (signal: FailureSignal, cause: FailureCause): Failure => {
  const { kind, status } = causes[cause]
  const settled: FailureKind = cause === "reset" && signal.contentBegan ? "truncated" : kind
  const { exhausts, scope } = policies[settled]
  return {
    kind: settled,
    place: "call",
    status,
    answered: false,
    reason: cause,
    rule: `cause_${cause}`,
    message: signal.message,
    hintMs: null,
    untilMs: null,
    scope,
    exhausts,
    contentBegan: signal.contentBegan
  }
}

/** The last row holds always. */
const last: Rule = { id: "unknown", when: {}, kind: "transient", source: "Nothing is known about it." }

/** Says what kind of failure it is. Never throws, whatever the bytes; the same signal gives the same failure. */
export const classify = (signal: FailureSignal): Failure => {
  if (signal.cause !== null) return ofCause(signal, signal.cause)
  const evidence = readEvidence(signal)
  const rule = rules.find((row) => holds(row, evidence)) ?? last
  const policy = policies[rule.kind]
  const status = rule.countsAs ?? errorStatus(evidence.status)
  const purpose = purposes[rule.kind]
  const { nowMs } = signal
  const { body, text } = evidence
  const toldMs = signal.problem?.retryAfterMs ?? null
  const hintMs = purpose === undefined ? null : readHint(purpose, { header: signal.header, body, text, toldMs, nowMs })
  const waitMs = hintMs ?? (rule.reopens === undefined ? null : reopensAfter(rule.reopens, nowMs))
  const said = signal.problem?.message ?? ""
  return {
    kind: rule.kind,
    place: placeOf(signal),
    status,
    answered: true,
    reason: reasonOf(signal.place, signal.status ?? status),
    rule: rule.id,
    message: said === "" ? signal.message : said,
    hintMs,
    untilMs: waitMs === null ? null : nowMs + waitMs,
    scope: rule.scope ?? policy.scope,
    exhausts: rule.exhausts ?? policy.exhausts,
    contentBegan: signal.contentBegan
  }
}
