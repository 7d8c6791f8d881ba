/**
 * Classifies failures; the only place that does. Pure and total: the table of `Rules.ts` is read from the top, the first row
 * that holds decides; a failure of the call itself needs no text and has its own table.
 */
import { causes } from "./Causes.ts"
import type { Failure, FailureKind, FailurePlace } from "./FailureKind.ts"
import { type HintPurpose, readHint } from "./Hints.ts"
import { longestOrdinaryMs, policies, severityOf } from "./Policy.ts"
import { type Basis, basisOf, type Reopens, type Rule } from "./Rule.ts"
import { rules } from "./Rules.ts"
import { makeEcho } from "./Echo.ts"
import { type Evidence, type FailureCause, type FailureSignal, readEvidence } from "./Signal.ts"
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
    untilMs: signal.waitMs === undefined ? null : signal.nowMs + Math.max(1, signal.waitMs),
    scope,
    exhausts,
    contentBegan: signal.contentBegan
  }
}

/** The last row holds always. */
const last: Rule = { id: "unknown", when: {}, kind: "transient", source: "Nothing is known about it." }

interface Finding {
  readonly rule: Rule
  readonly basis: Basis
}

const find = (evidence: Evidence, suits: (basis: Basis) => boolean): Finding => {
  for (const rule of rules) {
    const basis = basisOf(rule, evidence)
    if (basis !== null && suits(basis)) return { rule, basis }
  }
  return { rule: last, basis: "status" }
}

const always = (): boolean => true
const isFact = (basis: Basis): boolean => basis !== "words"

/** The failure that the row stands for. */
const failureOf = (signal: FailureSignal, evidence: Evidence, rule: Rule, withWords: boolean): Failure => {
  const policy = policies[rule.kind]
  const status = rule.countsAs ?? errorStatus(evidence.status)
  const purpose = purposes[rule.kind]
  const { header, nowMs, problem } = signal
  const { body, isOwn } = evidence
  const text = withWords ? evidence.text : ""
  const wireRetryMs = problem?.retryAfterMs ?? null
  const hintMs = purpose === undefined ? null : readHint(purpose, { header, body, text, isOwn, wireRetryMs, nowMs })
  const waitMs = hintMs ?? (rule.reopens === undefined ? null : reopensAfter(rule.reopens, nowMs))
  const said = problem?.message ?? ""
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

/** Checks for a wait that rests on text alone and is longer than any ordinary cooldown. */
const waitsLongOnWords = (withText: Failure, ground: Failure): boolean =>
  withText.hintMs !== null && withText.hintMs !== ground.hintMs && withText.hintMs > longestOrdinaryMs

/**
 * Classifies a failure. Never throws, whatever the bytes; the same signal gives the same failure.
 *
 * Text and codes with consequences for an account are looked at twice: the second time without all that the caller sent. A result
 * that then rests on text alone, and goes beyond status and codes, is a suspicion.
 */
export const classify = (signal: FailureSignal): Failure => {
  if (signal.cause !== null) return ofCause(signal, signal.cause)
  const asItStands = readEvidence(signal, null)
  const first = find(asItStands, always)
  const failure = failureOf(signal, asItStands, first.rule, true)
  if (severityOf(failure) === 0) return failure
  const waitsOnWords = failure.hintMs !== failureOf(signal, asItStands, first.rule, false).hintMs
  if (first.basis === "status" && !waitsOnWords) return failure
  const evidence = readEvidence(signal, makeEcho(signal.sent))
  const { basis, rule } = find(evidence, always)
  const withText = failureOf(signal, evidence, rule, true)
  const ground = failureOf(signal, evidence, isFact(basis) ? rule : find(evidence, isFact).rule, false)
  const isMore = isFact(basis)
    ? basis === "status" && waitsLongOnWords(withText, ground)
    : severityOf(withText) > severityOf(ground) || waitsLongOnWords(withText, ground)
  if (!isMore) return withText
  // An error inside a 200 without a status: nothing is certain.
  const certain = evidence.status === null ? null : ground
  return { ...withText, suspicion: { ground: certain, fingerprint: signal.sent?.fingerprint() ?? "" } }
}
