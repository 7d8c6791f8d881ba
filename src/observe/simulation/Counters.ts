/** Counters of a running simulation, and the report that is made of them. */
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import { nanoUsdPerUsd, type TokenCounts } from "../../domain/Usage.ts"
import type { Failure } from "../../plane/resilience/failure/FailureKind.ts"
import { costNanoUsd } from "../usage/Cost.ts"
import type { Resolution, Target } from "../../plane/routing/resolve/ModelResolver.ts"
import { percentile } from "./Distributions.ts"
import { fairnessOf, makeLag, sharesOf } from "./Fairness.ts"
import type { Health } from "../../plane/routing/health/Health.ts"
import type { Change } from "./Health.ts"
import type { SimulationReport, TargetReport } from "./Report.ts"

const blank = () => ({
  served: 0,
  firstChoices: 0,
  calls: 0,
  errors: 0,
  rateLimited: 0,
  cooldowns: 0,
  breakerOpenings: 0
})

interface CountersInput {
  readonly resolution: Resolution
  readonly price: (provider: string, model: string) => ModelPrice | null
  /** Tokens of every request. */
  readonly tokens: TokenCounts
}

type Totals = Pick<
  SimulationReport,
  "requests" | "served" | "failed" | "broken" | "fallbacks" | "retries" | "calls" | "p50Ms" | "p95Ms" | "costUsd"
>

export interface Counters {
  readonly arrived: () => void
  readonly chosenFirst: (target: Target | undefined) => void
  readonly called: (target: Target, retry: boolean) => void
  readonly served: (target: Target, latencyMs: number, requestMs: number, isFallback: boolean) => void
  readonly callFailed: (target: Target, failure: Failure) => void
  readonly changed: (target: Target, change: Change) => void
  readonly failed: (broken: boolean) => void
  readonly totals: () => Totals
  readonly fairness: () => SimulationReport["fairness"]
  readonly targets: (health: Pick<Health, "unready">, nowMs: number) => ReadonlyArray<TargetReport>
}

const inOrder = (values: ReadonlyArray<number>): ReadonlyArray<number> => values.toSorted((a, b) => a - b)

export const makeCounters = ({ price, resolution, tokens }: CountersInput): Counters => {
  const shares = sharesOf(resolution.targets.map((_, index) => resolution.weights[index] ?? 1))
  const lag = makeLag(shares)
  const byTarget = resolution.targets.map(() => ({
    counts: blank(),
    costNanoUsd: 0,
    latencies: [] as Array<number>,
    lastFailure: null as TargetReport["lastFailure"]
  }))
  const places = new Map<Target, number>(resolution.targets.map((target, index) => [target, index]))
  const of = (target: Target) => byTarget[places.get(target) ?? -1]
  const latencies: Array<number> = []
  const totals = { requests: 0, served: 0, failed: 0, broken: 0, fallbacks: 0, retries: 0 }

  const targetReport = (
    target: Target,
    index: number,
    health: Pick<Health, "unready">,
    nowMs: number
  ): TargetReport => {
    const { spec } = target.account
    const counters = byTarget[index]
    const counts = counters?.counts ?? blank()
    const ascending = inOrder(counters?.latencies ?? [])
    const reason = health.unready(target, nowMs)
    const remainingMs = reason === null || reason.untilMs === null ? null : reason.untilMs - nowMs
    return {
      provider: spec.id,
      connectionId: target.account.connection.id,
      model: target.model,
      weightShare: shares[index] ?? 0,
      share: totals.served === 0 ? 0 : counts.served / totals.served,
      ...counts,
      lastFailure: counters?.lastFailure ?? null,
      left: reason === null ? null : { rule: reason.terminal ?? reason.rule, remainingMs },
      p50Ms: percentile(ascending, 0.5),
      p95Ms: percentile(ascending, 0.95),
      costUsd: (counters?.costNanoUsd ?? 0) / nanoUsdPerUsd,
      priced: price(spec.id, target.model) !== null
    }
  }

  return {
    arrived: () => void (totals.requests += 1),
    chosenFirst: (target) => {
      const place = target === undefined ? undefined : places.get(target)
      const counters = place === undefined ? undefined : byTarget[place]
      if (place === undefined || counters === undefined) return
      lag.choose(place)
      counters.counts.firstChoices += 1
    },
    called: (target, retry) => {
      const counters = of(target)
      if (counters !== undefined) counters.counts.calls += 1
      if (retry) totals.retries += 1
    },
    served: (target, latencyMs, requestMs, isFallback) => {
      totals.served += 1
      if (isFallback) totals.fallbacks += 1
      latencies.push(requestMs)
      const counters = of(target)
      if (counters === undefined) return
      counters.counts.served += 1
      counters.latencies.push(latencyMs)
      const known = price(target.account.spec.id, target.model)
      if (known !== null) counters.costNanoUsd += costNanoUsd(tokens, known)
    },
    callFailed: (target, { kind, status }) => {
      const counters = of(target)
      if (counters === undefined) return
      counters.counts[status === 429 ? "rateLimited" : "errors"] += 1
      counters.lastFailure = { kind, status }
    },
    changed: (target, { cooled, opened }) => {
      const counters = of(target)
      if (counters === undefined) return
      if (cooled) counters.counts.cooldowns += 1
      if (opened) counters.counts.breakerOpenings += 1
    },
    failed: (broken) => {
      totals.failed += 1
      if (broken) totals.broken += 1
    },
    totals: () => {
      const ascending = inOrder(latencies)
      return {
        ...totals,
        calls: byTarget.reduce((sum, { counts }) => sum + counts.calls, 0),
        p50Ms: percentile(ascending, 0.5),
        p95Ms: percentile(ascending, 0.95),
        costUsd: byTarget.reduce((sum, { costNanoUsd: cost }) => sum + cost, 0) / nanoUsdPerUsd
      }
    },
    fairness: () =>
      fairnessOf(
        byTarget.map(({ counts }) => counts.served),
        shares,
        lag.most()
      ),
    targets: (health, nowMs) => resolution.targets.map((target, index) => targetReport(target, index, health, nowMs))
  }
}
