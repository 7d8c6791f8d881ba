/** What is counted while a simulation runs, and the report that is made of it. */
import type { ModelPrice } from "../domain/Pricing.ts"
import { nanoUsdPerUsd, type TokenCounts } from "../domain/Usage.ts"
import type { Failure } from "../resilience/failure/FailureKind.ts"
import { costNanoUsd } from "../usage/Cost.ts"
import type { Resolution, Target } from "../routing/resolve/ModelResolver.ts"
import { percentile } from "./Chance.ts"
import { fairnessOf, makeLag, sharesOf } from "./Fairness.ts"
import type { Health } from "../routing/health/Health.ts"
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

interface TallyInput {
  readonly resolution: Resolution
  readonly price: (provider: string, model: string) => ModelPrice | null
  /** Of every request. */
  readonly tokens: TokenCounts
}

type Totals = Pick<
  SimulationReport,
  "requests" | "served" | "failed" | "broken" | "fallbacks" | "retries" | "calls" | "p50Ms" | "p95Ms" | "costUsd"
>

export interface Tally {
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

export const makeTally = ({ price, resolution, tokens }: TallyInput): Tally => {
  const shares = sharesOf(resolution.targets.map((_, index) => resolution.weights[index] ?? 1))
  const lag = makeLag(shares)
  const tallies = resolution.targets.map(() => ({
    counts: blank(),
    costNanoUsd: 0,
    latencies: [] as Array<number>,
    lastFailure: null as TargetReport["lastFailure"]
  }))
  const places = new Map<Target, number>(resolution.targets.map((target, index) => [target, index]))
  const of = (target: Target) => tallies[places.get(target) ?? -1]
  const latencies: Array<number> = []
  const totals = { requests: 0, served: 0, failed: 0, broken: 0, fallbacks: 0, retries: 0 }

  const targetReport = (
    target: Target,
    index: number,
    health: Pick<Health, "unready">,
    nowMs: number
  ): TargetReport => {
    const { spec } = target.account
    const tally = tallies[index]
    const counts = tally?.counts ?? blank()
    const ascending = inOrder(tally?.latencies ?? [])
    const reason = health.unready(target, nowMs)
    const remainingMs = reason === null || reason.untilMs === null ? null : reason.untilMs - nowMs
    return {
      provider: spec.id,
      connectionId: target.account.connection.id,
      model: target.model,
      weightShare: shares[index] ?? 0,
      share: totals.served === 0 ? 0 : counts.served / totals.served,
      ...counts,
      lastFailure: tally?.lastFailure ?? null,
      left: reason === null ? null : { rule: reason.terminal ?? reason.rule, remainingMs },
      p50Ms: percentile(ascending, 0.5),
      p95Ms: percentile(ascending, 0.95),
      costUsd: (tally?.costNanoUsd ?? 0) / nanoUsdPerUsd,
      priced: price(spec.id, target.model) !== null
    }
  }

  return {
    arrived: () => void (totals.requests += 1),
    chosenFirst: (target) => {
      const place = target === undefined ? undefined : places.get(target)
      const tally = place === undefined ? undefined : tallies[place]
      if (place === undefined || tally === undefined) return
      lag.choose(place)
      tally.counts.firstChoices += 1
    },
    called: (target, retry) => {
      const tally = of(target)
      if (tally !== undefined) tally.counts.calls += 1
      if (retry) totals.retries += 1
    },
    served: (target, latencyMs, requestMs, isFallback) => {
      totals.served += 1
      if (isFallback) totals.fallbacks += 1
      latencies.push(requestMs)
      const tally = of(target)
      if (tally === undefined) return
      tally.counts.served += 1
      tally.latencies.push(latencyMs)
      const known = price(target.account.spec.id, target.model)
      if (known !== null) tally.costNanoUsd += costNanoUsd(tokens, known)
    },
    callFailed: (target, { kind, status }) => {
      const tally = of(target)
      if (tally === undefined) return
      tally.counts[status === 429 ? "rateLimited" : "errors"] += 1
      tally.lastFailure = { kind, status }
    },
    changed: (target, { cooled, opened }) => {
      const tally = of(target)
      if (tally === undefined) return
      if (cooled) tally.counts.cooldowns += 1
      if (opened) tally.counts.breakerOpenings += 1
    },
    failed: (broken) => {
      totals.failed += 1
      if (broken) totals.broken += 1
    },
    totals: () => {
      const ascending = inOrder(latencies)
      return {
        ...totals,
        calls: tallies.reduce((sum, { counts }) => sum + counts.calls, 0),
        p50Ms: percentile(ascending, 0.5),
        p95Ms: percentile(ascending, 0.95),
        costUsd: tallies.reduce((sum, { costNanoUsd: cost }) => sum + cost, 0) / nanoUsdPerUsd
      }
    },
    fairness: () =>
      fairnessOf(
        tallies.map(({ counts }) => counts.served),
        shares,
        lag.most()
      ),
    targets: (health, nowMs) => resolution.targets.map((target, index) => targetReport(target, index, health, nowMs))
  }
}
