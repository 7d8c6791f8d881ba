/**
 * Measurements of live traffic: how fast and how reliably each model of a connection answers, how much it has served, and what is under
 * way. Bounded windows; in memory only, since measurements are out of date after an hour.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { targetKey } from "../resolve/TargetKey.ts"
import { LruMap } from "../../kernel/LruMap.ts"
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import { policyOf } from "../../resilience/failure/Policy.ts"
import type { Performance } from "../candidate/Candidate.ts"
import { makeSeries, type Measured, type Series } from "./Series.ts"
import { makeWindowCounter, type WindowCounter } from "./WindowCounter.ts"

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

export class PerformanceStats extends Context.Tag("gateway/routing/PerformanceStats")<
  PerformanceStats,
  {
    /** Hot. */
    readonly record: (sample: Sample) => void
    /** Hot: null before the first sample of the window. */
    readonly of: (connectionId: string, model: string, nowMs: number) => Performance | null
    /** Hot: requests it has served in the last hour; with `combo` only that one's. */
    readonly used: (connectionId: string, model: string, nowMs: number, combo?: string) => number
    /** Hot: a call begins; the result ends it, and does nothing when it is called again. `combo` counts its own as well. */
    readonly begin: (connectionId: string, model: string, combo?: string) => () => void
    /** Hot: calls under way; with `combo` only that one's. */
    readonly inFlight: (connectionId: string, model: string, combo?: string) => number
  }
>() {}

/** Models of connections that are measured at a time; beyond it the one that was longest without a sample goes. */
export const capacity = 5_000

/** Whether a failed call says something about the upstream: not when the request itself was at fault. */
export const countsAsError = (failure: Failure): boolean =>
  failure.scope !== "none" || policyOf(failure).terminal !== null

interface ModelFacts {
  readonly connectionId: string
  readonly model: string
  readonly series: Series
  readonly served: WindowCounter
}

/** By connection, then model: two strings that are at hand are found faster than one that must be put together. */
const makeModelBook = () => {
  const byConnection = new Map<string, Map<string, ModelFacts>>()

  const get = (connectionId: string, model: string): ModelFacts | null =>
    byConnection.get(connectionId)?.get(model) ?? null

  const drop = (facts: ModelFacts): void => {
    const models = byConnection.get(facts.connectionId)
    models?.delete(facts.model)
    if (models?.size === 0) byConnection.delete(facts.connectionId)
  }

  const begun = (connectionId: string, model: string): ModelFacts => {
    const facts = { connectionId, model, series: makeSeries(), served: makeWindowCounter() }
    const models = byConnection.get(connectionId)
    if (models === undefined) byConnection.set(connectionId, new Map([[model, facts]]))
    else models.set(model, facts)
    return facts
  }

  const order = new LruMap<ModelFacts, null>({ capacity, onRemove: drop })

  const touch = (connectionId: string, model: string): ModelFacts => {
    const facts = get(connectionId, model) ?? begun(connectionId, model)
    order.set(facts, null)
    return facts
  }

  return { get, touch }
}

/** Counts of calls under way. An entry lives as long as a call does, so requests bound it. */
const makeRunning = () => {
  const byConnection = new Map<string, Map<string, number>>()
  const count = (connectionId: string, model: string): number => byConnection.get(connectionId)?.get(model) ?? 0

  const change = (connectionId: string, model: string, by: 1 | -1): void => {
    const models = byConnection.get(connectionId) ?? new Map<string, number>()
    const next = (models.get(model) ?? 0) + by
    if (next > 0) models.set(model, next)
    else models.delete(model)
    if (models.size > 0) byConnection.set(connectionId, models)
    else byConnection.delete(connectionId)
  }

  const begin = (connectionId: string, model: string): (() => void) => {
    let running = true
    change(connectionId, model, 1)
    return () => {
      if (!running) return
      running = false
      change(connectionId, model, -1)
    }
  }

  return { begin, count }
}

/** What single combos have sent to their targets; beyond the limit the one that was longest without a request goes. */
const makeComboBook = () => {
  const served = new LruMap<string, WindowCounter>({ capacity })
  const running = makeRunning()
  const keyOf = (combo: string, connectionId: string): string => `${combo}\n${connectionId}`
  const servedKey = (combo: string, connectionId: string, model: string): string =>
    `${combo}\n${targetKey(connectionId, model)}`
  return {
    add: (combo: string, { atMs, connectionId, model }: Sample): void => {
      const key = servedKey(combo, connectionId, model)
      const counter = served.peek(key) ?? makeWindowCounter()
      counter.add(atMs)
      served.set(key, counter)
    },
    used: (combo: string, connectionId: string, model: string, nowMs: number): number =>
      served.peek(servedKey(combo, connectionId, model))?.read(nowMs) ?? 0,
    begin: (combo: string, connectionId: string, model: string) => running.begin(keyOf(combo, connectionId), model),
    inFlight: (combo: string, connectionId: string, model: string) => running.count(keyOf(combo, connectionId), model)
  }
}

const isMeasured = ({ atMs, latencyMs }: Measured): boolean => Number.isFinite(atMs) && latencyMs >= 0

export const make = () => {
  const models = makeModelBook()
  const running = makeRunning()
  const combos = makeComboBook()

  const begin = (connectionId: string, model: string, combo?: string): (() => void) => {
    const over = running.begin(connectionId, model)
    if (combo === undefined) return over
    const ownOver = combos.begin(combo, connectionId, model)
    return () => {
      over()
      ownOver()
    }
  }

  const record = (sample: Sample): void => {
    // One number that is none would spoil a whole window.
    if (!isMeasured(sample)) return
    const facts = models.touch(sample.connectionId, sample.model)
    facts.series.add(sample)
    if (sample.ok) facts.served.add(sample.atMs)
    if (sample.ok && sample.combo !== undefined) combos.add(sample.combo, sample)
  }

  return PerformanceStats.of({
    record,
    of: (connectionId, model, nowMs) => models.get(connectionId, model)?.series.read(nowMs) ?? null,
    used: (connectionId, model, nowMs, combo) =>
      combo === undefined
        ? (models.get(connectionId, model)?.served.read(nowMs) ?? 0)
        : combos.used(combo, connectionId, model, nowMs),
    begin,
    inFlight: (connectionId, model, combo) =>
      combo === undefined ? running.count(connectionId, model) : combos.inFlight(combo, connectionId, model)
  })
}

export const layer: Layer.Layer<PerformanceStats> = Layer.sync(PerformanceStats, make)
