/**
 * Consequences of each kind of failure. Data with a total type: a new kind without a row does not compile. The client gets
 * `Failure.status` and the upstream's message in every case, also for a 401 or 403 of the gateway's own credential: SDKs would retry a
 * 5xx, and no retry helps here; `error.attempts` says whose credential it was. docs/resilience.md has it as a table.
 */
import type { CooldownScope, Exhausts, Failure, FailureKind } from "./FailureKind.ts"

/** Length of a cooldown. */
export type CooldownLength =
  /** base × 2^level of the connection's profile. */
  | { readonly by: "backoff" }
  /** Time that the upstream asked for, where the profile allows it (`useUpstreamRetryHints`); else backoff. */
  | { readonly by: "hint" }
  /** Time until the window opens again, whatever the profile allows; `elseMs` where that time is not known. */
  | { readonly by: "until"; readonly elseMs: number }

/** Terminal states of a connection. They stay until an operator acts. */
export type TerminalState = "banned" | "expired" | "credits_exhausted"

/**
 * Rule by which a failure counts toward the provider's breaker: never, by its status, or by its status unless content
 * had begun.
 */
export type BreakerRule = "never" | "by_status" | "by_status_if_silent"

export interface FailurePolicy {
  /** Another try at the same target may succeed. Used only while nothing has reached the client. */
  readonly retrySameTarget: boolean
  readonly tryNextTarget: boolean
  /** A rule may narrow or widen it: `Failure.scope` decides. */
  readonly scope: CooldownScope
  readonly cooldown: CooldownLength
  /** The weight of the failure, unless an event of a stream reported it. */
  readonly weight: Weight
  /**
   * The weight when an event of a stream reported it (`opening`, `midway`). An upstream that began a stream had accepted the account, so
   * its event may be about this one answer only (a model behind a relay, a replay). A `doubt` puts no account in a terminal state, does
   * not exclude the only target, and is not stored. The next refusal by status decides.
   */
  readonly inStream: Weight
  /** The model may be locked out, when lockouts are on and the status is among their `errorCodes`. */
  readonly lockout: boolean
  readonly breaker: BreakerRule
  readonly terminal: TerminalState | null
  /** Refresh the access token, then try the same target once more. */
  readonly refreshToken: boolean
  /** A rule may change it: `Failure.exhausts` decides. */
  readonly exhausts: Exhausts
  /** True when the client gets a time to come back, if it is known. */
  readonly carriesRetryAfter: boolean
}

const hour = 3_600_000

/**
 * Weight of a failure. `firm`: the target is left out until the time is over, or for good. `doubt`: others go first for that
 * long, but it is still asked when no other target is left.
 */
export type Weight = "firm" | "doubt"

/** Milliseconds before an account without a token is looked at again where the next renewal has no time of its own. */
const tokenRestMs = 5_000
/** Milliseconds for which an account is doubted after an event inside a stream reported a terminal state. */
export const doubtedEndMs = hour
const backoff: CooldownLength = { by: "backoff" }
const byHint: CooldownLength = { by: "hint" }

/** The request is at fault: the next target may do better, and no state changes. */
const unpunished: FailurePolicy = {
  retrySameTarget: false,
  tryNextTarget: true,
  scope: "none",
  cooldown: backoff,
  weight: "firm",
  inStream: "firm",
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

/** The account is unusable until an operator acts; only this account, not others at the provider. */
const ended = (terminal: TerminalState): FailurePolicy => ({
  ...unpunished,
  inStream: "doubt",
  terminal,
  exhausts: "connection"
})

export const policies: Readonly<Record<FailureKind, FailurePolicy>> = {
  transient: { ...failing, cooldown: byHint, carriesRetryAfter: true },
  capacity: { ...failing, cooldown: byHint, carriesRetryAfter: true },
  rate_limit: {
    ...failing,
    retrySameTarget: false,
    cooldown: byHint,
    inStream: "doubt",
    breaker: "never",
    exhausts: "connection",
    carriesRetryAfter: true
  },
  quota_exhausted: {
    ...failing,
    retrySameTarget: false,
    cooldown: { by: "until", elseMs: hour },
    inStream: "doubt",
    breaker: "never",
    exhausts: "connection",
    carriesRetryAfter: true
  },
  credits_exhausted: ended("credits_exhausted"),
  // Whether the account is dead shows only after the refresh: then the same answer is `auth_expired`.
  auth_refreshable: { ...unpunished, retrySameTarget: true, refreshToken: true },
  // No call was made, and none would be before the token endpoint is asked again.
  token_refresh_failed: {
    ...unpunished,
    scope: "connection",
    cooldown: { by: "until", elseMs: tokenRestMs },
    exhausts: "connection",
    carriesRetryAfter: true
  },
  auth_expired: ended("expired"),
  banned: ended("banned"),
  forbidden: { ...failing, inStream: "doubt", retrySameTarget: false, breaker: "never" },
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
  // It came to an orderly end: a server's habit, not its death. Others go first; who is alone is asked as before.
  unfinished: {
    ...unpunished,
    retrySameTarget: true,
    scope: "connection",
    weight: "doubt",
    inStream: "doubt",
    lockout: true
  },
  // Of the model, not of the provider: another try may go better, and nothing is held back meanwhile.
  unusable_output: { ...unpunished, retrySameTarget: true },
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

const weightAt = ({ kind, place }: Failure): Weight =>
  place === "opening" || place === "midway" ? policies[kind].inStream : policies[kind].weight

/** Decides the weight of a failure by its kind, its place, and its evidence. */
export const weightOf = (failure: Failure): Weight => (failure.suspicion === undefined ? weightAt(failure) : "doubt")

/** The longest backoff of an API key with the usual settings: no wait beyond it is an ordinary cooldown. */
export const longestOrdinaryMs = 96_000

/**
 * Rates the consequences of a failure: 0 none, 1 a cooldown of one model, 2 an ordinary cooldown of the connection, 3 more than
 * that (a used-up window, all accounts of the provider, the end of the account).
 */
export const severityOf = ({ kind, scope }: Failure): 0 | 1 | 2 | 3 => {
  const { cooldown, terminal } = policies[kind]
  if (terminal !== null || scope === "provider") return 3
  if (scope === "none") return 0
  if (cooldown.by === "until") return 3
  return scope === "model" ? 1 : 2
}

/** Checks whether the failure ends the account. */
export const condemns = (failure: Failure): boolean =>
  policies[failure.kind].terminal !== null && weightOf(failure) === "firm"

const tripStatuses: ReadonlySet<number> = new Set([408, 500, 502, 503, 504])

/** Checks whether the failure counts for the provider's breaker (exactly 408, 500, 502, 503, 504). */
export const countsForBreaker = (failure: Failure): boolean => {
  const { breaker } = policies[failure.kind]
  if (breaker === "never" || !tripStatuses.has(failure.status)) return false
  return breaker === "by_status" || !failure.contentBegan
}

/** Effect of a failure on its connection; the shape of `cooldown/Cooldown.ts`. */
export type ConnectionPenalty =
  | { readonly _tag: "Backoff" }
  /** Others go first for so long; null: for as long as the backoff. */
  | { readonly _tag: "Doubt"; readonly ms: number | null }
  | { readonly _tag: "For"; readonly ms: number }
  | { readonly _tag: "Terminal"; readonly status: TerminalState }

const left = (untilMs: number, nowMs: number): number => Math.max(1, untilMs - nowMs)

/** Computes its length in milliseconds; null: as long as the backoff. */
const lengthOf = (
  { cooldown }: FailurePolicy,
  { untilMs }: Failure,
  useUpstreamRetryHints: boolean,
  nowMs: number
): number | null => {
  if (cooldown.by === "until") return left(untilMs ?? nowMs + cooldown.elseMs, nowMs)
  return cooldown.by === "hint" && useUpstreamRetryHints && untilMs !== null ? left(untilMs, nowMs) : null
}

/**
 * Decides the effect of the failure on the connection, or with scope `provider` on each of the provider's; null when there is
 * none. `useUpstreamRetryHints` is the setting of the connection's class. A used-up window is waited for whatever it says.
 */
export const penaltyOf = (
  failure: Failure,
  useUpstreamRetryHints: boolean,
  nowMs: number
): ConnectionPenalty | null => {
  const policy = policies[failure.kind]
  const isDoubt = weightOf(failure) === "doubt"
  const { terminal } = policy
  if (terminal !== null) return isDoubt ? { _tag: "Doubt", ms: doubtedEndMs } : { _tag: "Terminal", status: terminal }
  if (failure.scope === "none" || failure.scope === "model") return null
  const ms = lengthOf(policy, failure, useUpstreamRetryHints, nowMs)
  if (isDoubt) return { _tag: "Doubt", ms }
  return ms === null ? { _tag: "Backoff" } : { _tag: "For", ms }
}

/** Checks whether the model may be locked out for it. A lock holds for all callers, so a suspicion is not enough. */
export const locksModel = (failure: Failure): boolean =>
  policies[failure.kind].lockout && failure.suspicion === undefined

/**
 * Computes how long the model is left out at the connection whether lockouts are on or not, in milliseconds; null: not at all. A
 * window that is used up refuses every call before it opens again, so this is no lockout that an operator would have to switch on.
 */
export const modelHoldOf = (failure: Failure, nowMs: number): number | null => {
  const policy = policies[failure.kind]
  if (failure.scope !== "model" || policy.cooldown.by !== "until" || weightOf(failure) !== "firm") return null
  return lengthOf(policy, failure, true, nowMs)
}
