/** Limits for the rate at which calls start (settings `requestQueue`). Plain state; times in epoch milliseconds. */

export interface RateLimits {
  readonly requestsPerMinute: number
  readonly minTimeBetweenRequestsMs: number
}

export interface RateLimiter {
  /** Milliseconds until the next call may start; 0 when it may now. */
  readonly waitMs: (rules: RateLimits, nowMs: number) => number
  /** A call starts. */
  readonly start: (nowMs: number) => void
  /** Nothing that started still counts. */
  readonly isIdle: (rules: RateLimits, nowMs: number) => boolean
}

const minuteMs = 60_000

/**
 * Makes a limiter of at most `requestsPerMinute` starts in any minute, counted exactly: the starts of the latest minute
 * are kept, and no more.
 */
export const makeRateLimiter = (): RateLimiter => {
  let starts: Array<number> = []
  /** Starts before it are older than a minute. */
  let first = 0
  let lastMs = Number.NEGATIVE_INFINITY

  const forget = (nowMs: number): void => {
    // The clock was set back: what it said before cannot be compared.
    if (lastMs > nowMs) {
      starts = []
      first = 0
      lastMs = Number.NEGATIVE_INFINITY
    }
    while (first < starts.length && nowMs - (starts[first] ?? 0) >= minuteMs) first += 1
    if (first > 1_000 && first * 2 > starts.length) {
      starts = starts.slice(first)
      first = 0
    }
  }

  const waitMs = ({ minTimeBetweenRequestsMs, requestsPerMinute }: RateLimits, nowMs: number): number => {
    forget(nowMs)
    const oldest = starts[starts.length - requestsPerMinute]
    const forMinute = starts.length - first < requestsPerMinute || oldest === undefined ? 0 : oldest + minuteMs - nowMs
    return Math.max(0, forMinute, lastMs + minTimeBetweenRequestsMs - nowMs)
  }

  return {
    waitMs,
    start: (nowMs) => {
      forget(nowMs)
      starts.push(nowMs)
      lastMs = nowMs
    },
    isIdle: (rules, nowMs) => {
      forget(nowMs)
      return first === starts.length && lastMs + rules.minTimeBetweenRequestsMs <= nowMs
    }
  }
}
