/**
 * Measurements of live traffic: how fast and how reliably each model of a connection answers, how much it has served, and what is in
 * progress. Bounded windows; in memory only, since measurements are out of date after an hour.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { targetKey } from "../resolve/TargetKey.ts"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import { policyOf } from "../../resilience/failure/Policy.ts"
import type { Performance } from "../candidate/Candidate.ts"
import { type Measured, Series } from "./Series.ts"
import { WindowCounter } from "./WindowCounter.ts"

/**
 * One finished call to an upstream. What is not a failure of the upstream is not recorded at all: a request that was wrong itself (see
 * `countsAsError`), a client that left, a straggler that was not needed.
 */
export interface Sample extends Measured {
  readonly connectionId: string
  readonly model: string
  /** The combo whose own requests are counted; absent for all others. */
  readonly combo?: string | undefined
}

export class PerformanceStats extends Context.Tag("gateway/plane/routing/stats/PerformanceStats")<
  PerformanceStats,
  {
    /** Hot. */
    readonly record: (sample: Sample) => void
    /** The measurements of one model of a connection, found once for callers that read them many times. */
    readonly measurements: (connectionId: string, model: string) => Measurements
    /** Hot: rises with every call that begins or ends. */
    readonly edition: () => number
    /**
     * Reports each model whose measurements have changed since an edition; false: it was too long ago, and any may
     * have. Hot.
     */
    readonly changedSince: (edition: number, use: (connectionId: string, model: string) => void) => boolean
    /** Hot: null before the first sample of the window. */
    readonly of: (connectionId: string, model: string, nowMs: number) => Performance | null
    /** Hot: requests it has served in the last hour; with `combo` only that one's. */
    readonly used: (connectionId: string, model: string, nowMs: number, combo?: string) => number
    /** Hot: a call begins; the result ends it, and does nothing when it is called again. `combo` counts its own as well. */
    readonly begin: (connectionId: string, model: string, combo?: string) => () => void
    /** Hot: calls in progress; with `combo` only that one's. */
    readonly inFlight: (connectionId: string, model: string, combo?: string) => number
    /** All calls in progress, by connection and model. */
    readonly underWay: () => ReadonlyArray<{
      readonly connectionId: string
      readonly model: string
      readonly count: number
    }>
  }
>() {}

/** Models of connections that are measured at a time; beyond it the one that was longest without a sample goes. */
export const capacity = 5_000

/** Checks whether a failed call counts against the upstream: not when the request itself was at fault. */
export const countsAsError = (failure: Failure): boolean =>
  failure.scope !== "none" || policyOf(failure).terminal !== null

/** Measurements of one model of one connection. */
class ModelFacts {
  readonly connectionId: string
  readonly model: string
  /** Samples; null before the first one, and after they were dropped. */
  series: Series | null = null
  served: WindowCounter | null = null
  inFlight = 0

  constructor(connectionId: string, model: string) {
    this.connectionId = connectionId
    this.model = model
  }
}

/** Changes that are remembered one by one. */
const mostChanges = 256

/**
 * Measurements by connection, then model: two strings that are at hand are found faster than one that must be put together. An entry stays
 * as long as it has samples or calls in progress; `changes` counts those that come and go.
 */
class ModelBook {
  changes = 0
  edition = 0
  /** The last to change, by edition. */
  readonly #changed: Array<ModelFacts> = []
  readonly #byConnection = new Map<string, Map<string, ModelFacts>>()
  readonly #measured = new LruMap<ModelFacts, null>({ capacity, onRemove: (facts) => this.#forget(facts) })

  busy(): ReadonlyArray<ModelFacts> {
    return [...this.#byConnection.values()].flatMap((models) =>
      [...models.values()].filter(({ inFlight }) => inFlight > 0)
    )
  }

  find(connectionId: string, model: string): ModelFacts | null {
    return this.#byConnection.get(connectionId)?.get(model) ?? null
  }

  begin(connectionId: string, model: string): ModelFacts {
    const facts = this.#open(connectionId, model)
    facts.inFlight += 1
    this.#touch(facts)
    return facts
  }

  end(facts: ModelFacts): void {
    facts.inFlight -= 1
    this.#touch(facts)
    this.#dropIdle(facts)
  }

  add(sample: Sample): void {
    const facts = this.#open(sample.connectionId, sample.model)
    this.#touch(facts)
    this.#measured.set(facts, null)
    facts.series ??= new Series()
    facts.served ??= new WindowCounter()
    facts.series.add(sample)
    if (sample.ok) facts.served.add(sample.atMs)
  }

  changedSince(edition: number, use: (connectionId: string, model: string) => void): boolean {
    if (edition < 0 || this.edition - edition > mostChanges) return false
    for (let each = edition; each < this.edition; each += 1) {
      const facts = this.#changed[each % mostChanges]
      if (facts !== undefined) use(facts.connectionId, facts.model)
    }
    return true
  }

  #touch(facts: ModelFacts): void {
    this.#changed[this.edition % mostChanges] = facts
    this.edition += 1
  }

  #open(connectionId: string, model: string): ModelFacts {
    const models = this.#byConnection.get(connectionId)
    const known = models?.get(model)
    if (known !== undefined) return known
    const facts = new ModelFacts(connectionId, model)
    if (models === undefined) this.#byConnection.set(connectionId, new Map([[model, facts]]))
    else models.set(model, facts)
    this.changes += 1
    return facts
  }

  #forget(facts: ModelFacts): void {
    facts.series = null
    facts.served = null
    this.#touch(facts)
    this.#dropIdle(facts)
  }

  #dropIdle(facts: ModelFacts): void {
    if (facts.inFlight > 0 || facts.series !== null) return
    const models = this.#byConnection.get(facts.connectionId)
    models?.delete(facts.model)
    if (models?.size === 0) this.#byConnection.delete(facts.connectionId)
    this.changes += 1
  }
}

/** One model of one connection, found once for many readings. */
export class Measurements {
  readonly #book: ModelBook
  readonly #connectionId: string
  readonly #model: string
  #facts: ModelFacts | null = null
  #changes = -1

  constructor(book: ModelBook, connectionId: string, model: string) {
    this.#book = book
    this.#connectionId = connectionId
    this.#model = model
  }

  #now(): ModelFacts | null {
    if (this.#changes !== this.#book.changes) {
      this.#facts = this.#book.find(this.#connectionId, this.#model)
      this.#changes = this.#book.changes
    }
    return this.#facts
  }

  /** Hot: the same object until something changes; null before the first sample of the window. */
  performance(nowMs: number): Performance | null {
    return this.#now()?.series?.read(nowMs) ?? null
  }

  /** Hot: requests it has served in the last hour. */
  used(nowMs: number): number {
    return this.#now()?.served?.read(nowMs) ?? 0
  }

  /** Epoch milliseconds until which the time alone changes nothing of what was read last. */
  holdsUntilMs(): number {
    const facts = this.#now()
    return Math.min(facts?.series?.holdsUntilMs() ?? Infinity, facts?.served?.holdsUntilMs() ?? Infinity)
  }

  /** Hot: calls in progress. */
  inFlight(): number {
    return this.#now()?.inFlight ?? 0
  }
}

/** Counts of calls of combos in progress. An entry lives as long as a call does, so requests bound it. */
const makeRunning = () => {
  const counts = new Map<string, number>()
  const change = (key: string, by: 1 | -1): void => {
    const next = (counts.get(key) ?? 0) + by
    if (next > 0) counts.set(key, next)
    else counts.delete(key)
  }
  return {
    count: (key: string): number => counts.get(key) ?? 0,
    begin: (key: string): (() => void) => {
      change(key, 1)
      return () => change(key, -1)
    }
  }
}

/**
 * Counts the requests of single combos to their targets; beyond the limit the one that was longest without a request is
 * dropped.
 */
const makeComboBook = () => {
  const served = new LruMap<string, WindowCounter>({ capacity })
  const running = makeRunning()
  const keyOf = (combo: string, connectionId: string, model: string): string =>
    `${combo}\n${targetKey(connectionId, model)}`
  return {
    add: (combo: string, { atMs, connectionId, model }: Sample): void => {
      const key = keyOf(combo, connectionId, model)
      const counter = served.peek(key) ?? new WindowCounter()
      counter.add(atMs)
      served.set(key, counter)
    },
    used: (combo: string, connectionId: string, model: string, nowMs: number): number =>
      served.peek(keyOf(combo, connectionId, model))?.read(nowMs) ?? 0,
    begin: (combo: string, connectionId: string, model: string) => running.begin(keyOf(combo, connectionId, model)),
    inFlight: (combo: string, connectionId: string, model: string) => running.count(keyOf(combo, connectionId, model))
  }
}

const isMeasured = ({ atMs, latencyMs }: Measured): boolean => Number.isFinite(atMs) && latencyMs >= 0

export const make = () => {
  const book = new ModelBook()
  const combos = makeComboBook()

  const begin = (connectionId: string, model: string, combo?: string): (() => void) => {
    const facts = book.begin(connectionId, model)
    const ownOver = combo === undefined ? null : combos.begin(combo, connectionId, model)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      book.end(facts)
      ownOver?.()
    }
  }

  const record = (sample: Sample): void => {
    // One number that is none would spoil a whole window.
    if (!isMeasured(sample)) return
    book.add(sample)
    if (sample.ok && sample.combo !== undefined) combos.add(sample.combo, sample)
  }

  return PerformanceStats.of({
    record,
    measurements: (connectionId, model) => new Measurements(book, connectionId, model),
    edition: () => book.edition,
    changedSince: (edition, use) => book.changedSince(edition, use),
    of: (connectionId, model, nowMs) => book.find(connectionId, model)?.series?.read(nowMs) ?? null,
    used: (connectionId, model, nowMs, combo) =>
      combo === undefined
        ? (book.find(connectionId, model)?.served?.read(nowMs) ?? 0)
        : combos.used(combo, connectionId, model, nowMs),
    begin,
    inFlight: (connectionId, model, combo) =>
      combo === undefined
        ? (book.find(connectionId, model)?.inFlight ?? 0)
        : combos.inFlight(combo, connectionId, model),
    underWay: () => book.busy().map(({ connectionId, inFlight, model }) => ({ connectionId, model, count: inFlight }))
  })
}

export const layer: Layer.Layer<PerformanceStats> = Layer.sync(PerformanceStats, make)
