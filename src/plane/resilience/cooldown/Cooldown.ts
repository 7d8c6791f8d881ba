/**
 * The cooldown of one connection as a pure transition function. No timer ends it: it is over when its time has passed. Terminal states
 * stay until an operator acts or the credentials change. The rules are in docs/resilience.md.
 */
import { type ConnectionHealth, healthy, type TestStatus } from "../../../subjects/connections/entity.ts"

export interface CooldownState extends ConnectionHealth {
  /** Epoch milliseconds of the latest failure that set the cooldown; null before the first. A success leaves it. */
  readonly failedAtMs: number | null
  /** Epoch milliseconds since which the connection is as new; calls that began before say nothing about it. Null if always. */
  readonly resetAtMs: number | null
  /** Epoch milliseconds until which others are asked first (`Penalty` Doubt); null while it is not doubted. */
  readonly doubtedUntilMs: number | null
}

export interface CooldownProfile {
  readonly baseCooldownMs: number
  /** Most doublings of the base. */
  readonly maxBackoffSteps: number
}

export type TerminalStatus = Extract<TestStatus, "banned" | "expired" | "credits_exhausted">

const terminal: ReadonlySet<TestStatus> = new Set<TestStatus>(["banned", "expired", "credits_exhausted"])

export const isTerminal = (status: TestStatus): status is TerminalStatus => terminal.has(status)

/** Penalty of a failure: how long it keeps its connection out. */
export type Penalty =
  /** The base, doubled with every failure. */
  | { readonly _tag: "Backoff" }
  /** Time by the upstream, or a known one, in milliseconds from now. */
  | { readonly _tag: "For"; readonly ms: number }
  /** Doubt: it is not left out, but others are asked first for so many ms; null: for as long as the backoff. */
  | { readonly _tag: "Doubt"; readonly ms: number | null }
  | { readonly _tag: "Terminal"; readonly status: TerminalStatus }

export interface CooldownFailure {
  readonly penalty: Penalty
  /** Start of the failed call: one that ran beside the failure that counted is the same trouble. */
  readonly startedMs: number
  readonly message: string
  readonly type: string
  readonly code: string | null
}

/** Milliseconds until the connection may be used; 0 when it may now, null when only an operator can help. */
export const waitMs = (state: ConnectionHealth, nowMs: number): number | null =>
  isTerminal(state.testStatus) ? null : Math.max(0, (state.rateLimitedUntilMs ?? 0) - nowMs)

/** Milliseconds for which other connections are asked first; 0 when none has to be preferred. */
export const doubtMs = ({ doubtedUntilMs }: CooldownState, nowMs: number): number =>
  Math.max(0, (doubtedUntilMs ?? 0) - nowMs)

/** No time will come at which it has to wait. */
export const isAtRest = ({ doubtedUntilMs, rateLimitedUntilMs, testStatus }: CooldownState): boolean =>
  doubtedUntilMs === null && rateLimitedUntilMs === null && !isTerminal(testStatus)

/**
 * Corrects the state after the clock was set back: the wait that was left when the trouble was noticed begins anew, so that it is
 * never longer than intended. The caller keeps the result; otherwise the wait never ends.
 */
export const settle = (state: CooldownState, nowMs: number): CooldownState => {
  const { doubtedUntilMs, failedAtMs, rateLimitedUntilMs } = state
  if (failedAtMs === null || nowMs >= failedAtMs) return state
  const backMs = failedAtMs - nowMs
  return {
    ...state,
    failedAtMs: nowMs,
    rateLimitedUntilMs: rateLimitedUntilMs === null ? null : rateLimitedUntilMs - backMs,
    doubtedUntilMs: doubtedUntilMs === null ? null : doubtedUntilMs - backMs
  }
}

const described = (failure: CooldownFailure): Pick<ConnectionHealth, "lastError" | "lastErrorType" | "errorCode"> => ({
  lastError: failure.message,
  lastErrorType: failure.type,
  errorCode: failure.code
})

/** Length of the backoff after `level` failures. */
const backoffMs = (profile: CooldownProfile, level: number): number =>
  profile.baseCooldownMs * 2 ** Math.min(level, profile.maxBackoffSteps)

/**
 * Checks whether a call began before a mark. A mark in the future was set before the clock went back, and does not
 * count any more.
 */
const beganBefore = (startedMs: number, markMs: number | null, nowMs: number): boolean =>
  markMs !== null && markMs <= nowMs && startedMs <= markMs

/** A doubt is like a cooldown in how long it lasts and how it grows, and leaves alone what the connection is. */
const doubt = (
  state: CooldownState,
  profile: CooldownProfile,
  nowMs: number,
  failure: CooldownFailure,
  doubtMs: number | null
): CooldownState => {
  const beforeMs = Math.max(state.rateLimitedUntilMs ?? 0, state.doubtedUntilMs ?? 0)
  const known = beforeMs > nowMs || beganBefore(failure.startedMs, state.failedAtMs, nowMs)
  if (known && doubtMs === null) return state
  const doubtedUntilMs = nowMs + (doubtMs ?? backoffMs(profile, state.backoffLevel))
  if (doubtedUntilMs <= beforeMs) return state
  const backoffLevel = known ? state.backoffLevel : state.backoffLevel + 1
  return { ...state, ...described(failure), failedAtMs: nowMs, doubtedUntilMs, backoffLevel }
}

/**
 * Updates the state after a failed call. Failures while the connection cools, and of calls that ran beside the one that counted,
 * are the same trouble: they raise no level, but the upstream's report may make the cooldown longer, never shorter.
 */
export const fail = (
  state: CooldownState,
  profile: CooldownProfile,
  nowMs: number,
  failure: CooldownFailure
): CooldownState => {
  const { penalty, startedMs } = failure
  if (isTerminal(state.testStatus)) return state
  // The failure of credentials that were replaced meanwhile.
  if (state.resetAtMs !== null && startedMs < state.resetAtMs && state.resetAtMs <= nowMs) return state
  if (penalty._tag === "Doubt") return doubt(state, profile, nowMs, failure, penalty.ms)
  const troubled = { ...state, ...described(failure), failedAtMs: nowMs }
  if (penalty._tag === "Terminal") return { ...troubled, testStatus: penalty.status, rateLimitedUntilMs: null }
  const beforeMs = state.rateLimitedUntilMs ?? 0
  const known = beforeMs > nowMs || beganBefore(startedMs, state.failedAtMs, nowMs)
  if (known && penalty._tag === "Backoff") return state
  const untilMs = nowMs + (penalty._tag === "For" ? penalty.ms : backoffMs(profile, state.backoffLevel))
  if (known && untilMs <= beforeMs) return state
  const backoffLevel = known ? state.backoffLevel : state.backoffLevel + 1
  return { ...troubled, testStatus: "unavailable", rateLimitedUntilMs: untilMs, backoffLevel }
}

/** A good answer of a call that began after the trouble clears it. */
export const succeed = (state: CooldownState, startedMs: number): CooldownState => {
  if (isTerminal(state.testStatus)) return state
  if (state.failedAtMs !== null && startedMs < state.failedAtMs) return state
  const { backoffLevel, doubtedUntilMs, lastError, rateLimitedUntilMs, testStatus } = state
  const clear = testStatus === "active" && backoffLevel === 0 && rateLimitedUntilMs === null
  if (clear && lastError === null && doubtedUntilMs === null) return state
  return { ...state, ...healthy, testStatus: "active", doubtedUntilMs: null }
}
