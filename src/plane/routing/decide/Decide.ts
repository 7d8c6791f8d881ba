/**
 * Decision function: candidates, features, policy, memory, clock and seed in; order, scores, exclusions and reasons out. Pure: the
 * same input gives the same decision, and the memory to store is part of the result.
 */
import { type ComboPolicy, noPolicy } from "../../../subjects/combos/entity/ComboPolicy.ts"
import { LazyMap } from "../../../kernel/collections/LazyMap.ts"
import { makeSeededRandom } from "../../../kernel/SeededRandom.ts"
import type { SessionTarget } from "./Affinity.ts"
import { autoDefaults, orderAuto } from "../auto/Auto.ts"
import { type AutoSpec, comboSpec } from "../resolve/AutoId.ts"
import type { FitnessTable } from "../auto/Fitness.ts"
import { isFree } from "../auto/ModelTier.ts"
import type { StrategyLookup } from "../auto/RouterStrategies.ts"
import type { HealingState } from "../auto/SelfHealing.ts"
import type { Resolution, Target } from "../resolve/ModelResolver.ts"
import { type OrderingStrategy, strategies } from "../strategies/index.ts"
import { ordering } from "../strategies/Ordering.ts"
import { paidInstead, quotaShare } from "../strategies/QuotaShare.ts"
import type { Candidate, Features } from "../candidate/Candidate.ts"
import { type Decision, type Excluded, excludedBy } from "../candidate/Decision.ts"
import { amongReady, noFreeTarget, noneReady, quickEnough, type Reason, session } from "../candidate/Reason.ts"
import { byEvals, type EvalLookup } from "./ByEvals.ts"
import { slowLast } from "./Predicted.ts"
import type { Ordering, Score, Strategy, StrategyInput, StrategyMemory } from "../candidate/Strategy.ts"

/** Settings for all combos. */
export interface DecidePolicy {
  readonly routerStrategies: StrategyLookup
  readonly freeTierStrict: boolean
  /** Missing: true. When false the target that answered last does not go first. */
  readonly lkgpEnabled?: boolean
  /** Missing: the static map. */
  readonly fitness?: FitnessTable
  /** Missing: nothing was evaluated. */
  readonly evals?: EvalLookup
}

export interface DecideInput extends DecidePolicy {
  readonly resolution: Resolution
  readonly candidates: ReadonlyArray<Candidate>
  /** None of them is `unready`; missing or false: they are to be looked at. */
  readonly areAllReady?: boolean
  readonly features: Features
  readonly memory: StrategyMemory
  readonly healing: HealingState
  /** Target that served the caller's session last. */
  readonly affinity: SessionTarget | null
  readonly modeHeader: string | null
  readonly budgetHeader: string | null
  readonly seed: number
  readonly nowMs: number
}

/** A decision, and what to keep when it is carried out. */
export interface Decided extends Decision {
  readonly healing: HealingState
  /** The first is not the favourite: its success says nothing about the favourite. */
  readonly detour: "exploration" | "probe" | null
}

const isOrdering = (strategy: string): strategy is OrderingStrategy => Object.hasOwn(strategies, strategy)

/** The order means little to a panel. */
const panel: Strategy = ({ candidates, memory }) => ordering(candidates, "all are asked at once", memory)

const strategyOf = (name: string, lkgpEnabled: boolean): Strategy => {
  if (name === "lkgp" && !lkgpEnabled) return strategies.priority.order
  if (name === "quota-share") return quotaShare
  if (name === "fusion") return panel
  return isOrdering(name) ? strategies[name].order : strategies.priority.order
}

/** The session's own account first, where it may be called; of a quota share it pays for the turn. */
const withAffinity = (
  ordering: Ordering,
  kept: SessionTarget | null,
  exclusions: ReadonlyMap<Target, Excluded>,
  strategy: string
): Ordering => {
  if (kept === null) return ordering
  const own = ordering.order.find(
    ({ target }) =>
      target.account.connection.id === kept.connectionId && target.model === kept.model && !exclusions.has(target)
  )
  if (own === undefined || own === ordering.order[0]) return ordering
  const order = [own, ...ordering.order.filter((other) => other !== own)]
  const [first = own] = ordering.order
  const memory = strategy === "quota-share" ? paidInstead(ordering.memory, first, own) : ordering.memory
  return { ...ordering, order, memory, reason: session }
}

const noNames: ReadonlyArray<string> = []

/** Puts the targets last that are usually too slow for the combo, and records it. */
const withoutSlow = (
  ordering: Pick<Ordering, "order" | "reason">,
  policy: ComboPolicy,
  exclusions: Map<Target, Excluded>,
  /** Targets of the order, where they are at hand. */
  targets?: ReadonlyArray<Target>
): { readonly order: ReadonlyArray<Target>; readonly reason: Reason; readonly relaxed: ReadonlyArray<string> } => {
  if (policy.predictiveTtftMs === 0 && targets !== undefined) {
    return { order: targets, reason: ordering.reason, relaxed: noNames }
  }
  const { order, relaxed, slow } = slowLast(ordering.order, policy)
  for (const [{ target }, ttftMs] of slow) {
    const detail = `usually takes ${Math.round(ttftMs)} ms to begin; asked after the others`
    if (!exclusions.has(target)) exclusions.set(target, { rule: "predictive_ttft", untilMs: null, detail })
  }
  return {
    order: order.map(({ target }) => target),
    reason: order[0] === ordering.order[0] ? ordering.reason : quickEnough,
    relaxed: relaxed ? ["predictiveTtftMs"] : []
  }
}

const autoSpecOf = ({ auto, combo, strategy }: Resolution): AutoSpec | null =>
  auto ?? (strategy === "auto" && combo !== null ? comboSpec(combo.name) : null)

const noCandidates: ReadonlyArray<Candidate> = []
const noProbes: ReadonlySet<string> = new Set()
const noScores: ReadonlyMap<Target, Score> = new Map()

const scoresOf = (
  candidates: ReadonlyArray<Candidate>,
  scores: ReadonlyMap<string, Score> | undefined
): ReadonlyMap<Target, Score> => {
  if (scores === undefined) return noScores
  return new LazyMap(scores.size, () => {
    const byTarget = new Map<Target, Score>()
    for (const { key, target } of candidates) {
      const score = scores.get(key)
      if (score !== undefined) byTarget.set(target, score)
    }
    return byTarget
  })
}

/** A panel asks all, and the turn of a share is paid for by who gets it. */
const isScored = ({ strategy }: Resolution): boolean => strategy !== "fusion" && strategy !== "quota-share"

const isReady = ({ unready }: Candidate): boolean => unready === null

/** Facts that both kinds of decision are made from. */
interface Grounds {
  readonly input: DecideInput
  readonly base: Omit<Decided, "order" | "reason">
  readonly common: StrategyInput
  readonly exclusions: Map<Target, Excluded>
  readonly unavailable: ReadonlyArray<Candidate>
  /** Targets that are not free now, in their order. */
  readonly inLine: ReadonlyArray<Target>
  /** Targets that may be asked as a last resort are asked when all others have failed. */
  readonly doubted: ReadonlyArray<Target>
  readonly lkgpEnabled: boolean
}

const byStrategy = ({ base, common, doubted, exclusions, input, lkgpEnabled, unavailable }: Grounds): Decided => {
  const { candidates, nowMs, resolution } = input
  const own = strategyOf(resolution.strategy, lkgpEnabled)(common)
  const ordering = withAffinity(
    isScored(resolution) ? byEvals(own, resolution.policy.evalRouting, input.evals, nowMs) : own,
    input.affinity,
    exclusions,
    resolution.strategy
  )
  const { order, reason, relaxed } = withoutSlow(ordering, resolution.policy, exclusions)
  return {
    ...base,
    order: doubted.length === 0 ? order : [...order, ...doubted],
    reason: unavailable.length === 0 ? reason : amongReady(reason),
    relaxedFilters: relaxed,
    scores: scoresOf(candidates, ordering.scores),
    weights: ordering.weights ?? null,
    memory: ordering.memory
  }
}

const byAuto = (grounds: Grounds, spec: AutoSpec): Decided => {
  const { base, common, doubted, exclusions, inLine, input, lkgpEnabled, unavailable } = grounds
  const { candidates, features, memory, nowMs, resolution, seed } = input
  const { candidates: usable } = common
  // Written out: this many fields put together by spreading cost more than the decision.
  const auto = orderAuto({
    candidates: usable,
    features,
    policy: resolution.policy,
    memory,
    random: common.random,
    nowMs,
    unavailable,
    spec,
    modeHeader: input.modeHeader,
    budgetHeader: input.budgetHeader,
    healing: input.healing,
    strategies: input.routerStrategies,
    fitness: input.fitness ?? autoDefaults.fitness,
    freeTierStrict: input.freeTierStrict,
    lkgpEnabled,
    lastKnownGoodProvider: autoDefaults.lastKnownGoodProvider
  })
  for (const { candidate, detail, rule, untilMs } of auto.exclusions) {
    if (!exclusions.has(candidate.target)) exclusions.set(candidate.target, { rule, untilMs, detail })
  }
  const scores = scoresOf(candidates, auto.scores)
  if (usable.length === 0) {
    const reason = inLine.length === 0 ? noFreeTarget : noneReady
    return { ...base, order: inLine, reason, scores, weights: auto.weights }
  }
  if (auto._tag === "NoFreeCandidate") {
    return { ...base, order: inLine, reason: noFreeTarget, scores, weights: auto.weights }
  }
  // A detour is there to be measured.
  const ranked: Ordering =
    auto.detour === null ? byEvals<Ordering>(auto, resolution.policy.evalRouting, input.evals, nowMs) : auto
  const kept = auto.detour === null ? withAffinity(ranked, input.affinity, exclusions, "auto") : ranked
  const { order, reason, relaxed } = withoutSlow(
    kept,
    auto.detour === null ? resolution.policy : noPolicy,
    exclusions,
    kept.order === auto.order ? auto.targets : undefined
  )
  return {
    strategy: resolution.strategy,
    seed,
    order: doubted.length === 0 ? order : [...order, ...doubted],
    reason,
    weights: ranked.weights ?? null,
    scores: ranked === auto ? scores : scoresOf(candidates, ranked.scores),
    exclusions,
    relaxedFilters: relaxed.length === 0 ? auto.relaxedFilters : [...auto.relaxedFilters, ...relaxed],
    memory: auto.memory,
    probes: auto.probes,
    healing: auto.healing,
    detour: auto.detour
  }
}

export const decide = (input: DecideInput): Decided => {
  const { candidates, features, memory, nowMs, resolution, seed } = input
  const lkgpEnabled = input.lkgpEnabled !== false && resolution.policy.lkgpEnabled
  const exclusions = new Map<Target, Excluded>()
  const areAllReady = input.areAllReady === true || candidates.every(isReady)
  const usable = areAllReady ? candidates : candidates.filter(isReady)
  const unavailable = areAllReady ? noCandidates : candidates.filter((candidate) => !isReady(candidate))
  for (const { target, unready } of unavailable) if (unready !== null) exclusions.set(target, excludedBy(unready))
  const base = {
    strategy: resolution.strategy,
    seed,
    weights: null,
    scores: noScores,
    exclusions,
    relaxedFilters: [],
    memory: null,
    probes: noProbes,
    healing: input.healing,
    detour: null
  }
  const common: StrategyInput = {
    candidates: usable,
    features,
    policy: resolution.policy,
    memory,
    random: makeSeededRandom(seed),
    nowMs
  }
  const spec = autoSpecOf(resolution)
  // Targets come back while others are tried: one that is not free must not wait where only free ones may.
  const onlyFree = spec?.filter.tier === "free" && input.freeTierStrict
  const inReserve = onlyFree ? unavailable.filter(isFree) : unavailable
  const inLine = inReserve.map(({ target }) => target)
  const doubted = inReserve.filter(({ unready }) => unready?.lastResort !== undefined).map(({ target }) => target)
  // None may be called: failover says why, and when that will be over.
  if (usable.length === 0 && spec === null) return { ...base, order: inLine, reason: noneReady }
  const grounds = { input, base, common, exclusions, unavailable, inLine, doubted, lkgpEnabled }
  return spec === null ? byStrategy(grounds) : byAuto(grounds, spec)
}
