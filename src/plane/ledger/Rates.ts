/**
 * Rates of a key: at most `limit` requests in any stretch of `window` seconds, and a limited number of sessions at once. Exact: the times of
 * the last requests are kept. Times are monotonic milliseconds, so that a clock that is set changes nothing.
 */
import type { RateLimit } from "../../subjects/keys/entity.ts"

/** Time in ms after which what workers hold of a rate may have come back. */
const heldRetryMs = 100

/** The times of the newest requests, at most as many as the limit; the memory grows with use only. */
export class SlidingLog {
  readonly limit: number
  readonly windowMs: number
  /** Requests that workers may let in by what they hold. */
  reserved = 0
  #newest = Number.NEGATIVE_INFINITY
  #times: Array<number> = []
  /** Place of the oldest time once the log is full. */
  #oldest = 0

  constructor({ limit, window }: RateLimit) {
    this.limit = limit
    this.windowMs = window * 1_000
  }

  /** Hot: 0 when a request may come now, else the milliseconds until one may. */
  waitMs(nowMs: number): number {
    if (this.reserved > 0) return this.#waitBesideMs(nowMs)
    if (this.#times.length < this.limit) return 0
    const oldest = this.#times[this.#oldest] ?? 0
    return Math.max(0, oldest + this.windowMs - nowMs)
  }

  /** Requests that may come now. */
  left(nowMs: number): number {
    return this.limit - this.reserved - this.#countedAt(nowMs)
  }

  /** Hot. A time before the newest one counts as that one. */
  add(atMs: number): void {
    const nowMs = Math.max(atMs, this.#newest)
    this.#newest = nowMs
    if (this.#times.length < this.limit) {
      this.#times.push(nowMs)
      return
    }
    this.#times[this.#oldest] = nowMs
    this.#oldest = (this.#oldest + 1) % this.limit
  }

  /** The time of a request by its age: 0 is the oldest. */
  #at(index: number): number {
    return this.#times[(this.#oldest + index) % this.#times.length] ?? Number.NEGATIVE_INFINITY
  }

  /** Requests in the window that ends now. */
  #countedAt(nowMs: number): number {
    let low = 0
    let high = this.#times.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#at(middle) + this.windowMs > nowMs) high = middle
      else low = middle + 1
    }
    return this.#times.length - low
  }

  /** Beside what workers hold: until so many of the oldest are out of the window; they may give some back sooner. */
  #waitBesideMs(nowMs: number): number {
    const counted = this.#countedAt(nowMs)
    const over = counted + this.reserved + 1 - this.limit
    if (over <= 0) return 0
    if (over > counted) return heldRetryMs
    return Math.max(1, this.#at(this.#times.length - counted + over - 1) + this.windowMs - nowMs)
  }
}

/** Sessions that have a request in progress. */
export class Sessions {
  readonly #running = new Map<string, number>()

  get size(): number {
    return this.#running.size
  }

  has(session: string): boolean {
    return this.#running.has(session)
  }

  enter(session: string): void {
    this.#running.set(session, (this.#running.get(session) ?? 0) + 1)
  }

  leave(session: string): void {
    const left = (this.#running.get(session) ?? 1) - 1
    if (left <= 0) this.#running.delete(session)
    else this.#running.set(session, left)
  }
}
