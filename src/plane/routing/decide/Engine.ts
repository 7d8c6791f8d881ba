/**
 * The routing engine: decides on ready state, and keeps what strategies remember once a request is really sent. `decide` changes
 * nothing, so it may be called only to ask.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import * as Catalog from "../../providers/Catalog.ts"
import * as Breakers from "../../resilience/breaker/Breakers.ts"
import * as PriceBook from "../../../observe/usage/PriceBook.ts"
import * as Affinity from "./Affinity.ts"
import * as LeaderboardSync from "../auto/LeaderboardSync.ts"
import * as RouterStrategies from "../auto/RouterStrategies.ts"
import { callEnded, healed, type HealingState } from "../auto/SelfHealing.ts"
import type { Features } from "../candidate/Candidate.ts"
import { decide, type Decided } from "./Decide.ts"
import { firstInOrder, onlyTarget } from "../candidate/Reason.ts"
import { targetKeyOf } from "../resolve/TargetKey.ts"
import { makeCandidates, type CandidateSources } from "./Candidates.ts"
import type { Served } from "../candidate/Strategy.ts"
import type { Resolution, Target } from "../resolve/ModelResolver.ts"
import * as QuotaWindows from "../quota/QuotaWindows.ts"
import * as QuotaShareUsage from "../quota/QuotaShareUsage.ts"
import * as RouterMemory from "./RouterMemory.ts"
import * as RoutingSettings from "../RoutingSettings.ts"
import { staysAtAccount } from "./SessionAffinity.ts"
import * as EvalScores from "../stats/EvalScores.ts"
import * as PerformanceStats from "../stats/PerformanceStats.ts"
import { lkgpServed } from "../strategies/Lkgp.ts"
import { type OrderingStrategy, strategies } from "../strategies/index.ts"
import * as TargetHealth from "../health/TargetHealth.ts"

export interface Question {
  /** The id the client asked for. */
  readonly model: string
  readonly resolution: Resolution
  /** Returns the features; called only where a strategy looks at the request. */
  readonly features: () => Features
  readonly sessionKey: string | null
  /**
   * Checks whether the turn begins with a prompt of the user; called only where a session could stay at its account.
   */
  readonly startsPrompt: () => boolean
  readonly modeHeader: string | null
  readonly budgetHeader: string | null
  readonly seed: number
  readonly nowMs: number
}

export class Engine extends Context.Tag("gateway/plane/routing/decide/Engine")<
  Engine,
  {
    /** Hot. */
    readonly decide: (question: Question) => Decided
    /** Hot: the request goes out. */
    readonly commit: (question: Question, decided: Decided) => void
    /** Hot: a target has answered wholly. */
    readonly served: (question: Question, decided: Decided, target: Target) => void
    /** Hot: a call is over; `ok` null when nothing was learned. */
    readonly ended: (question: Question, target: Target, ok: boolean | null, nowMs: number) => void
    /** Keys that may draw on a quota share, and their use of it. */
    readonly shares: typeof QuotaShareUsage.QuotaShareUsage.Service
  }
>() {}

/** Combos whose candidates' exclusions are remembered. */
const maxHealing = 1_000

const noScores = new Map<never, never>()

/** The usual case: the order is the combo's own, and nothing has to be looked at. */
export const asListed = ({ resolution, seed }: Pick<Question, "resolution" | "seed">): Decided => ({
  strategy: resolution.strategy,
  seed,
  order: resolution.targets,
  reason: resolution.targets.length === 1 ? onlyTarget : firstInOrder,
  weights: null,
  scores: noScores,
  exclusions: noScores,
  relaxedFilters: [],
  memory: null,
  probes: none,
  healing: healed,
  detour: null
})

const none: ReadonlySet<string> = new Set()

/** `auto` is `auto/lkgp`, and an alias of either is the same again. */
export const memoryKey = ({
  model,
  resolution: { auto, combo }
}: {
  readonly model: string
  readonly resolution: Pick<Resolution, "auto" | "combo">
}): string => combo?.name ?? (auto === null ? model : auto.id === "auto" ? "auto/lkgp" : auto.id)

const isAuto = ({ auto, strategy }: Resolution): boolean => auto !== null || strategy === "auto"

/** Nothing has to be looked at to know the order. */
export const isAsListed = (resolution: Resolution, kept: Affinity.SessionTarget | null): boolean => {
  const { policy, strategy, targets } = resolution
  if (targets.length === 1 && !isAuto(resolution)) return true
  const [first] = targets
  const keepsOrder = kept === null || (first?.account.connection.id === kept.connectionId && first.model === kept.model)
  return strategy === "priority" && keepsOrder && policy.predictiveTtftMs === 0 && policy.evalRouting === null
}

/** The account that served the session last, in a turn in which it goes first. */
export const keptFor = (
  affinity: Pick<typeof Affinity.Affinity.Service, "of">,
  {
    nowMs,
    resolution,
    sessionKey,
    startsPrompt
  }: Pick<Question, "nowMs" | "resolution" | "sessionKey" | "startsPrompt">
): Affinity.SessionTarget | null => {
  const kept = sessionKey === null ? null : affinity.of(sessionKey, nowMs)
  return kept !== null && staysAtAccount(resolution, startsPrompt) ? kept : null
}

/** Finds the function by which the strategy of a resolution learns from a success. */
export const servedOf = (resolution: Resolution): Served | undefined => {
  if (isAuto(resolution)) return lkgpServed
  const { strategy } = resolution
  return Object.hasOwn(strategies, strategy) ? strategies[strategy as OrderingStrategy].served : undefined
}

export const make = Effect.gen(function* () {
  const prices = yield* PriceBook.PriceBook
  const sources: CandidateSources = {
    catalog: yield* Catalog.Catalog,
    health: yield* TargetHealth.TargetHealth,
    breakers: yield* Breakers.Breakers,
    stats: yield* PerformanceStats.PerformanceStats,
    quotas: yield* QuotaWindows.QuotaWindows,
    price: prices.price,
    priceEdition: prices.edition
  }
  const ready = makeCandidates(sources)
  const memory = yield* RouterMemory.RouterMemory
  const affinity = yield* Affinity.Affinity
  const routerStrategies = yield* RouterStrategies.RouterStrategies
  const settings = yield* RoutingSettings.RoutingSettings
  const leaderboard = yield* LeaderboardSync.LeaderboardSync
  const shares = yield* QuotaShareUsage.QuotaShareUsage
  const evals = yield* EvalScores.EvalScores
  const clock = yield* Effect.clock
  const healing = new LruMap<string, HealingState>({ capacity: maxHealing })

  const decideFor = (question: Question): Decided => {
    const { budgetHeader, features, modeHeader, nowMs, resolution, seed } = question
    const kept = keptFor(affinity, question)
    if (isAsListed(resolution, kept)) return asListed(question)
    const key = memoryKey(question)
    const { freeTierStrict, lkgpEnabled } = settings.current()
    const candidates = ready.of(resolution, nowMs)
    return decide({
      resolution,
      candidates,
      areAllReady: ready.areReady(resolution),
      features: features(),
      memory: memory.of(key),
      healing: healing.peek(key) ?? healed,
      affinity: kept,
      modeHeader,
      budgetHeader,
      routerStrategies: routerStrategies.lookup,
      freeTierStrict,
      lkgpEnabled,
      fitness: leaderboard.fitness(),
      evals: evals.of,
      seed,
      nowMs
    })
  }

  const keepHealing = (key: string, state: HealingState): void => {
    if (state.size === 0) healing.delete(key)
    else healing.set(key, state)
  }

  const served = (question: Question, decided: Decided, target: Target): void => {
    const { resolution, sessionKey } = question
    // A request may end long after it arrived, and what looks at health with an old time takes the clock to be set back.
    const nowMs = clock.unsafeCurrentTimeMillis()
    if (sessionKey !== null) affinity.served(sessionKey, target, nowMs)
    const learn = decided.detour === null ? servedOf(resolution) : undefined
    if (learn === undefined) return
    const key = memoryKey(question)
    memory.keep(key, learn(memory.of(key), { target, key: targetKeyOf(target) }, resolution.policy))
  }

  return Engine.of({
    decide: decideFor,
    commit: (question, decided) => {
      const key = memoryKey(question)
      if (decided.memory !== null) memory.keep(key, decided.memory)
      if (isAuto(question.resolution)) keepHealing(key, decided.healing)
    },
    served,
    shares,
    ended: (question, target, ok, nowMs) => {
      const key = memoryKey(question)
      const state = healing.get(key)
      if (state !== undefined && ok !== null) keepHealing(key, callEnded(state, targetKeyOf(target), ok, nowMs))
    }
  })
})

export const layer: Layer.Layer<
  Engine,
  never,
  | PriceBook.PriceBook
  | Catalog.Catalog
  | TargetHealth.TargetHealth
  | Breakers.Breakers
  | EvalScores.EvalScores
  | PerformanceStats.PerformanceStats
  | QuotaWindows.QuotaWindows
  | QuotaShareUsage.QuotaShareUsage
  | RouterMemory.RouterMemory
  | Affinity.Affinity
  | RouterStrategies.RouterStrategies
  | RoutingSettings.RoutingSettings
  | LeaderboardSync.LeaderboardSync
> = Layer.effect(Engine, make)
