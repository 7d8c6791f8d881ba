/** Counts the streams that a client begins and resets on one connection: a few are allowed at once, and more with time. Pure but for its count. */

export const resetLimits = {
  /** Most at once. */
  burst: 200,
  perSecond: 20
}

export class ResetBudget {
  #left = resetLimits.burst
  #atMs: number

  /** `nowMs` is of a clock that never goes back. */
  constructor(nowMs: number) {
    this.#atMs = nowMs
  }

  /** False: there are more than any client needs. */
  take(nowMs: number): boolean {
    const regained = (Math.max(0, nowMs - this.#atMs) / 1_000) * resetLimits.perSecond
    this.#left = Math.min(resetLimits.burst, this.#left + regained) - 1
    this.#atMs = nowMs
    return this.#left >= 0
  }
}
