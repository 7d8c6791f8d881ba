/**
 * The lockout of one model at one connection as a pure transition function . In memory, without timers, and only where the operator
 * turned it on.
 */

export interface LockoutProfile {
  readonly baseCooldownMs: number
  readonly maxCooldownMs: number
  readonly maxBackoffSteps: number
  readonly useExponentialBackoff: boolean
}

export interface LockoutState {
  readonly failures: number
  readonly lockedAtMs: number
  /** Epoch milliseconds; the model may be asked again from then on. */
  readonly untilMs: number
  readonly reason: string
}

/** Time in ms without failure after a lock after which counting starts anew. */
const escalationWindowMs = 30 * 60_000

export const isLocked = (state: LockoutState, nowMs: number): boolean => nowMs < state.untilMs

/** Checks whether an entry still has an effect: it locks, or the next failure would escalate. */
export const isAlive = (state: LockoutState, nowMs: number): boolean => nowMs < state.untilMs + escalationWindowMs

/**
 * Corrects the state after the clock was set back: the lock begins anew, no longer than it was. The caller keeps the
 * result.
 */
export const settle = (state: LockoutState, nowMs: number): LockoutState =>
  nowMs >= state.lockedAtMs
    ? state
    : { ...state, lockedAtMs: nowMs, untilMs: state.untilMs - (state.lockedAtMs - nowMs) }

export const lockMs = (profile: LockoutProfile, failures: number): number => {
  const steps = profile.useExponentialBackoff ? Math.min(failures - 1, profile.maxBackoffSteps) : 0
  return Math.min(profile.baseCooldownMs * 2 ** steps, profile.maxCooldownMs)
}

/** `hintMs`: how long the upstream itself said; it wins where it is longer. A longer lock is kept. */
export const fail = (
  state: LockoutState | null,
  profile: LockoutProfile,
  nowMs: number,
  reason: string,
  hintMs: number | null
): LockoutState => {
  const before = state !== null && isAlive(state, nowMs) ? state : null
  // Failures of calls that ran side by side are one failure.
  if (before !== null && isLocked(before, nowMs)) {
    return hintMs !== null && nowMs + hintMs > before.untilMs ? { ...before, untilMs: nowMs + hintMs, reason } : before
  }
  const failures = (before?.failures ?? 0) + 1
  return { failures, lockedAtMs: nowMs, untilMs: nowMs + Math.max(lockMs(profile, failures), hintMs ?? 0), reason }
}

/** A good answer halves the count; null when nothing is left of it. */
export const succeed = (state: LockoutState): LockoutState | null => {
  const failures = Math.floor(state.failures / 2)
  return failures === 0 ? null : { ...state, failures }
}
