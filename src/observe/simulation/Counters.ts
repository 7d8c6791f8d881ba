/** Counters of a running simulation, and the report that is made of them. */
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import { nanoUsdPerUsd, type TokenCounts } from "../../contract/domain/Usage.ts"
import type { Failure } from "../../plane/resilience/failure/FailureKind.ts"
import { costNanoUsd } from "../usage/Cost.ts"
import type { Resolution, Target } from "../../plane/routing/resolve/ModelResolver.ts"
import { fairnessOf, makeLag, sharesOf } from "./Fairness.ts"
import type { Health } from "../../plane/routing/health/Health.ts"
import type { Change } from "./Health.ts"
import { Latencies } from "./Latencies.ts"
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

class SimulatedCounts implements Counters {
  readonly #price: CountersInput["price"]
  readonly #resolution: CountersInput["resolution"]
  readonly #tokens: CountersInput["tokens"]
  readonly #shares: readonly number[]
  readonly #lag: { choose: (index: number) => void; most: () => number }
  readonly #byTarget: {
    counts: {
      served: number
      firstChoices: number
      calls: number
      errors: number
      rateLimited: number
      cooldowns: number
      breakerOpenings: number
    }
    costNanoUsd: number
    latencies: Latencies
    lastFailure: TargetReport["lastFailure"]
  }[]
  readonly #places: Map<Target, number>
  readonly #latencies = new Latencies()
  readonly #totals = { requests: 0, served: 0, failed: 0, broken: 0, fallbacks: 0, retries: 0 }

  constructor({ price, resolution, tokens }: CountersInput) {
    this.#price = price
    this.#resolution = resolution
    this.#tokens = tokens
    this.#shares = sharesOf(this.#resolution.targets.map((_, index) => this.#resolution.weights[index] ?? 1))
    this.#lag = makeLag(this.#shares)
    this.#byTarget = this.#resolution.targets.map(() => ({
      counts: blank(),
      costNanoUsd: 0,
      latencies: new Latencies(),
      lastFailure: null as TargetReport["lastFailure"]
    }))
    this.#places = new Map<Target, number>(this.#resolution.targets.map((target, index) => [target, index]))
  }

  readonly arrived: Counters["arrived"] = () => void (this.#totals.requests += 1)

  readonly chosenFirst: Counters["chosenFirst"] = (target) => {
    const place = target === undefined ? undefined : this.#places.get(target)
    const counters = place === undefined ? undefined : this.#byTarget[place]
    if (place === undefined || counters === undefined) return
    this.#lag.choose(place)
    counters.counts.firstChoices += 1
  }

  readonly called: Counters["called"] = (target, retry) => {
    const counters = this.#of(target)
    if (counters !== undefined) counters.counts.calls += 1
    if (retry) this.#totals.retries += 1
  }

  readonly served: Counters["served"] = (target, latencyMs, requestMs, isFallback) => {
    this.#totals.served += 1
    if (isFallback) this.#totals.fallbacks += 1
    this.#latencies.add(requestMs)
    const counters = this.#of(target)
    if (counters === undefined) return
    counters.counts.served += 1
    counters.latencies.add(latencyMs)
    const known = this.#price(target.account.spec.id, target.model)
    if (known !== null) counters.costNanoUsd += costNanoUsd(this.#tokens, known)
  }

  readonly callFailed: Counters["callFailed"] = (target, { kind, status }) => {
    const counters = this.#of(target)
    if (counters === undefined) return
    counters.counts[status === 429 ? "rateLimited" : "errors"] += 1
    counters.lastFailure = { kind, status }
  }

  readonly changed: Counters["changed"] = (target, { cooled, opened }) => {
    const counters = this.#of(target)
    if (counters === undefined) return
    if (cooled) counters.counts.cooldowns += 1
    if (opened) counters.counts.breakerOpenings += 1
  }

  readonly failed: Counters["failed"] = (broken) => {
    this.#totals.failed += 1
    if (broken) this.#totals.broken += 1
  }

  readonly totals: Counters["totals"] = () => ({
    ...this.#totals,
    calls: this.#byTarget.reduce((sum, { counts }) => sum + counts.calls, 0),
    p50Ms: this.#latencies.percentile(0.5),
    p95Ms: this.#latencies.percentile(0.95),
    costUsd: this.#byTarget.reduce((sum, { costNanoUsd: cost }) => sum + cost, 0) / nanoUsdPerUsd
  })

  readonly fairness: Counters["fairness"] = () =>
    fairnessOf(
      this.#byTarget.map(({ counts }) => counts.served),
      this.#shares,
      this.#lag.most()
    )

  readonly targets: Counters["targets"] = (health, nowMs) =>
    this.#resolution.targets.map((target, index) => this.#targetReport(target, index, health, nowMs))

  #of(target: Target) {
    return this.#byTarget[this.#places.get(target) ?? -1]
  }

  #targetReport(target: Target, index: number, health: Pick<Health, "unready">, nowMs: number): TargetReport {
    const { spec } = target.account
    const counters = this.#byTarget[index]
    const counts = counters?.counts ?? blank()
    const reason = health.unready(target, nowMs)
    const remainingMs = reason === null || reason.untilMs === null ? null : reason.untilMs - nowMs
    return {
      provider: spec.id,
      connectionId: target.account.connection.id,
      model: target.model,
      weightShare: this.#shares[index] ?? 0,
      share: this.#totals.served === 0 ? 0 : counts.served / this.#totals.served,
      ...counts,
      lastFailure: counters?.lastFailure ?? null,
      left: reason === null ? null : { rule: reason.terminal ?? reason.rule, remainingMs },
      p50Ms: counters?.latencies.percentile(0.5) ?? null,
      p95Ms: counters?.latencies.percentile(0.95) ?? null,
      costUsd: (counters?.costNanoUsd ?? 0) / nanoUsdPerUsd,
      priced: this.#price(spec.id, target.model) !== null
    }
  }
}

export const makeCounters = (options: CountersInput): Counters => new SimulatedCounts(options)
