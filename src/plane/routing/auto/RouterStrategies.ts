/**
 * Choice of the first candidate of a scored pool: the built-in router strategies, and the interface and registry of custom ones. A
 * strategy sees plain, frozen data and names one member. When it does anything else, `rules` chooses, and the reason of the decision
 * says so.
 */
import type { SlaPolicy } from "../../../subjects/combos/entity/ComboPolicy.ts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { TaskType } from "../candidate/Candidate.ts"
import type { BreakerPhase } from "../../resilience/breaker/Breaker.ts"

/** One candidate as strategies see it. Null: not known. */
export interface PoolMember {
  readonly provider: string
  readonly connectionId: string
  readonly model: string
  readonly score: number
  readonly factors: Readonly<Record<string, number>>
  readonly breaker: BreakerPhase
  /** USD, blended 60 % input and 40 % output. */
  readonly costPer1MTokens: number | null
  /** Drawn towards the pool's median while it has few samples; null when none in the pool was measured. */
  readonly p95LatencyMs: number | null
  /** Fraction; 5 % before the first sample. */
  readonly errorRate: number
}

export interface RoutingContext {
  readonly taskType: TaskType
  readonly hasTools: boolean
  readonly hasImages: boolean
  readonly tokenEstimate: number
  readonly sla: SlaPolicy
  readonly lkgpEnabled: boolean
  readonly lastKnownGood: {
    /** Null when only the connection is remembered. */
    readonly provider: string | null
    readonly connectionId: string
    readonly model: string
  } | null
}

export interface Selection {
  readonly provider: string
  readonly model: string
  /** Id that distinguishes several accounts of one provider; without it the best scored of them is meant. */
  readonly connectionId?: string
  readonly strategy: string
  readonly reason: string
  readonly candidatesConsidered: number
  readonly finalScore: number
}

/**
 * The contract of a custom strategy. `select` is synchronous, gets at least one member and must name one of them. Every request waits
 * for it, so one that took longer than `slowSelectMs` is not asked again for `slowRestMs`; `rules` decides meanwhile.
 */
export interface RouterStrategy {
  readonly name: string
  readonly description: string
  readonly select: (pool: ReadonlyArray<PoolMember>, context: RoutingContext) => Selection
  /**
   * True when it limits its own processor time, so that the registry does not measure it by the wall clock, which also
   * counts other processes.
   */
  readonly boundsItself?: true
}

/** Preference of a strategy: the sign says whether `a` comes first. */
type Preference = (a: PoolMember, b: PoolMember) => number

const isOpen = ({ breaker }: PoolMember): boolean => breaker === "OPEN"

/** Selects the members that are not OPEN, or all when there are no others. */
const usable = (pool: ReadonlyArray<PoolMember>): ReadonlyArray<PoolMember> => {
  if (!pool.some(isOpen)) return pool
  const healthy = pool.filter((member) => !isOpen(member))
  return healthy.length === 0 ? pool : healthy
}

const byScore: Preference = (a, b) => b.score - a.score

/** Selection with its member, so that it need not be searched for. */
interface BuiltInSelection extends Selection {
  readonly member: PoolMember
}

interface BuiltIn extends RouterStrategy {
  readonly select: (pool: ReadonlyArray<PoolMember>, context: RoutingContext) => BuiltInSelection
}

const selected = (
  strategy: string,
  pool: ReadonlyArray<PoolMember>,
  prefer: Preference,
  reason: (best: PoolMember) => string
): BuiltInSelection => {
  const considered = usable(pool)
  // Among equals the higher score, then the earlier place.
  const best = considered.reduce((first, other) =>
    (prefer(other, first) || byScore(other, first)) < 0 ? other : first
  )
  return {
    member: best,
    provider: best.provider,
    model: best.model,
    connectionId: best.connectionId,
    strategy,
    reason: reason(best),
    candidatesConsidered: considered.length,
    finalScore: best.score
  }
}

const rules: BuiltIn = {
  name: "rules",
  description: "The highest weighted score.",
  select: (pool) => selected("rules", pool, byScore, ({ score }) => `best score ${score.toFixed(3)}`)
}

const ascending = (a: number, b: number): number => (a === b ? 0 : a - b)

/** A model without a price comes after every priced one: it may cost anything. */
const costOf = ({ costPer1MTokens }: PoolMember): number => costPer1MTokens ?? Infinity

const cost: BuiltIn = {
  name: "cost",
  description: "The lowest blended price.",
  select: (pool) =>
    selected(
      "cost",
      pool,
      (a, b) => ascending(costOf(a), costOf(b)),
      ({ costPer1MTokens }) =>
        costPer1MTokens === null ? "no price known" : `lowest cost ${costPer1MTokens} USD per 1M tokens`
    )
}

const slownessOf = ({ errorRate, p95LatencyMs }: PoolMember): number => (p95LatencyMs ?? 0) + errorRate * 1_000

const latency: BuiltIn = {
  name: "latency",
  description: "The lowest p95 latency, a failing one counted as slow.",
  select: (pool) =>
    selected(
      "latency",
      pool,
      (a, b) => ascending(slownessOf(a), slownessOf(b)),
      ({ p95LatencyMs }) =>
        p95LatencyMs === null ? "no latency measured yet" : `lowest latency p95 ${Math.round(p95LatencyMs)} ms`
    )
}

const epsilon = 1e-6

const usualSla = { targetP95Ms: 2_000, maxErrorRate: 0.05 }

/** 1 at the threshold, more below it. */
const scoreOf = (threshold: number, value: number): number => threshold / Math.max(value, epsilon)

const factorOf = ({ factors }: PoolMember, name: string): number => factors[name] ?? 0

/**
 * Latency 35 %, errors 35 %, health 15 %, cost 10 %, stability 5 %; the first two and the cost as threshold divided by value. Without a
 * ceiling the cost counts as it does in the score.
 */
const compositeOf = (member: PoolMember, sla: SlaPolicy): number => {
  const { costPer1MTokens, errorRate, p95LatencyMs } = member
  const speed = p95LatencyMs === null ? 1 : scoreOf(sla.targetP95Ms ?? usualSla.targetP95Ms, p95LatencyMs)
  const price =
    sla.maxCostPer1MTokens === null
      ? factorOf(member, "costInv")
      : costPer1MTokens === null
        ? 0.5
        : scoreOf(sla.maxCostPer1MTokens, costPer1MTokens)
  return (
    0.35 * speed +
    0.35 * scoreOf(sla.maxErrorRate ?? usualSla.maxErrorRate, errorRate) +
    0.15 * factorOf(member, "health") +
    0.1 * price +
    0.05 * factorOf(member, "stability")
  )
}

const excess = (value: number | null, threshold: number | null): number =>
  value === null || threshold === null ? 0 : Math.max(0, value - threshold) / Math.max(threshold, epsilon)

/**
 * Sums by how much the requested thresholds are exceeded, each in parts of itself. An unknown value exceeds nothing.
 */
const violationOf = ({ costPer1MTokens, errorRate, p95LatencyMs }: PoolMember, sla: SlaPolicy): number =>
  excess(p95LatencyMs, sla.targetP95Ms) +
  excess(errorRate, sla.maxErrorRate) +
  excess(costPer1MTokens, sla.maxCostPer1MTokens)

const slaAware: BuiltIn = {
  name: "sla-aware",
  description: "The best kept service levels.",
  select: (pool, { sla }) =>
    selected(
      "sla-aware",
      pool,
      (a, b) =>
        (sla.hardConstraints ? ascending(violationOf(a, sla), violationOf(b, sla)) : 0) ||
        ascending(compositeOf(b, sla), compositeOf(a, sla)),
      (best) =>
        sla.hardConstraints && violationOf(best, sla) > 0
          ? "least violation of the service levels"
          : `service level ${compositeOf(best, sla).toFixed(3)}`
    )
}

/** The same target as last time, else another model or account of the same connection or provider, none of them OPEN. */
const lkgp: BuiltIn = {
  name: "lkgp",
  description: "The last known good path.",
  select: (pool, context) => {
    const good = context.lastKnownGood
    const nearness = ({ connectionId, model, provider }: PoolMember): number =>
      good === null
        ? 0
        : connectionId === good.connectionId
          ? model === good.model
            ? 3
            : 2
          : provider === good.provider
            ? 1
            : 0
    const mayBeNear = context.lkgpEnabled && good !== null
    const near = mayBeNear ? pool.filter((member) => nearness(member) > 0 && !isOpen(member)) : []
    if (near.length > 0) {
      const kept = selected(
        "lkgp",
        near,
        (a, b) => nearness(b) - nearness(a),
        (best) => (nearness(best) === 3 ? "last known good" : "last known good provider")
      )
      return { ...kept, candidatesConsidered: pool.length }
    }
    const best = rules.select(pool, context)
    return { ...best, reason: `no last known good, ${best.reason}` }
  }
}

/** A pool that is ranked by score already, by places in it. */
export interface RankedPool {
  readonly count: number
  readonly isAnyOpen: boolean
  readonly isOpen: (index: number) => boolean
  readonly score: (index: number) => number
  /** 3: this connection and model, 2: the connection, 1: the provider, 0: none of them. */
  readonly nearness: (index: number) => number
}

const ruled = (pool: RankedPool): Omit<Chosen, "overruled"> => {
  let index = 0
  if (pool.isAnyOpen) while (index < pool.count && pool.isOpen(index)) index += 1
  if (index === pool.count) index = 0
  return { index, reason: `best score ${pool.score(index).toFixed(3)}` }
}

/** Chooses for `rules` and `lkgp`, without a member for each candidate; null for any other strategy. The pool must not be empty. */
export const chooseRanked = (
  name: string,
  lookup: StrategyLookup,
  pool: RankedPool,
  { lastKnownGood, lkgpEnabled }: Pick<RoutingContext, "lastKnownGood" | "lkgpEnabled">
): Chosen | null => {
  const strategy = lookup(name)
  if (strategy === rules) return { ...ruled(pool), overruled: null }
  if (strategy !== lkgp) return null
  let best = -1
  let nearest = 0
  if (lkgpEnabled && lastKnownGood !== null) {
    for (let index = 0; index < pool.count && nearest < 3; index += 1) {
      const nearness = pool.nearness(index)
      if (nearness <= nearest || (pool.isAnyOpen && pool.isOpen(index))) continue
      best = index
      nearest = nearness
    }
  }
  if (best >= 0) {
    return { index: best, reason: nearest === 3 ? "last known good" : "last known good provider", overruled: null }
  }
  const { index, reason } = ruled(pool)
  return { index, reason: `no last known good, ${reason}`, overruled: null }
}

const builtIn: ReadonlyMap<string, BuiltIn> = new Map([
  ["rules", rules],
  ["cost", cost],
  ["eco", cost],
  ["latency", latency],
  ["fast", latency],
  ["sla-aware", slaAware],
  ["sla", slaAware],
  ["lkgp", lkgp]
])

export const builtInNames: ReadonlyArray<string> = [...builtIn.keys()]

/** Finds a strategy by the name a combo gives; null for an unknown one. */
export type StrategyLookup = (name: string) => RouterStrategy | null

export const builtInStrategy: StrategyLookup = (name) => builtIn.get(name) ?? null

export type Refusal = "name-taken" | "invalid" | "full"
export type Registration = "registered" | Refusal

/** A custom strategy whose `select` takes longer than `slowSelectMs` is not called for the next `slowRestMs`. */
export const slowSelectMs = 50
export const slowRestMs = 60_000

/** Custom strategies registered at a time. */
export const mostCustomStrategies = 64

const namePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/

export interface Registry {
  /** Returns the reason for which a strategy of that name could not be registered now; null: it could. */
  readonly refusalOf: (name: string) => Refusal | null
  /** Built-in names and names in use are taken. */
  readonly register: (strategy: RouterStrategy) => Registration
  /** Removes a custom strategy, and returns whether there was one of that name. */
  readonly unregister: (name: string) => boolean
  /** Hot. */
  readonly lookup: StrategyLookup
  readonly list: () => ReadonlyArray<{ readonly name: string; readonly description: string; readonly custom: boolean }>
}

/** Error that `select` throws while it is not asked. */
export const resting = new Error("the strategy rests")

/** Measures each `select`; after a slow one it throws for `slowRestMs` instead of calling the strategy. */
const timed = ({ description, name, select }: RouterStrategy, nowMs: () => number): RouterStrategy => {
  let restsUntilMs = Number.NEGATIVE_INFINITY
  return {
    name,
    description,
    select: (pool, context) => {
      const begunMs = nowMs()
      if (begunMs < restsUntilMs) throw resting
      try {
        return select(pool, context)
      } finally {
        const endedMs = nowMs()
        if (endedMs - begunMs > slowSelectMs) restsUntilMs = endedMs + slowRestMs
      }
    }
  }
}

/** `nowMs` is a monotonic clock; without one no strategy counts as slow. */
export const makeRegistry = (nowMs: () => number = () => 0): Registry => {
  const custom = new Map<string, RouterStrategy>()
  const refusalOf: Registry["refusalOf"] = (name) => {
    if (typeof name !== "string" || !namePattern.test(name)) return "invalid"
    if (builtIn.has(name) || custom.has(name)) return "name-taken"
    return custom.size >= mostCustomStrategies ? "full" : null
  }
  return {
    refusalOf,
    register: ({ boundsItself, description, name, select }) => {
      const refusal = typeof select === "function" ? refusalOf(name) : "invalid"
      if (refusal !== null) return refusal
      const strategy = { name, description: String(description).slice(0, 500), select }
      custom.set(name, boundsItself === true ? strategy : timed(strategy, nowMs))
      return "registered"
    },
    unregister: (name) => custom.delete(name),
    lookup: (name) => builtIn.get(name) ?? custom.get(name) ?? null,
    list: () => [
      ...[...builtIn].map(([name, { description }]) => ({ name, description, custom: false })),
      ...[...custom.values()].map(({ description, name }) => ({ name, description, custom: true }))
    ]
  }
}

/** The registry of the running gateway: plugins write, decisions read. */
export class RouterStrategies extends Context.Tag("gateway/plane/routing/auto/RouterStrategies")<
  RouterStrategies,
  Registry
>() {}

export const layer: Layer.Layer<RouterStrategies> = Layer.effect(
  RouterStrategies,
  Effect.clockWith((clock) => Effect.sync(() => makeRegistry(() => Number(clock.unsafeCurrentTimeNanos()) / 1e6)))
)

export interface Chosen {
  /** Place in the pool. */
  readonly index: number
  readonly reason: string
  /** Reason for which the requested strategy was not followed; null when it was. */
  readonly overruled: string | null
}

const copyOf = (member: PoolMember): PoolMember =>
  Object.freeze({
    provider: member.provider,
    connectionId: member.connectionId,
    model: member.model,
    score: member.score,
    factors: Object.freeze({ ...member.factors }),
    breaker: member.breaker,
    costPer1MTokens: member.costPer1MTokens,
    p95LatencyMs: member.p95LatencyMs,
    errorRate: member.errorRate
  })

/** Custom strategies get a copy they cannot change: what they are shown is also what the decision record holds. */
const frozen = (pool: ReadonlyArray<PoolMember>): ReadonlyArray<PoolMember> => Object.freeze(pool.map(copyOf))

const isText = (value: unknown): value is string => typeof value === "string"

/** The member a selection means; null when it means none that may be called. */
const memberOf = (selection: unknown, pool: ReadonlyArray<PoolMember>): number | null => {
  if (typeof selection !== "object" || selection === null) return null
  const { connectionId, model, provider } = selection as Readonly<Record<string, unknown>>
  let best: number | null = null
  pool.forEach((member, index) => {
    if (member.provider !== provider || member.model !== model) return
    if (connectionId !== undefined && connectionId !== null && member.connectionId !== connectionId) return
    if (best === null || member.score > (pool[best]?.score ?? 0)) best = index
  })
  return best
}

/** Asks a strategy, and `rules` when it throws, names none of the pool, or names an OPEN one while others are not. */
export const choose = (
  name: string,
  lookup: StrategyLookup,
  pool: ReadonlyArray<PoolMember>,
  context: RoutingContext
): Chosen => {
  const by = (own: BuiltIn, overruled: string | null): Chosen => {
    const { member, reason } = own.select(pool, context)
    return { index: Math.max(0, pool.indexOf(member)), reason, overruled }
  }
  const fallback = (overruled: string): Chosen => by(rules, overruled)
  const strategy = lookup(name)
  if (strategy === null) return fallback(`router strategy ${name} is unknown`)
  const own = builtIn.get(name)
  if (own === strategy) return by(own, null)
  try {
    const selection: unknown = strategy.select(frozen(pool), context)
    if (selection instanceof Promise) {
      // A decision does not wait for a promise, and its failure must not end the process.
      selection.catch(() => undefined)
      return fallback(`router strategy ${name} is not synchronous`)
    }
    const index = memberOf(selection, pool)
    const member = index === null ? undefined : pool[index]
    if (index === null || member === undefined) return fallback(`router strategy ${name} named no candidate`)
    if (member.breaker === "OPEN" && pool.some(({ breaker }) => breaker !== "OPEN")) {
      return fallback(`router strategy ${name} named an open one`)
    }
    const { reason } = selection as Readonly<Record<string, unknown>>
    return { index, reason: isText(reason) && reason.trim() !== "" ? reason : `chosen by ${name}`, overruled: null }
  } catch (error) {
    return fallback(`router strategy ${name} ${error === resting ? "rests" : "failed"}`)
  }
}
