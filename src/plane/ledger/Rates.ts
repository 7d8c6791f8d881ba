/**
 * Rates of a key: at most `limit` requests in any stretch of `window` seconds, and a limited number of sessions at once. Exact: the times of
 * the last requests are kept. Times are monotonic milliseconds, so that a clock that is set changes nothing.
 */
import type { RateLimit } from "../../subjects/keys/entity.ts"

/** The times of the newest requests, at most as many as the limit; the memory grows with use only. */
export class SlidingLog {
  readonly limit: number
  readonly windowMs: number
  #times: Array<number> = []
  /** Place of the oldest time once the log is full. */
  #oldest = 0

  constructor({ limit, window }: RateLimit) {
    this.limit = limit
    this.windowMs = window * 1_000
  }

  /** Hot: 0 when a request may come now, else the milliseconds until one may. */
  waitMs(nowMs: number): number {
    if (this.#times.length < this.limit) return 0
    const oldest = this.#times[this.#oldest] ?? 0
    return Math.max(0, oldest + this.windowMs - nowMs)
  }

  /** Hot. */
  add(nowMs: number): void {
    if (this.#times.length < this.limit) {
      this.#times.push(nowMs)
      return
    }
    this.#times[this.#oldest] = nowMs
    this.#oldest = (this.#oldest + 1) % this.limit
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
