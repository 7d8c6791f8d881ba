/** The candidates of a resolution: its targets, with everything that is known about them now. */
import type { AccountTier } from "../../../subjects/connections/entity.ts"
import type { ModelPrice } from "../../../subjects/pricing/entity.ts"
import type * as Catalog from "../../providers/Catalog.ts"
import type { ModelFacts } from "../../providers/ModelFacts.ts"
import type { BreakerPhase } from "../../resilience/breaker/Breaker.ts"
import type * as Breakers from "../../resilience/breaker/Breakers.ts"
import { guardedOf } from "../health/AccountClass.ts"
import type { Resolution, Target } from "../resolve/ModelResolver.ts"
import type * as QuotaWindows from "../quota/QuotaWindows.ts"
import type * as PerformanceStats from "../stats/PerformanceStats.ts"
import type { Health, Troubles, Unready } from "../health/Health.ts"
import { type Candidate, memo, type Price } from "../candidate/Candidate.ts"
import { targetKeyOf } from "../resolve/TargetKey.ts"

export interface CandidateSources {
  readonly catalog: Pick<typeof Catalog.Catalog.Service, "factsOf">
  /** Health of targets. Without `troubles` every target is looked at each time. */
  readonly health: Pick<Health, "unready"> & Partial<Pick<Health, "troubles">>
  readonly breakers: Pick<typeof Breakers.Breakers.Service, "phaseOf">
  readonly stats: typeof PerformanceStats.PerformanceStats.Service
  readonly quotas: Pick<QuotaSource, "of"> & Partial<Pick<QuotaSource, "reader" | "knows" | "changes">>
  readonly price: (provider: string, model: string, nowMs: number) => ModelPrice | null
  /** `PriceBook.edition`; without it prices are looked up each time. */
  readonly priceEdition?: (nowMs: number) => number
}

type QuotaSource = typeof QuotaWindows.QuotaWindows.Service

const priceOf = (price: ModelPrice | null): Price | null =>
  price === null ? null : { inputUsd: price.input, outputUsd: price.output }

const nowhere: ReadonlyArray<number> = []
const noWeights: ReadonlyArray<number> = []

const tierOf = ({ account }: Target): AccountTier | null => account.connection.tier

/** Parts of a resolution that its candidates are made from. */
type Candidacy = Pick<Resolution, "targets" | "weights" | "combo" | "strategy">

/** The combo whose own requests are counted apart from all others to the same targets: `least-used` shares out those. */
export const countedFor = ({ combo, strategy }: Pick<Resolution, "combo" | "strategy">): string | undefined =>
  strategy === "least-used" ? combo?.name : undefined

/** Constant facts of a target, and readers of the others. */
interface ReadyTarget {
  readonly key: string
  readonly facts: ModelFacts
  readonly tier: AccountTier | null
  readonly measured: PerformanceStats.Measurements
  readonly quotas: QuotaWindows.QuotaReader
}

/** The candidates of a resolution as they were last, and what may have changed of all of them since. */
interface Kept {
  candidates: ReadonlyArray<Candidate>
  readonly ready: ReadonlyArray<ReadyTarget>
  /** Edition of the prices that were read; null: none yet. */
  prices: number | null
  /** Edition for which `mayWait` was filled. */
  troubles: number | null
  readonly mayWait: Uint8Array
  /** One of them may. */
  isAnyWaiting: boolean
  /** Places of a model of a connection, by both. */
  readonly places: ReadonlyMap<string, ReadonlyMap<string, ReadonlyArray<number>>>
  weights: ReadonlyArray<number>
  /** Edition for which all were looked at; -1: none yet. */
  measured: number
  quotaChanges: number
  /** Epoch milliseconds from and until which only reported changes need to be looked at. */
  fromMs: number
  untilMs: number
  /** Places of targets whose quotas may change at any time. */
  withQuotas: ReadonlyArray<number>
}

const placesOf = (targets: ReadonlyArray<Target>): Kept["places"] => {
  const places = new Map<string, Map<string, Array<number>>>()
  for (const [index, { account, model }] of targets.entries()) {
    const { id } = account.connection
    const models = places.get(id) ?? new Map<string, Array<number>>()
    const known = models.get(model)
    if (known === undefined) models.set(model, [index])
    else known.push(index)
    places.set(id, models)
  }
  return places
}

interface Deps extends CandidateSources {
  readonly byTarget: WeakMap<Target, ReadyTarget>
  readonly byTargets: WeakMap<ReadonlyArray<Target>, Kept>
  readonly troubles: Troubles | null
}

/** One look at the candidates of a resolution. */
interface Look {
  readonly resolution: Candidacy
  readonly kept: Kept
  readonly nowMs: number
  readonly arePricesNew: boolean
  /** The combo whose counts are used; undefined: those of all. */
  readonly combo: string | undefined
}

const readyOf = ({ byTarget, catalog, quotas, stats }: Deps, target: Target): ReadyTarget => {
  const known = byTarget.get(target)
  if (known !== undefined) return known
  const { connection } = target.account
  const { model } = target
  const ready = {
    key: targetKeyOf(target),
    facts: catalog.factsOf(target.account, model),
    tier: tierOf(target),
    measured: stats.measurements(connection.id, model),
    quotas: quotas.reader?.(connection, model) ?? ((nowMs: number) => quotas.of(connection, nowMs, model))
  }
  byTarget.set(target, ready)
  return ready
}

const keptOf = (deps: Deps, { targets }: Candidacy): Kept => {
  const { byTargets } = deps
  const known = byTargets.get(targets)
  if (known !== undefined) return known
  const kept: Kept = {
    candidates: [],
    ready: targets.map((target) => readyOf(deps, target)),
    prices: null,
    troubles: null,
    mayWait: new Uint8Array(targets.length).fill(1),
    isAnyWaiting: true,
    places: placesOf(targets),
    weights: noWeights,
    measured: -1,
    quotaChanges: -1,
    fromMs: Number.POSITIVE_INFINITY,
    untilMs: 0,
    withQuotas: []
  }
  byTargets.set(targets, kept)
  return kept
}

/** False when nothing was new. */
const lookForTroubles = ({ troubles }: Deps, kept: Kept, targets: ReadonlyArray<Target>): boolean => {
  const edition = troubles?.edition() ?? null
  if (edition !== null && edition === kept.troubles) return false
  kept.troubles = edition
  kept.isAnyWaiting = false
  for (const [index, target] of targets.entries()) {
    const mayWait = edition === null || troubles?.mayWait(target) !== false
    kept.mayWait[index] = mayWait ? 1 : 0
    kept.isAnyWaiting ||= mayWait
  }
  return true
}

const priceNow = (
  { price: priceAt }: Deps,
  { account, model }: Target,
  before: Candidate | undefined,
  nowMs: number
): Price | null => {
  const price = priceAt(account.spec.id, model, nowMs)
  const known = before?.price ?? null
  const isSame = price !== null && known?.inputUsd === price.input && known.outputUsd === price.output
  return isSame ? known : priceOf(price)
}

/** The candidate as it is now: the same as before when nothing of it has changed. */
const lookAt = (
  deps: Deps,
  { arePricesNew, combo, kept, nowMs, resolution }: Look,
  index: number
): Candidate | undefined => {
  const { breakers, health, stats } = deps
  const { candidates, isAnyWaiting, mayWait, ready } = kept
  const { targets, weights } = resolution
  const target = targets[index]
  const own = ready[index]
  const before = candidates[index]
  if (target === undefined || own === undefined) return before
  const { facts, key, measured, tier } = own
  let breaker: BreakerPhase = "CLOSED"
  let unready: Unready | null = null
  if (isAnyWaiting && mayWait[index] === 1) {
    breaker = breakers.phaseOf(guardedOf(target.account), nowMs)
    unready = health.unready(target, nowMs)
  }
  const weight = weights[index] ?? 1
  const price = before === undefined || arePricesNew ? priceNow(deps, target, before, nowMs) : before.price
  const performance = measured.performance(nowMs)
  const windows = own.quotas(nowMs)
  const { connection } = target.account
  const used = combo === undefined ? measured.used(nowMs) : stats.used(connection.id, target.model, nowMs, combo)
  const inFlight = combo === undefined ? measured.inFlight() : stats.inFlight(connection.id, target.model, combo)
  if (
    before !== undefined &&
    before.performance === performance &&
    before.used === used &&
    before.inFlight === inFlight &&
    before.quotas === windows &&
    before.price === price &&
    before.breaker === breaker &&
    before.unready === unready &&
    before.weight === weight
  ) {
    return before
  }
  return {
    target,
    key,
    weight,
    facts,
    tier,
    price,
    breaker,
    unready,
    performance,
    quotas: windows,
    used,
    inFlight,
    [memo]: undefined
  }
}

/** Updates the candidates with reported changes; the others are as they were. */
const lookAtChanged = (deps: Deps, look: Look): boolean => {
  const { kept } = look
  const { stats } = deps
  const { candidates: last, places, withQuotas } = kept
  let next: Array<Candidate> | null = null
  const renew = (index: number): void => {
    const before = (next ?? last)[index]
    const now = lookAt(deps, look, index)
    if (now === undefined || now === before) return
    // An earlier decision may still hold the list.
    next ??= last.slice()
    next[index] = now
    kept.untilMs = Math.min(kept.untilMs, kept.ready[index]?.measured.holdsUntilMs() ?? 0)
  }
  const areChangesKnown = stats.changedSince(kept.measured, (connectionId, model) => {
    for (const index of places.get(connectionId)?.get(model) ?? nowhere) renew(index)
  })
  if (!areChangesKnown) return false
  for (const index of withQuotas) renew(index)
  kept.measured = stats.edition()
  if (next !== null) kept.candidates = next
  return true
}

const lookAtAll = (deps: Deps, look: Look): void => {
  const { combo, kept, nowMs, resolution } = look
  const { quotas, stats } = deps
  const { targets, weights } = resolution
  const { candidates: last, ready } = kept
  const withQuotas: Array<number> = []
  let next: Array<Candidate> | null = last.length === targets.length ? null : []
  let untilMs = Number.POSITIVE_INFINITY
  for (let index = 0; index < targets.length; index += 1) {
    const now = lookAt(deps, look, index)
    untilMs = Math.min(untilMs, ready[index]?.measured.holdsUntilMs() ?? 0)
    const connection = targets[index]?.account.connection
    if (connection !== undefined && quotas.knows?.(connection) !== false) withQuotas.push(index)
    if (now === undefined || now === last[index]) continue
    next ??= last.slice()
    next[index] = now
  }
  if (next !== null) kept.candidates = next
  kept.weights = weights
  kept.measured = stats.edition()
  kept.quotaChanges = quotas.changes?.() ?? -1
  // Another resolution of the same targets counts otherwise.
  kept.fromMs = combo === undefined ? nowMs : Number.POSITIVE_INFINITY
  kept.untilMs = untilMs
  kept.withQuotas = withQuotas
}

const of = (deps: Deps, resolution: Candidacy, nowMs: number): ReadonlyArray<Candidate> => {
  const { priceEdition, quotas } = deps
  const combo = countedFor(resolution)
  const kept = keptOf(deps, resolution)
  const edition = priceEdition?.(nowMs) ?? null
  const arePricesNew = edition === null || edition !== kept.prices
  kept.prices = edition
  const areTroublesNew = lookForTroubles(deps, kept, resolution.targets)
  const mayTrust =
    combo === undefined &&
    !arePricesNew &&
    !areTroublesNew &&
    !kept.isAnyWaiting &&
    kept.weights === resolution.weights &&
    kept.quotaChanges === (quotas.changes?.() ?? -1) &&
    nowMs >= kept.fromMs &&
    nowMs < kept.untilMs
  const look: Look = { resolution, kept, nowMs, arePricesNew, combo }
  if (!mayTrust || !lookAtChanged(deps, look)) lookAtAll(deps, look)
  return kept.candidates
}

/** Hot: all candidates that were made last may be called; false: maybe not all. */
const areReady = ({ byTargets }: Deps, { targets }: Candidacy): boolean =>
  byTargets.get(targets)?.isAnyWaiting === false

/**
 * Candidates of resolutions. What is the same for every request is kept by target, and a candidate is made anew only when something of it
 * has changed: the same list as last time means that nothing has. Sound because a change of the catalogue or of a list of models makes new
 * targets (`Resolutions`).
 */
export const makeCandidates = (sources: CandidateSources) => {
  const deps: Deps = {
    ...sources,
    byTarget: new WeakMap(),
    byTargets: new WeakMap(),
    troubles: sources.health.troubles ?? null
  }
  return {
    of: (resolution: Candidacy, nowMs: number) => of(deps, resolution, nowMs),
    areReady: (resolution: Candidacy) => areReady(deps, resolution)
  }
}

/** The same, for one resolution. */
export const candidatesOf = (
  sources: CandidateSources,
  resolution: Candidacy,
  nowMs: number
): ReadonlyArray<Candidate> => makeCandidates(sources).of(resolution, nowMs)
