/**
 * What each kind of failure means, once and for all. Data with a total type: a new kind without a row does not compile.
 * The client sees `Failure.status` and the upstream's words in every case (contract B2), also for a 401 or 403 of our credential:
 * a 5xx instead would make every SDK retry what no retry mends; `error.attempts` says whose credential it was.
 * The rules behind it: contract A2.5, A2.9 and B5 "Failures in a combo", document 1 "States and transitions".
 */
import type { CooldownScope, Exhausts, Failure, FailureKind } from "./FailureKind.ts"

/** How long a cooldown lasts. */
export type CooldownLength =
  /** base × 2^level of the connection's profile. */
  | { readonly by: "backoff" }
  /** What the upstream asked for, where the profile believes it (`useUpstreamRetryHints`); else backoff. */
  | { readonly by: "hint" }
  /** Until the window opens again, whatever the profile believes; `elseMs` where nobody knows when. */
  | { readonly by: "until"; readonly elseMs: number }

/** Terminal states of a connection (document 1). */
export type TerminalState = "banned" | "expired" | "credits_exhausted"

/** Whether a failure counts toward the provider's breaker: never, by its status, or by its status unless content had begun. */
export type BreakerRule = "never" | "by_status" | "by_status_if_silent"

export interface FailurePolicy {
  /** One more try at the same target is worth it, while nothing has reached the client. */
  readonly retrySameTarget: boolean
  readonly tryNextTarget: boolean
  /** A rule may narrow or widen it: `Failure.scope` decides. */
  readonly scope: CooldownScope
  readonly cooldown: CooldownLength
  /** The model may be locked out, when lockouts are on and the status is among their `errorCodes`. */
  readonly lockout: boolean
  readonly breaker: BreakerRule
  readonly terminal: TerminalState | null
  /** Refresh the access token, then try the same target once more. */
  readonly refreshToken: boolean
  /** A rule may change it: `Failure.exhausts` decides. */
  readonly exhausts: Exhausts
  /** The client is told when to come back, if that is known. */
  readonly carriesRetryAfter: boolean
}

const hour = 3_600_000
const backoff: CooldownLength = { by: "backoff" }
const byHint: CooldownLength = { by: "hint" }

/** Nobody's fault but the request's: the next target may do better, nothing is punished. */
const unpunished: FailurePolicy = {
  retrySameTarget: false,
  tryNextTarget: true,
  scope: "none",
  cooldown: backoff,
  lockout: false,
  breaker: "never",
  terminal: null,
  refreshToken: false,
  exhausts: "nothing",
  carriesRetryAfter: false
}

/** The provider failed: the connection cools, the breaker counts. */
const failing: FailurePolicy = {
  ...unpunished,
  retrySameTarget: true,
  scope: "connection",
  lockout: true,
  breaker: "by_status"
}

/** The account is out of the game until somebody acts; only this account, never its siblings. */
const ended = (terminal: TerminalState): FailurePolicy => ({ ...unpunished, terminal, exhausts: "connection" })

export const policies: Readonly<Record<FailureKind, FailurePolicy>> = {
  transient: { ...failing, cooldown: byHint, carriesRetryAfter: true },
  capacity: { ...failing, cooldown: byHint, carriesRetryAfter: true },
  rate_limit: {
    ...failing,
    retrySameTarget: false,
    cooldown: byHint,
    breaker: "never",
    exhausts: "connection",
    carriesRetryAfter: true
  },
  quota_exhausted: {
    ...failing,
    retrySameTarget: false,
    cooldown: { by: "until", elseMs: hour },
    breaker: "never",
    exhausts: "connection",
    carriesRetryAfter: true
  },
  credits_exhausted: ended("credits_exhausted"),
  // Whether the account is dead shows only after the refresh: then the same answer is `auth_expired`.
  auth_refreshable: { ...unpunished, retrySameTarget: true, refreshToken: true },
  auth_expired: ended("expired"),
  banned: ended("banned"),
  forbidden: { ...failing, retrySameTarget: false, breaker: "never" },
  model_not_found: { ...unpunished, scope: "model", lockout: true },
  model_no_access: { ...unpunished, scope: "model", lockout: true },
  // Another account of the same provider has the same model with the same limits.
  context_overflow: { ...unpunished, exhausts: "model" },
  too_large: unpunished,
  bad_request: { ...unpunished, exhausts: "model" },
  content_refused: { ...unpunished, exhausts: "model" },
  route: unpunished,
  // A model with nothing to say is not a provider that is down.
  empty_answer: { ...unpunished, retrySameTarget: true, scope: "model", lockout: true },
  unfinished: { ...unpunished, retrySameTarget: true, scope: "model", lockout: true },
  truncated: failing,
  malformed: failing,
  connect_timeout: { ...failing, retrySameTarget: false },
  first_byte_timeout: { ...failing, retrySameTarget: false },
  idle_timeout: { ...failing, retrySameTarget: false },
  // Slow is not dead: an answer that was still growing is cut by our limit, not by the provider's failure.
  total_timeout: { ...unpunished, tryNextTarget: false, breaker: "by_status_if_silent" },
  network: failing,
  gateway_refusal: unpunished,
  cancelled: { ...unpunished, tryNextTarget: false }
}

export const policyOf = (failure: Failure): FailurePolicy => policies[failure.kind]

const tripStatuses: ReadonlySet<number> = new Set([408, 500, 502, 503, 504])

/** Whether the failure is one more for the provider's breaker (A2.5: exactly 408, 500, 502, 503, 504). */
export const countsForBreaker = (failure: Failure): boolean => {
  const { breaker } = policies[failure.kind]
  if (breaker === "never" || !tripStatuses.has(failure.status)) return false
  return breaker === "by_status" || !failure.contentBegan
}

/** What a failure does to its connection; the shape of `cooldown/Cooldown.ts`. */
export type ConnectionPenalty =
  | { readonly _tag: "Backoff" }
  | { readonly _tag: "For"; readonly ms: number }
  | { readonly _tag: "Terminal"; readonly status: TerminalState }

const waitUntil = (untilMs: number, nowMs: number): ConnectionPenalty => ({
  _tag: "For",
  ms: Math.max(1, untilMs - nowMs)
})

/**
 * What the failure does to the connection, or with scope `provider` to each of the provider's; null when it does nothing to it.
 * `useUpstreamRetryHints` is the setting of the connection's class. A used-up window is waited for whatever it says.
 */
export const penaltyOf = (
  failure: Failure,
  useUpstreamRetryHints: boolean,
  nowMs: number
): ConnectionPenalty | null => {
  const { cooldown, terminal } = policies[failure.kind]
  if (terminal !== null) return { _tag: "Terminal", status: terminal }
  if (failure.scope === "none" || failure.scope === "model") return null
  if (cooldown.by === "until") return waitUntil(failure.untilMs ?? nowMs + cooldown.elseMs, nowMs)
  const believed = cooldown.by === "hint" && useUpstreamRetryHints && failure.untilMs !== null
  return believed ? waitUntil(failure.untilMs, nowMs) : { _tag: "Backoff" }
}
