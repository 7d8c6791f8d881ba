/** Sizes of leases: slices of what is left of a limit. Pure. Amounts are whole: nano-USD, tokens or requests. */

export interface Asked {
  /** Need of the request at hand; 0: it only looks. */
  readonly need: number
  /** Amount that is neither used nor held. */
  readonly left: number
  /** Pace of the worker, by millisecond. */
  readonly perMs: number
}

export interface Slice {
  readonly amount: number
  /** Near the limit: what is not used is given back at once. */
  readonly isNear: boolean
}

/** Time in ms for which a slice is meant to last. */
export const sliceMs = 250
/** A slice is at most this part of what is left. */
const mostOfLeft = 12
/** A worker that asks seldom gets so many times its need, so that not every request asks. */
const needsAhead = 4

/** Null: what is left is not enough. */
export const sliceOf = ({ left, need, perMs }: Asked): Slice | null => {
  if (need > Math.max(0, left)) return null
  const most = Math.floor(Math.max(0, left) / mostOfLeft)
  const ahead = Math.floor(Math.max(perMs * sliceMs, needsAhead * need))
  return { amount: Math.max(need, Math.min(ahead, most)), isNear: most <= need }
}

/** Steps in ms in which a pace is measured. */
const paceStepMs = 50

/** Pace at which a worker draws on a limit. */
export class Pace {
  perMs = 0
  #sinceMs: number
  #drawn = 0

  constructor(nowMs: number) {
    this.#sinceMs = nowMs
  }

  drew(amount: number, nowMs: number): void {
    this.#drawn += amount
    const ms = nowMs - this.#sinceMs
    if (ms < paceStepMs) return
    this.perMs = (this.perMs + Math.max(0, this.#drawn) / ms) / 2
    this.#sinceMs = nowMs
    this.#drawn = 0
  }
}
