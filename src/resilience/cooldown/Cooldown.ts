/**
 * The cooldown of one connection as a pure transition function (document 1 "Connection cooldown", ruling A2.9). Lazy: a cooldown
 * whose time has passed is over for whoever looks. Terminal states stay until an operator acts or the credentials change.
 */
import type { ConnectionHealth, TestStatus } from "../../domain/Connection.ts"

export interface CooldownState extends ConnectionHealth {
  /** Epoch milliseconds of the latest failure that counted; null before the first. */
  readonly failedAtMs: number | null
}

export interface CooldownProfile {
  readonly baseCooldownMs: number
  /** Most doublings of the base. */
  readonly maxBackoffSteps: number
}

export type TerminalStatus = Extract<TestStatus, "banned" | "expired" | "credits_exhausted">

const terminal: ReadonlySet<TestStatus> = new Set<TestStatus>(["banned", "expired", "credits_exhausted"])

export const isTerminal = (status: TestStatus): status is TerminalStatus => terminal.has(status)

/** How long a failure keeps its connection out. */
export type Penalty =
  /** The base, doubled with every failure. */
  | { readonly _tag: "Backoff" }
  /** What the upstream said, or what is known of it, in milliseconds from now. */
  | { readonly _tag: "For"; readonly ms: number }
  | { readonly _tag: "Terminal"; readonly status: TerminalStatus }

export interface CooldownFailure {
  readonly penalty: Penalty
  /** When the failed call began: one that ran beside the failure that counted is the same trouble. */
  readonly startedMs: number
  readonly message: string
  readonly type: string
  readonly code: string | null
}

/** Milliseconds until the connection may be used; 0 when it may now, null when only an operator can help. */
export const waitMs = (state: ConnectionHealth, nowMs: number): number | null =>
  isTerminal(state.testStatus) ? null : Math.max(0, (state.rateLimitedUntilMs ?? 0) - nowMs)

const described = (failure: CooldownFailure): Pick<ConnectionHealth, "lastError" | "lastErrorType" | "errorCode"> => ({
  lastError: failure.message,
  lastErrorType: failure.type,
  errorCode: failure.code
})

/** Length of the backoff after `level` failures. */
export const backoffMs = (profile: CooldownProfile, level: number): number =>
  profile.baseCooldownMs * 2 ** Math.min(level, profile.maxBackoffSteps)

export const fail = (
  state: CooldownState,
  profile: CooldownProfile,
  nowMs: number,
  failure: CooldownFailure
): CooldownState => {
  if (isTerminal(state.testStatus)) return state
  const { penalty } = failure
  if (penalty._tag === "Terminal") {
    return { ...state, ...described(failure), testStatus: penalty.status, rateLimitedUntilMs: null, failedAtMs: nowMs }
  }
  const cooling = (state.rateLimitedUntilMs ?? 0) > nowMs
  const known = cooling || (state.failedAtMs !== null && failure.startedMs < state.failedAtMs)
  const proposed = penalty._tag === "For" ? penalty.ms : known ? 0 : backoffMs(profile, state.backoffLevel)
  const until = Math.max(state.rateLimitedUntilMs ?? 0, nowMs + proposed)
  if (known)
    return until > (state.rateLimitedUntilMs ?? 0)
      ? { ...state, rateLimitedUntilMs: until, testStatus: "unavailable" }
      : state
  return {
    ...described(failure),
    testStatus: "unavailable",
    rateLimitedUntilMs: until,
    backoffLevel: state.backoffLevel + 1,
    failedAtMs: nowMs
  }
}

/** A good answer of a call that began after the trouble clears it. */
export const succeed = (state: CooldownState, startedMs: number): CooldownState => {
  if (isTerminal(state.testStatus)) return state
  if (state.failedAtMs !== null && startedMs < state.failedAtMs) return state
  const clear = state.testStatus === "active" && state.backoffLevel === 0 && state.rateLimitedUntilMs === null
  return clear && state.lastError === null
    ? state
    : {
        testStatus: "active",
        rateLimitedUntilMs: null,
        lastError: null,
        lastErrorType: null,
        errorCode: null,
        backoffLevel: 0,
        failedAtMs: null
      }
}
