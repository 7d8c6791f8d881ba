/** The cache-break finder: gets each call when its answer has ended, and keeps its findings. All of it is bounded. */
import type { ModelPrice } from "../../../subjects/pricing/entity.ts"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import { CacheBreaks, type CacheBreaksPage } from "./CacheBreaks.ts"
import type { CacheCall, CacheFinding } from "./CacheCall.ts"
import { CacheHistory, type CacheHistoryLimits, usualLimits } from "./CacheHistory.ts"
import { findBreak } from "./FindBreak.ts"

export interface CacheFinderOptions {
  /** Price of a provider's model at a moment; null when unknown. The price book has it. */
  readonly priceOf: (provider: string, model: string, atMs: number) => ModelPrice | null
  readonly limits?: CacheHistoryLimits
  /** Findings that are kept. */
  readonly maxFindings?: number
}

const usualFindings = 4_096

export class CacheFinder {
  readonly #priceOf: CacheFinderOptions["priceOf"]
  readonly #history: CacheHistory
  readonly #findings: LruMap<string, CacheFinding>
  readonly #breaks: CacheBreaks

  constructor({ limits = usualLimits, maxFindings = usualFindings, priceOf }: CacheFinderOptions) {
    this.#priceOf = priceOf
    this.#history = new CacheHistory(limits)
    this.#findings = new LruMap({ capacity: maxFindings })
    this.#breaks = new CacheBreaks(maxFindings)
  }

  get size(): CacheHistory["size"] & { readonly findings: number; readonly breaks: number } {
    return { ...this.#history.size, findings: this.#findings.size, breaks: this.#breaks.size }
  }

  /** Judges a call against the earlier ones, then remembers it. Once per call. Takes time linear in its bodies. */
  observe(call: CacheCall): CacheFinding {
    const read = this.#history.read(call)
    const price = call.provider === null ? null : this.#priceOf(call.provider, call.model, call.atMs)
    const finding = findBreak(read, price)
    this.#history.remember(read)
    this.#findings.set(call.id, finding)
    this.#breaks.add(call.id, call.atMs, finding)
    return finding
  }

  /** Returns the finding for a call; null when it was not observed, or too long ago. */
  of(id: string): CacheFinding | null {
    return this.#findings.peek(id) ?? null
  }

  /** Breaks of calls since a moment, newest first. */
  breaks(sinceMs: number, limit: number): CacheBreaksPage {
    return this.#breaks.list(sinceMs, limit)
  }

  clear(): void {
    this.#history.clear()
    this.#findings.clear()
    this.#breaks.clear()
  }
}
