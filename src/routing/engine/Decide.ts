/**
 * The one decision function: candidates, features, policy, memory, clock and seed in; order, scores, exclusions and reasons out. Pure:
 * the same input gives the same decision, and nothing is remembered but by whoever keeps what it gives back.
 */
import { makeSeededRandom } from "../../kernel/SeededRandom.ts"
import type { Kept } from "../Affinity.ts"
import { autoDefaults, orderAuto } from "../auto/Auto.ts"
import { type AutoSpec, comboSpec } from "../auto/AutoId.ts"
import type { FitnessTable } from "../auto/Fitness.ts"
import type { StrategyLookup } from "../auto/RouterStrategies.ts"
import type { HealingState } from "../auto/SelfHealing.ts"
import type { Resolution, Target } from "../ModelResolver.ts"
import { type OrderingStrategy, strategies } from "../strategies/index.ts"
import { quotaShare } from "../strategies/QuotaShare.ts"
import type { Candidate, Features } from "./Candidate.ts"
import { type Decision, type Excluded, excludedBy } from "./Decision.ts"
import type { Ordering, Score, Strategy, StrategyInput, StrategyMemory } from "./Strategy.ts"

export interface DecideInput {
  readonly resolution: Resolution
  readonly candidates: ReadonlyArray<Candidate>
  readonly features: Features
  readonly memory: StrategyMemory
  readonly healing: HealingState
  /** Where the caller's session was served last. */
  readonly affinity: Kept | null
  readonly modeHeader: string | null
  readonly budgetHeader: string | null
  readonly routerStrategies: StrategyLookup
  readonly freeTierStrict: boolean
  /** Missing: true. When false nobody goes first for having answered last. */
  readonly lkgpEnabled?: boolean
  /** Missing: the static map. */
  readonly fitness?: FitnessTable
  readonly seed: number
  readonly nowMs: number
}

/** A decision, and what whoever carries it out has to keep. */
export interface Decided extends Decision {
  readonly healing: HealingState
  /** The first is not the favourite: its success says nothing about the favourite. */
  readonly detour: "exploration" | "probe" | null
}

const isOrdering = (strategy: string): strategy is OrderingStrategy => Object.hasOwn(strategies, strategy)

const strategyOf = (name: string, lkgpEnabled: boolean): Strategy => {
  if (name === "lkgp" && !lkgpEnabled) return strategies.priority.order
  if (name === "quota-share") return quotaShare
  return isOrdering(name) ? strategies[name].order : strategies.priority.order
}

/** The session's own account first, where it may be called. */
const withAffinity = (ordering: Ordering, kept: Kept | null, exclusions: ReadonlyMap<Target, Excluded>): Ordering => {
  if (kept === null) return ordering
  const own = ordering.order.find(
    ({ target }) =>
      target.account.connection.id === kept.connectionId && target.model === kept.model && !exclusions.has(target)
  )
  if (own === undefined || own === ordering.order[0]) return ordering
  return { ...ordering, order: [own, ...ordering.order.filter((other) => other !== own)], reason: "session" }
}

const autoSpecOf = ({ auto, combo, strategy }: Resolution): AutoSpec | null =>
  auto ?? (strategy === "auto" && combo !== null ? comboSpec(combo.name) : null)

const nobody: ReadonlySet<string> = new Set()
const noScores: ReadonlyMap<Target, Score> = new Map()

const scoresOf = (
  candidates: ReadonlyArray<Candidate>,
  scores: ReadonlyMap<string, Score> | undefined
): ReadonlyMap<Target, Score> => {
  if (scores === undefined) return noScores
  const byTarget = new Map<Target, Score>()
  for (const { key, target } of candidates) {
    const score = scores.get(key)
    if (score !== undefined) byTarget.set(target, score)
  }
  return byTarget
}

export const decide = (input: DecideInput): Decided => {
  const { candidates, features, memory, nowMs, resolution, seed } = input
  const { fitness = autoDefaults.fitness, lkgpEnabled = true } = input
  const exclusions = new Map<Target, Excluded>()
  const usable: Array<Candidate> = []
  const unavailable: Array<Candidate> = []
  for (const candidate of candidates) {
    if (candidate.unready === null) usable.push(candidate)
    else {
      unavailable.push(candidate)
      exclusions.set(candidate.target, excludedBy(candidate.unready))
    }
  }
  const base = {
    strategy: resolution.strategy,
    seed,
    weights: null,
    scores: noScores,
    exclusions,
    relaxedFilters: [],
    memory: null,
    probes: nobody,
    healing: input.healing,
    detour: null
  }
  // Nobody may be called: the loop says why, and when that will be over.
  if (usable.length === 0) {
    return { ...base, order: candidates.map(({ target }) => target), reason: "no target is available" }
  }
  const common: StrategyInput = {
    candidates: usable,
    features,
    config: resolution.config,
    memory,
    random: makeSeededRandom(seed),
    nowMs
  }
  const spec = autoSpecOf(resolution)
  if (spec === null) {
    const ordering = withAffinity(strategyOf(resolution.strategy, lkgpEnabled)(common), input.affinity, exclusions)
    return {
      ...base,
      order: ordering.order.map(({ target }) => target),
      reason: ordering.reason,
      scores: scoresOf(candidates, ordering.scores),
      weights: ordering.weights ?? null,
      memory: ordering.memory
    }
  }
  const auto = orderAuto({
    ...autoDefaults,
    ...common,
    unavailable,
    spec,
    modeHeader: input.modeHeader,
    budgetHeader: input.budgetHeader,
    healing: input.healing,
    strategies: input.routerStrategies,
    fitness,
    freeTierStrict: input.freeTierStrict,
    lkgpEnabled
  })
  for (const { candidate, detail, rule, untilMs } of auto.exclusions) {
    if (!exclusions.has(candidate.target)) exclusions.set(candidate.target, { rule, untilMs, detail })
  }
  const scores = scoresOf(candidates, auto.scores)
  if (auto._tag === "NoFreeCandidate") {
    return { ...base, order: [], reason: "no free target is available", scores, weights: auto.weights }
  }
  const kept = auto.detour === null ? withAffinity(auto, input.affinity, exclusions) : auto
  return {
    ...base,
    order: kept.order.map(({ target }) => target),
    reason: kept.reason,
    scores,
    weights: auto.weights,
    relaxedFilters: auto.relaxedFilters,
    memory: auto.memory,
    probes: auto.probes,
    healing: auto.healing,
    detour: auto.detour
  }
}
