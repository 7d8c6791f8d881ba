/**
 * Decides which unhealthy targets may be asked because no other is left: of a connection in doubt, of a model that cools down after
 * a transient failure, and behind an open breaker that waits for its probe. Pure.
 */

/**
 * - `doubt` others go first, nothing else
 * - `cooldown` one request at a time per connection; the others wait for its answer
 * - `probe` the breaker lets one call through
 */
export type LastResort = "doubt" | "cooldown" | "probe"

/** Waits of an open breaker before one target. Milliseconds from now. */
export interface BreakerWait {
  /** Null while a probe is in progress. */
  readonly breakerMs: number | null
  /** Time until it lets a probe through where no other target is left. */
  readonly lastResortMs: number
  /** True when it was opened by failures of other models of the same account. */
  readonly isUnblamed: boolean
}

/** A probe is over soon, one way or the other. */
const probeAgainMs = 1_000

/**
 * Milliseconds until a breaker lets a probe of this target through where no other target is left: at once where only other models of the
 * account have failed.
 */
export const probeInMs = ({ breakerMs, isUnblamed, lastResortMs }: BreakerWait): number =>
  breakerMs === null ? probeAgainMs : isUnblamed ? 0 : lastResortMs

/**
 * Computes when a client may retry a target that is asked as a last resort: it need not wait for the end of a long
 * cooldown.
 */
export const retryAtMs = (untilMs: number, nowMs: number, baseCooldownMs: number): number =>
  Math.min(untilMs, nowMs + baseCooldownMs)

/** A target whose turn comes when no other is left. Times are epoch milliseconds. */
export interface PutOff<Turn> {
  readonly turn: Turn
  /** Time at which it can be called again. */
  readonly untilMs: number
}

/** Removes and returns the one that is ready soonest, of those that can be asked at once where there are any. */
export const takeSoonest = <Turn>(later: Array<PutOff<Turn>>, isFree: (turn: Turn) => boolean): Turn | undefined => {
  let best = -1
  let isBestFree = false
  for (const [index, { turn, untilMs }] of later.entries()) {
    const free = isFree(turn)
    const isBetter = best < 0 || (free === isBestFree ? untilMs < (later[best]?.untilMs ?? 0) : free)
    if (!isBetter) continue
    best = index
    isBestFree = free
  }
  return later.splice(best, best < 0 ? 0 : 1)[0]?.turn
}
