/** The candidates of a resolution: its targets, with everything that is known about them now. */
import type { AccountTier } from "../../domain/Connection.ts"
import type { ModelPrice } from "../../domain/Pricing.ts"
import type * as Catalog from "../../providers/Catalog.ts"
import type { ModelFacts } from "../../providers/ModelFacts.ts"
import type * as Breakers from "../../resilience/breaker/Breakers.ts"
import { guardedOf } from "../health/AccountClass.ts"
import type { Resolution, Target } from "../resolve/ModelResolver.ts"
import type * as QuotaWindows from "../quota/QuotaWindows.ts"
import type * as PerformanceStats from "../stats/PerformanceStats.ts"
import type * as TargetHealth from "../health/TargetHealth.ts"
import type { Candidate, Price } from "../candidate/Candidate.ts"
import { targetKeyOf } from "../resolve/TargetKey.ts"

export interface CandidateSources {
  readonly catalog: Pick<typeof Catalog.Catalog.Service, "factsOf">
  readonly health: Pick<typeof TargetHealth.TargetHealth.Service, "unready">
  readonly breakers: Pick<typeof Breakers.Breakers.Service, "phaseOf">
  readonly stats: typeof PerformanceStats.PerformanceStats.Service
  readonly quotas: Pick<typeof QuotaWindows.QuotaWindows.Service, "of">
  readonly price: (provider: string, model: string, nowMs: number) => ModelPrice | null
}

const priceOf = (price: ModelPrice | null): Price | null =>
  price === null ? null : { inputUsd: price.input, outputUsd: price.output }

const tierOf = ({ account }: Target): AccountTier | null => account.connection.tier

/** What of a resolution its candidates are made from. */
type Candidacy = Pick<Resolution, "targets" | "weights" | "combo" | "strategy">

/** The combo whose own requests are counted apart from all others to the same targets: `least-used` shares out those. */
export const countedFor = ({ combo, strategy }: Pick<Resolution, "combo" | "strategy">): string | undefined =>
  strategy === "least-used" ? combo?.name : undefined

/** What does not change from one request to the next. */
interface ReadyTarget {
  readonly key: string
  readonly facts: ModelFacts
  readonly tier: AccountTier | null
}

/**
 * Candidates of resolutions; what is the same for every request is kept by target. Sound because a change of the catalogue or of a list
 * of models makes new targets (`Resolutions`). Prices are read anew: some change with the time of day.
 */
export const makeCandidates = (sources: CandidateSources) => {
  const { breakers, catalog, health, quotas, stats } = sources
  const kept = new WeakMap<Target, ReadyTarget>()

  const readyOf = (target: Target): ReadyTarget => {
    const known = kept.get(target)
    if (known !== undefined) return known
    const ready = {
      key: targetKeyOf(target),
      facts: catalog.factsOf(target.account, target.model),
      tier: tierOf(target)
    }
    kept.set(target, ready)
    return ready
  }

  return (resolution: Candidacy, nowMs: number): ReadonlyArray<Candidate> => {
    const { targets, weights } = resolution
    const combo = countedFor(resolution)
    return targets.map((target, index): Candidate => {
      const { account, model } = target
      const { connection, spec } = account
      const { facts, key, tier } = readyOf(target)
      return {
        target,
        key,
        weight: weights[index] ?? 1,
        facts,
        tier,
        price: priceOf(sources.price(spec.id, model, nowMs)),
        breaker: breakers.phaseOf(guardedOf(account), nowMs),
        unready: health.unready(target, nowMs),
        performance: stats.of(connection.id, model, nowMs),
        quotas: quotas.of(connection, nowMs, model),
        used: stats.used(connection.id, model, nowMs, combo),
        inFlight: stats.inFlight(connection.id, model, combo)
      }
    })
  }
}

/** The same, for one resolution. */
export const candidatesOf = (
  sources: CandidateSources,
  resolution: Candidacy,
  nowMs: number
): ReadonlyArray<Candidate> => makeCandidates(sources)(resolution, nowMs)
