/** The auto strategy as it is defined, step by step with an object for everything: what `orderAuto` must agree with. */
import { byStrategy } from "../../src/plane/routing/candidate/Reason.ts"
import type { SlaPolicy } from "../../src/subjects/combos/entity/ComboPolicy.ts"
import type { Candidate, Features } from "../../src/plane/routing/candidate/Candidate.ts"
import type { Score } from "../../src/plane/routing/candidate/Strategy.ts"
import { budgetOfHeader, weightsOf } from "../../src/plane/routing/auto/RequestHeaders.ts"
import type { AutoInput, AutoOrdering, NoFreeCandidate } from "../../src/plane/routing/auto/Auto.ts"
import { explore } from "../../src/plane/routing/auto/Exploration.ts"
import { factorsOf } from "../../src/plane/routing/auto/Factors.ts"
import { applyFilters, type AutoExclusion } from "../../src/plane/routing/auto/Filters.ts"
import { blendedUsd, errorRateOf, p95Of, poolOf, type Pool } from "../../src/plane/routing/auto/Pool.ts"
import { choose, type PoolMember, type RoutingContext } from "../../src/plane/routing/auto/RouterStrategies.ts"
import {
  isIncident,
  look,
  probeStarted,
  steadied,
  withHealing,
  type Healing,
  type HealingState,
  type Standing
} from "../../src/plane/routing/auto/SelfHealing.ts"
import type { Weights } from "../../src/subjects/combos/entity/AutoWeights.ts"

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

/** The score is the weighted sum of the factors and nothing else: there are no penalties beside them. */
const scoreAll = (
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

/** Leaves out candidates with too low a score. When that would be all of them, none is. */
const examine = (
  kept: ReadonlyArray<Candidate>,
  scoreBy: (candidate: Candidate) => number,
  healing: HealingState,
  nowMs: number
): Examined => {
  // Each score is looked up once: sorting asks for them again and again.
  const rated = kept.map((candidate) => ({ candidate, score: scoreBy(candidate) })).sort((a, b) => b.score - a.score)
  const changes: Array<readonly [string, Healing | null]> = []
  const ranked: Array<Candidate> = []
  const standings = rated.map(({ candidate, score }): Standing => {
    const seen = look(healing.get(candidate.key) ?? null, score, nowMs)
    changes.push([candidate.key, seen.healing])
    if (seen.standing._tag !== "out") ranked.push(candidate)
    return seen.standing
  })
  if (ranked.length === 0) {
    const sorted = rated.map(({ candidate }) => candidate)
    return { ranked: sorted, out: [], exclusions: [], due: new Set(), healing, relaxed: sorted.length > 0 }
  }
  const due = new Set<string>()
  const out: Array<Candidate> = []
  const exclusions: Array<AutoExclusion> = []
  for (const [index, { candidate, score }] of rated.entries()) {
    const standing = standings[index]
    if (standing?._tag === "probe") due.add(candidate.key)
    if (standing?._tag !== "out") continue
    out.push(candidate)
    const detail = `its score fell below the limit (now ${score.toFixed(3)})`
    exclusions.push({ candidate, rule: "score", untilMs: standing.untilMs, detail })
  }
  return { ranked, out, exclusions, due, healing: withHealing(healing, changes), relaxed: false }
}

const memberOf = (candidate: Candidate, score: Score, pool: Pool): PoolMember => ({
  provider: candidate.target.account.spec.id,
  connectionId: candidate.target.account.connection.id,
  model: candidate.target.model,
  score: score.score,
  factors: score.factors,
  breaker: candidate.breaker,
  costPer1MTokens: blendedUsd(candidate),
  p95LatencyMs: p95Of(candidate, pool),
  errorRate: errorRateOf(candidate)
})

const unscored: Score = { score: 0, factors: {} }

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

const first = (candidate: Candidate, others: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> => [
  candidate,
  ...others.filter((other) => other !== candidate)
]

export const plainAuto = (input: AutoInput): AutoOrdering | NoFreeCandidate => {
  const { candidates, features, fitness, memory, nowMs, random, spec, unavailable } = input
  const { auto } = input.policy
  const all = unavailable.length === 0 ? candidates : [...candidates, ...unavailable]
  const incident = isIncident(all)
  const asked = weightsOf(spec.pack, auto, input.modeHeader)
  const weights = incident ? steadied(asked) : asked

  const filtered = applyFilters(candidates, {
    filter: spec.filter,
    features,
    candidatePool: auto.candidatePool,
    budgetUsd: budgetOfHeader(input.budgetHeader) ?? auto.budgetUsd,
    freeTierStrict: input.freeTierStrict
  })
  // The scales are those of the candidates to choose from; the others are measured on them for the record.
  const measuring = filtered._tag === "Kept" ? filtered.kept : candidates
  const pool = poolOf(measuring.length === 0 ? all : measuring, fitness)
  const scores = scoreAll(all, pool, features, nowMs, weights)
  if (filtered._tag === "NoFreeCandidate") {
    return { _tag: "NoFreeCandidate", scores, weights, exclusions: filtered.exclusions }
  }

  const scoreBy = ({ key }: Candidate): number => scores.get(key)?.score ?? 0
  const { due, exclusions, healing, out, ranked, relaxed } = examine(filtered.kept, scoreBy, input.healing, nowMs)
  const members = ranked.map((candidate) => memberOf(candidate, scores.get(candidate.key) ?? unscored, pool))
  const rate = incident ? 0 : (auto.explorationRate ?? spec.explorationRate)
  const result = (
    order: ReadonlyArray<Candidate>,
    words: string,
    detour: AutoOrdering["detour"],
    after: HealingState
  ): AutoOrdering => ({
    _tag: "Ordered",
    order: [...order, ...out],
    reason: byStrategy(headerWords(incident ? `${words}, incident mode` : words)),
    memory,
    scores,
    weights,
    exclusions: [...filtered.exclusions, ...exclusions],
    relaxedFilters: relaxed ? [...filtered.relaxedFilters, "score"] : filtered.relaxedFilters,
    healing: after,
    probes: new Set(ranked.filter(({ breaker, key }) => breaker === "HALF_OPEN" || due.has(key)).map(({ key }) => key)),
    detour,
    incident
  })

  if (members.length === 0) return result([], "no candidate", null, healing)
  const name = auto.routerStrategy ?? spec.routerStrategy
  const chosen = choose(name, input.strategies, members, contextOf(input, auto.sla))
  const favourite = ranked[chosen.index]
  const order = favourite === undefined ? ranked : first(favourite, ranked)
  const why = chosen.overruled === null ? chosen.reason : `${chosen.overruled}, ${chosen.reason}`

  // Also where nothing is explored, and in an incident: without its probe a recovered candidate would never come back.
  const probe = order.find(({ breaker, key }) => breaker === "HALF_OPEN" || due.has(key))
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
