/**
 * The auto strategy (docs/routing.md): filter, score, leave out unhealthy candidates, let the router strategy name the first, now and then
 * explore; the rest follow by score. Pure: what is to be remembered is part of the result.
 */
import { byStrategy } from "../candidate/Reason.ts"
import type { SlaPolicy } from "../../../subjects/combos/entity/ComboPolicy.ts"
import type { Candidate, Features } from "../candidate/Candidate.ts"
import type { Ordering, Score, StrategyInput } from "../candidate/Strategy.ts"
import { budgetOfHeader, weightsOf } from "./RequestHeaders.ts"
import { LazyMap } from "../../../kernel/collections/LazyMap.ts"
import { inFront } from "../strategies/Ordering.ts"
import type { AutoSpec } from "../resolve/AutoId.ts"
import type { Target } from "../resolve/ModelResolver.ts"
import { explore } from "./Exploration.ts"
import { factorsOf } from "./Factors.ts"
import {
  applyFilters,
  asksForRoomOnly,
  type AutoExclusion,
  type Filtered,
  type FilterRequest,
  type FilterRule
} from "./Filters.ts"
import { staticFitness, type FitnessTable } from "./Fitness.ts"
import { type Layout, layoutOf } from "./Layout.ts"
import { blendedUsd, errorRateOf, p95Of, poolOf, type Pool, type Scale } from "./Pool.ts"
import { ranked as rankedBy } from "./Rank.ts"
import {
  builtInStrategy,
  choose,
  chooseRanked,
  type PoolMember,
  type RankedPool,
  type RoutingContext,
  type StrategyLookup
} from "./RouterStrategies.ts"
import {
  healed,
  isIncident,
  isTooLow,
  look,
  probeStarted,
  steadied,
  withHealing,
  type Healing,
  type HealingState,
  type Standing
} from "./SelfHealing.ts"
import { ratingOf } from "./Rating.ts"
import { scoreAll } from "./Scores.ts"
import type { Weights } from "../../../subjects/combos/entity/AutoWeights.ts"

export interface AutoInput extends StrategyInput {
  /** Candidates that may not be called now: scored for the record, and counted where breakers are counted. */
  readonly unavailable: ReadonlyArray<Candidate>
  readonly spec: AutoSpec
  /** The values of `X-Gateway-Mode` and `X-Gateway-Budget`, as they came. */
  readonly modeHeader: string | null
  readonly budgetHeader: string | null
  readonly healing: HealingState
  readonly strategies: StrategyLookup
  readonly fitness: FitnessTable
  /** `routing.freeTierStrict`. */
  readonly freeTierStrict: boolean
  readonly lkgpEnabled: boolean
  /** Provider of `memory.lastKnownGood`, where it is known though its connection is gone. */
  readonly lastKnownGoodProvider: string | null
}

/** Usual values for the rest of an `AutoInput`. */
export const autoDefaults = {
  unavailable: [],
  modeHeader: null,
  budgetHeader: null,
  healing: healed,
  strategies: builtInStrategy,
  fitness: staticFitness,
  freeTierStrict: false,
  lkgpEnabled: true,
  lastKnownGoodProvider: null
} as const satisfies Partial<AutoInput>

export interface AutoOrdering extends Ordering {
  readonly _tag: "Ordered"
  /** Targets of the order; absent where they were not at hand. */
  readonly targets?: ReadonlyArray<Target>
  /** Scores of every candidate, also of those left out and those that may not be called. */
  readonly scores: ReadonlyMap<string, Score>
  readonly weights: Weights
  /** Rule `score`: in the order all the same, behind all others, as a last resort. All other rules: not in the order. */
  readonly exclusions: ReadonlyArray<AutoExclusion>
  readonly relaxedFilters: ReadonlyArray<FilterRule>
  readonly healing: HealingState
  /** Keys whose next call is a probe and gets `probeTimeoutMs`. */
  readonly probes: ReadonlySet<string>
  /** The first is not the favourite: its success should not make it the last known good. */
  readonly detour: "exploration" | "probe" | null
  readonly incident: boolean
}

/** `:free` was asked for with `routing.freeTierStrict`, and nothing free may be called. */
export interface NoFreeCandidate {
  readonly _tag: "NoFreeCandidate"
  readonly scores: ReadonlyMap<string, Score>
  readonly weights: Weights
  readonly exclusions: ReadonlyArray<AutoExclusion>
}

const scoreOf = (factors: ReturnType<typeof factorsOf>, weights: Weights): number =>
  weights.health * factors.health +
  weights.quota * factors.quota +
  weights.costInv * factors.costInv +
  weights.latencyInv * factors.latencyInv +
  weights.taskFit * factors.taskFit +
  weights.stability * factors.stability +
  weights.tierPriority * factors.tierPriority +
  weights.tierAffinity * factors.tierAffinity +
  weights.specificityMatch * factors.specificityMatch +
  weights.contextAffinity * factors.contextAffinity +
  weights.connectionDensity * factors.connectionDensity +
  weights.resetWindowAffinity * factors.resetWindowAffinity

/** Computes the scores with their factors: the weighted sum and nothing else, without penalties. */
const shownScores = (
  candidates: ReadonlyArray<Candidate>,
  pool: Pool,
  features: Features,
  nowMs: number,
  weights: Weights
): Map<string, Score> => {
  const scores = new Map<string, Score>()
  for (const candidate of candidates) {
    const factors = factorsOf(candidate, pool, features, nowMs)
    scores.set(candidate.key, { score: scoreOf(factors, weights), factors })
  }
  return scores
}

interface Examined {
  /** Candidates to choose from, best score first. */
  readonly ranked: ReadonlyArray<Candidate>
  /** Candidates left out for their score, best first. */
  readonly out: ReadonlyArray<Candidate>
  readonly exclusions: ReadonlyArray<AutoExclusion>
  /** Candidates whose exclusion ended and that were not called since. */
  readonly due: ReadonlySet<string>
  readonly healing: HealingState
  readonly relaxed: boolean
}

const noKeys: ReadonlySet<string> = new Set()

/** Leaves out candidates with too low a score. When that would be all of them, none is. `rated`: best score first. */
const examine = (
  rated: ReadonlyArray<Candidate>,
  scoreAt: (index: number) => number,
  healing: HealingState,
  nowMs: number
): Examined => {
  if (healing.size === 0 && (rated.length === 0 || !isTooLow(scoreAt(rated.length - 1)))) {
    return { ranked: rated, out: [], exclusions: [], due: noKeys, healing, relaxed: false }
  }
  const changes: Array<readonly [string, Healing | null]> = []
  const ranked: Array<Candidate> = []
  const standings = rated.map((candidate, index): Standing => {
    const seen = look(healing.get(candidate.key) ?? null, scoreAt(index), nowMs)
    changes.push([candidate.key, seen.healing])
    if (seen.standing._tag !== "out") ranked.push(candidate)
    return seen.standing
  })
  if (ranked.length === 0) {
    return { ranked: rated, out: [], exclusions: [], due: noKeys, healing, relaxed: rated.length > 0 }
  }
  const due = new Set<string>()
  const out: Array<Candidate> = []
  const exclusions: Array<AutoExclusion> = []
  for (const [index, candidate] of rated.entries()) {
    const standing = standings[index]
    if (standing?._tag === "probe") due.add(candidate.key)
    if (standing?._tag !== "out") continue
    out.push(candidate)
    const detail = `its score fell below the limit (now ${scoreAt(index).toFixed(3)})`
    exclusions.push({ candidate, rule: "score", untilMs: standing.untilMs, detail })
  }
  return { ranked, out, exclusions, due, healing: withHealing(healing, changes), relaxed: false }
}

/** Scales of a decision that all its members share. */
interface Scaled {
  readonly scores: ReadonlyMap<string, Score>
  readonly p95Ms: Scale
}

/** Most router strategies look at little of a member, so the rest is worked out when it is asked for. */
class Member implements PoolMember {
  readonly provider: string
  readonly connectionId: string
  readonly score: number
  readonly breaker: PoolMember["breaker"]
  readonly #candidate: Candidate
  readonly #scaled: Scaled

  constructor(candidate: Candidate, score: number, scaled: Scaled) {
    const { connectionId, provider } = ratingOf(candidate)
    this.provider = provider
    this.connectionId = connectionId
    this.score = score
    this.breaker = candidate.breaker
    this.#candidate = candidate
    this.#scaled = scaled
  }

  get model(): string {
    return this.#candidate.target.model
  }

  get factors(): Score["factors"] {
    return this.#scaled.scores.get(this.#candidate.key)?.factors ?? {}
  }

  get costPer1MTokens(): number | null {
    return blendedUsd(this.#candidate)
  }

  get p95LatencyMs(): number | null {
    return p95Of(this.#candidate, this.#scaled)
  }

  get errorRate(): number {
    return errorRateOf(this.#candidate)
  }
}

const noScale: Scale = { median: null, most: 0 }

/** `ranking`: places of the ranked in the layout. */
const rankedPool = (
  ranked: ReadonlyArray<Candidate>,
  { connectionNumbers, connections, providerNumbers, providers, targets }: Layout,
  { ranking, scores }: { readonly ranking: Int32Array; readonly scores: Float64Array },
  isAnyOpen: boolean,
  { lastKnownGood: good }: RoutingContext
): RankedPool => {
  const connection = good === null ? undefined : connectionNumbers.get(good.connectionId)
  const provider = good === null || good.provider === null ? undefined : providerNumbers.get(good.provider)
  return {
    count: ranked.length,
    isAnyOpen,
    isOpen: (index) => ranked[index]?.breaker === "OPEN",
    score: (index) => scores[ranking[index] ?? 0] ?? 0,
    nearness: (index) => {
      const place = ranking[index] ?? 0
      const own = connections[place] ?? 0
      if (own === connection) return targets[place]?.model === good?.model ? 3 : 2
      return providers[own] === provider ? 1 : 0
    }
  }
}

/** Ascending places of some candidates in the list they were taken from; null when they are all of it. */
const placesOf = (some: ReadonlyArray<Candidate>, all: ReadonlyArray<Candidate>): Int32Array | null => {
  if (some.length === all.length) return null
  const places = new Int32Array(some.length)
  let place = 0
  for (const [index, candidate] of some.entries()) {
    while (all[place] !== candidate && place < all.length) place += 1
    places[index] = place
    place += 1
  }
  return places
}

const marksOf = (places: Int32Array, count: number): Uint8Array => {
  const marks = new Uint8Array(count)
  for (const place of places) marks[place] = 1
  return marks
}

const contextOf = (
  { features, lastKnownGoodProvider, lkgpEnabled, memory }: AutoInput,
  sla: SlaPolicy
): RoutingContext => {
  const good = memory.lastKnownGood
  return {
    taskType: features.taskType,
    hasTools: features.hasTools,
    hasImages: features.hasImages,
    tokenEstimate: features.promptTokens,
    sla,
    lkgpEnabled,
    lastKnownGood: good === null ? null : { ...good, provider: lastKnownGoodProvider }
  }
}

/** Fit for a header: no separators of its own, no control characters, not long. */
const headerWords = (words: string): string =>
  words
    .replace(/[^\x20-\x7e]|;/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 120)

const first = (candidate: Candidate, others: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> =>
  candidate === others[0] ? others : inFront(others, others.indexOf(candidate))

/** The targets of an order that is the ranked ones, up to two of them in front, without looking at each candidate. */
const targetsOf = (
  order: ReadonlyArray<Candidate>,
  ranked: ReadonlyArray<Candidate>,
  { targets }: Layout,
  ranking: Int32Array
): ReadonlyArray<Target> => {
  const [one, two] = order
  const found: Array<Target> = []
  let at = 0
  for (let index = 0; index < order.length; index += 1) {
    const candidate = order[index]
    if (candidate === undefined) continue
    if (index >= 2) while (at < ranked.length && (ranked[at] === one || ranked[at] === two)) at += 1
    const target = index >= 2 && ranked[at] === candidate ? targets[ranking[at] ?? 0] : undefined
    if (target !== undefined) at += 1
    found.push(target ?? candidate.target)
  }
  return found
}

const noPlaces = new Int32Array(0)

const filter = (
  { budgetHeader, candidates, features, freeTierStrict, policy: { auto }, spec }: AutoInput,
  layout: Layout | null
): Filtered => {
  const request: FilterRequest = {
    filter: spec.filter,
    features,
    candidatePool: auto.candidatePool,
    budgetUsd: budgetOfHeader(budgetHeader) ?? auto.budgetUsd,
    freeTierStrict
  }
  const isRoomy = layout?.columns.haveRoomFor(features.promptTokens, features.maxOutputTokens ?? 0) === true
  return isRoomy && asksForRoomOnly(request)
    ? { _tag: "Kept", kept: candidates, exclusions: [], relaxedFilters: [] }
    : applyFilters(candidates, request)
}

const ratedIn = (all: ReadonlyArray<Candidate>, ranking: Int32Array): ReadonlyArray<Candidate> => {
  const rated: Array<Candidate> = []
  for (let index = 0; index < ranking.length; index += 1) {
    const candidate = all[ranking[index] ?? 0]
    if (candidate !== undefined) rated.push(candidate)
  }
  return rated
}

/** The rated ones that stay in, with their scores. */
const membersOf = (
  rated: ReadonlyArray<Candidate>,
  ranked: ReadonlyArray<Candidate>,
  scoreAt: (index: number) => number,
  scaled: ConstructorParameters<typeof Member>[2]
): ReadonlyArray<Member> => {
  const members: Array<Member> = []
  for (let index = 0; index < rated.length; index += 1) {
    const candidate = rated[index]
    // Those that stay in are in the same order.
    if (candidate !== undefined && candidate === ranked[members.length]) {
      members.push(new Member(candidate, scoreAt(index), scaled))
    }
  }
  return members
}

export const orderAuto = (input: AutoInput): AutoOrdering | NoFreeCandidate => {
  const { candidates, features, fitness, memory, nowMs, random, spec, unavailable } = input
  const { auto } = input.policy
  const all = unavailable.length === 0 ? candidates : [...candidates, ...unavailable]
  const layout = all.length === 0 ? null : layoutOf(all)
  const isAnyOpen = layout !== null && layout.columns.countIn("OPEN") > 0
  const incident = isAnyOpen && isIncident(all)
  const asked = weightsOf(spec.pack, auto, input.modeHeader)
  const weights = incident ? steadied(asked) : asked

  const filtered = filter(input, layout)
  // The scales are those of the candidates to choose from; the others are measured on them for the record.
  const kept = filtered._tag === "Kept" ? filtered.kept : candidates
  const scaling = kept.length === 0 ? all : kept
  const scores = new LazyMap(all.length, () => shownScores(all, poolOf(scaling, fitness), features, nowMs, weights))
  if (filtered._tag === "NoFreeCandidate") {
    return { _tag: "NoFreeCandidate", scores, weights, exclusions: filtered.exclusions }
  }

  const places = placesOf(scaling, all)
  const numbers = layout === null ? null : scoreAll({ all, layout, scaling: places }, features, nowMs, weights, fitness)
  const ranking =
    layout === null || numbers === null || kept.length === 0
      ? noPlaces
      : rankedBy(layout, numbers.scores, places && marksOf(places, all.length))
  const rated = ratedIn(all, ranking)
  const scoreAt = (index: number): number => numbers?.scores[ranking[index] ?? 0] ?? 0
  const { due, exclusions, healing, out, ranked, relaxed } = examine(rated, scoreAt, input.healing, nowMs)
  const rate = incident ? 0 : (auto.explorationRate ?? spec.explorationRate)
  const mayProbe = due.size > 0 || (layout !== null && layout.columns.countIn("HALF_OPEN") > 0)
  const isProbe = ({ breaker, key }: Candidate): boolean => breaker === "HALF_OPEN" || due.has(key)
  const result = (
    order: ReadonlyArray<Candidate>,
    words: string,
    detour: AutoOrdering["detour"],
    after: HealingState
  ): AutoOrdering => ({
    _tag: "Ordered",
    order: out.length === 0 ? order : [...order, ...out],
    ...(layout === null || out.length > 0 ? {} : { targets: targetsOf(order, ranked, layout, ranking) }),
    reason: byStrategy(headerWords(incident ? `${words}, incident mode` : words)),
    memory,
    scores,
    weights,
    exclusions: exclusions.length === 0 ? filtered.exclusions : [...filtered.exclusions, ...exclusions],
    relaxedFilters: relaxed ? [...filtered.relaxedFilters, "score"] : filtered.relaxedFilters,
    healing: after,
    probes: mayProbe ? new Set(ranked.filter(isProbe).map(({ key }) => key)) : noKeys,
    detour,
    incident
  })

  if (ranked.length === 0) return result([], "no candidate", null, healing)
  const name = auto.routerStrategy ?? spec.routerStrategy
  const context = contextOf(input, auto.sla)
  // Where none is left out, the places of the ranked are those of the ranking.
  const quick =
    out.length > 0 || layout === null || numbers === null
      ? null
      : chooseRanked(
          name,
          input.strategies,
          rankedPool(ranked, layout, { ranking, scores: numbers.scores }, isAnyOpen, context),
          context
        )
  const chosen =
    quick ??
    choose(
      name,
      input.strategies,
      membersOf(rated, ranked, scoreAt, { scores, p95Ms: numbers?.p95Ms ?? noScale }),
      context
    )
  const favourite = ranked[chosen.index]
  const order = favourite === undefined ? ranked : first(favourite, ranked)
  const why = chosen.overruled === null ? chosen.reason : `${chosen.overruled}, ${chosen.reason}`

  // Also where nothing is explored, and in an incident: without its probe a recovered candidate would never come back.
  const probe = mayProbe ? order.find(isProbe) : undefined
  if (probe !== undefined && probe !== favourite) {
    const cause = due.has(probe.key) ? "probe after exclusion" : "probe of a half-open provider"
    return result(first(probe, order), cause, "probe", probeStarted(healing, probe.key, nowMs))
  }
  if (probe !== undefined) return result(order, why, null, probeStarted(healing, probe.key, nowMs))
  const explored = explore(order, rate, random)
  return explored === null
    ? result(order, why, null, healing)
    : result(first(explored, order), "exploration", "exploration", healing)
}
