/** Breaks that were reported last, and their cost together. Bounded. */
import type { CacheFinding } from "./CacheCall.ts"

export interface CacheBreak extends CacheFinding {
  readonly requestId: string
}

export interface CacheBreaksPage {
  /** Newest first. */
  readonly breaks: ReadonlyArray<CacheBreak>
  /** Number of lost tokens of all breaks since then, those beyond the limit as well. */
  readonly lostTokens: number
  /** Cost in USD of those whose price is known. */
  readonly lostUsd: number
}

interface DatedBreak {
  readonly atMs: number
  readonly found: CacheBreak
}

export class CacheBreaks {
  readonly #told: Array<DatedBreak> = []
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#told.length
  }

  /** Keeps a finding that reports a break. */
  add(requestId: string, atMs: number, finding: CacheFinding): void {
    if (finding.cause === null) return
    this.#told.push({ atMs, found: { requestId, ...finding } })
    // Twice the capacity before the older half goes, so that not every addition moves the list.
    if (this.#told.length >= this.#capacity * 2) this.#told.splice(0, this.#told.length - this.#capacity)
  }

  list(sinceMs: number, limit: number): CacheBreaksPage {
    const since = this.#told.slice(-this.#capacity).filter(({ atMs }) => atMs >= sinceMs)
    return {
      breaks: since
        .map(({ found }) => found)
        .reverse()
        .slice(0, limit),
      lostTokens: since.reduce((sum, { found }) => sum + found.lostTokens, 0),
      lostUsd: since.reduce((sum, { found }) => sum + (found.lostUsd ?? 0), 0)
    }
  }

  clear(): void {
    this.#told.length = 0
  }
}
