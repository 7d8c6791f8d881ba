/**
 * The twelve factors (docs/routing.md). Each is a pure
 * function of one candidate, its pool, the request's features and the time, and lies in [0, 1]. What is not known is neutral.
 */
import type { AccountTier } from "../../../subjects/connections/entity.ts"
import type { BreakerPhase } from "../../resilience/breaker/Breaker.ts"
import type { Candidate, Features, QuotaWindow } from "../candidate/Candidate.ts"
import { type ModelTier, stepsBetween, modelTierOf } from "./ModelTier.ts"
import { blendedUsd, clamp01, deviationOf, errorRateOf, p95Of, type Pool } from "./Pool.ts"
import { recommendedTier, specificityFit } from "./Specificity.ts"
import type { FactorName } from "../../../subjects/combos/entity/AutoWeights.ts"

export type Factor = (candidate: Candidate, pool: Pool, features: Features, nowMs: number) => number

/** Value of an unknown factor. */
export const neutral = 0.5

/** DEGRADED is usable, and still behind those without failures. */
const healthOf: Readonly<Record<BreakerPhase, number>> = { CLOSED: 1, DEGRADED: 0.75, HALF_OPEN: 0.5, OPEN: 0 }

export const healthFactor = ({ breaker }: Pick<Candidate, "breaker">): number => healthOf[breaker]

/** A window whose reset lies behind us is a full one again. */
const leftIn = ({ remaining, resetAtMs }: QuotaWindow, nowMs: number): number =>
  resetAtMs !== null && resetAtMs <= nowMs ? 1 : clamp01(remaining)

/** Rates by the worst window, [0, 1]. No known window is .5: one with all of it left is more, one nearly used up less. */
export const quotaFactor = ({ quotas }: Pick<Candidate, "quotas">, nowMs: number): number => {
  if (quotas.length === 0) return neutral
  let worst = 1
  for (const window of quotas) worst = Math.min(worst, leftIn(window, nowMs))
  return worst
}

/** Free is 1, the dearest of the pool 0, not priced .5. */
const costInv: Factor = (candidate, pool) => {
  const usd = blendedUsd(candidate)
  return usd === null ? neutral : clamp01(1 - usd / Math.max(pool.mostUsd, 0.001))
}

/** The slowest of the pool is 0; all .5 when none was measured yet. */
const latencyInv: Factor = (candidate, pool) => {
  const p95Ms = p95Of(candidate, pool)
  return p95Ms === null ? neutral : clamp01(1 - p95Ms / Math.max(pool.p95Ms.most, 1))
}

/** Deviations below this are noise: in a pool of even candidates none counts as uneven. */
export const leastDeviationMs = 10

/** Both are asked for: an even latency, and answers that do not fail. */
const stability: Factor = (candidate, pool) => {
  const deviationMs = deviationOf(candidate, pool)
  const even =
    deviationMs === null ? neutral : clamp01(1 - deviationMs / Math.max(pool.deviationMs.most, leastDeviationMs))
  return even * (1 - errorRateOf(candidate))
}

const accountTiers: Readonly<Record<AccountTier, number>> = { ultra: 1, pro: 0.67, standard: 0.33, free: 0 }

export const tierPriorityFactor = ({ tier }: Pick<Candidate, "tier">): number => accountTiers[tier ?? "standard"]

const affinities = [1, 0.7, 0.3] as const

/** The model's tier against the one recommended for the request. */
export const tierAffinityOf = (
  tier: ModelTier | null,
  { hasTools, specificity }: Pick<Features, "hasTools" | "specificity">
): number =>
  tier === null ? neutral : (affinities[stepsBetween(tier, recommendedTier(specificity, hasTools))] ?? neutral)

const tierAffinity: Factor = (candidate, _pool, features) => tierAffinityOf(modelTierOf(candidate), features)

const specificityMatch: Factor = (candidate, _pool, { specificity }) =>
  specificityFit(modelTierOf(candidate), specificity)

/** Tokens expected of an answer where the client sets no limit; never the model's maximum. */
const defaultOutputTokens = 1_024

/** Returns the tokens expected of an answer where the client sets no limit. */
export const outputLimitOf = ({ maxOutputTokens }: Candidate["facts"]): number =>
  Math.min(defaultOutputTokens, maxOutputTokens ?? defaultOutputTokens)

/** Returns the tokens expected of an answer. */
export const expectedOutput = (features: Features, { facts }: Candidate): number =>
  features.maxOutputTokens ?? outputLimitOf(facts)

/** A window at least twice what is needed is 1, one that is just enough .5, one too small 0. */
const contextAffinity: Factor = (candidate, _pool, features) => {
  const { contextLength } = candidate.facts
  if (contextLength === null) return neutral
  const needed = features.promptTokens + expectedOutput(features, candidate)
  if (needed > contextLength) return 0
  return clamp01(1.5 - needed / Math.max(contextLength, 1))
}

export const shareOf = (mine: number, all: number, connections: number): number =>
  all <= 0 ? neutral : clamp01(1 - (mine / all) * (connections / 2))

/**
 * The connection's part of the load that its provider's connections carry: .5 at a fair part (also for the only one), 1 without load,
 * 0 at twice a fair part. Requests in progress and requests of the window count half each.
 */
const connectionDensity: Factor = ({ target }, pool) => {
  const load = pool.loads.get(target.account.connection.id)
  if (load === undefined) return neutral
  const { connections, inFlight, used } = load.provider
  return (shareOf(load.inFlight, inFlight, connections) + shareOf(load.used, used, connections)) / 2
}

const hourMs = 3_600_000

const horizonsMs: Readonly<Record<QuotaWindow["window"], number>> = {
  rate: 60_000,
  hourly: hourMs,
  "5h": 5 * hourMs,
  daily: 24 * hourMs,
  weekly: 7 * 24 * hourMs,
  monthly: 30 * 24 * hourMs
}

/**
 * Computes how near the next reset is, in parts of its window: a quota that is about to be renewed may be used up
 * first.
 */
export const resetWindowFactor = ({ quotas }: Pick<Candidate, "quotas">, nowMs: number): number => {
  let nearest: number | null = null
  for (const { resetAtMs, window } of quotas) {
    // A limit of a minute is always about to be renewed.
    if (resetAtMs === null || resetAtMs <= nowMs || window === "rate") continue
    nearest = Math.max(nearest ?? 0, clamp01(1 - (resetAtMs - nowMs) / horizonsMs[window]))
  }
  return nearest ?? neutral
}

const quota: Factor = (candidate, _pool, _features, nowMs) => quotaFactor(candidate, nowMs)

const resetWindowAffinity: Factor = (candidate, _pool, _features, nowMs) => resetWindowFactor(candidate, nowMs)

const taskFit: Factor = ({ facts, target }, pool, { taskType }) =>
  clamp01(pool.fitness.fitness(target.model, facts, taskType))

export const factors: Readonly<Record<FactorName, Factor>> = {
  health: healthFactor,
  quota,
  costInv,
  latencyInv,
  taskFit,
  stability,
  tierPriority: tierPriorityFactor,
  tierAffinity,
  specificityMatch,
  contextAffinity,
  connectionDensity,
  resetWindowAffinity
}

/** All factors of one candidate. */
export const factorsOf: (...of: Parameters<Factor>) => Readonly<Record<FactorName, number>> = (
  candidate,
  pool,
  features,
  nowMs
) => ({
  health: healthFactor(candidate),
  quota: quota(candidate, pool, features, nowMs),
  costInv: costInv(candidate, pool, features, nowMs),
  latencyInv: latencyInv(candidate, pool, features, nowMs),
  taskFit: taskFit(candidate, pool, features, nowMs),
  stability: stability(candidate, pool, features, nowMs),
  tierPriority: tierPriorityFactor(candidate),
  tierAffinity: tierAffinity(candidate, pool, features, nowMs),
  specificityMatch: specificityMatch(candidate, pool, features, nowMs),
  contextAffinity: contextAffinity(candidate, pool, features, nowMs),
  connectionDensity: connectionDensity(candidate, pool, features, nowMs),
  resetWindowAffinity: resetWindowAffinity(candidate, pool, features, nowMs)
})
