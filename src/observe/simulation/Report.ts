/** Report at the end of a simulation. Plain data: the same simulation gives the same report. */
import type { ScenarioName } from "../../contract/domain/SimulatedFaults.ts"
import type { FailureKind } from "../../plane/resilience/failure/FailureKind.ts"

export interface TargetReport {
  readonly provider: string
  readonly connectionId: string
  readonly model: string
  /** Share by the weights, [0, 1]. */
  readonly weightShare: number
  /** Share of the requests that were served, [0, 1]. */
  readonly share: number
  readonly served: number
  /** Decisions that put it first. */
  readonly firstChoices: number
  readonly calls: number
  /** Calls that failed, but for those of the next field. */
  readonly errors: number
  /** Calls that count as 429. */
  readonly rateLimited: number
  /** Times its failures set or lengthened the connection's cooldown, and opened the provider's breaker. */
  readonly cooldowns: number
  readonly breakerOpenings: number
  /** Classification of its last failed call. */
  readonly lastFailure: { readonly kind: FailureKind; readonly status: number } | null
  /** Rule that keeps it out at the end; null: none. `remainingMs` null: an operator has to act, or it is not known. */
  readonly left: { readonly rule: string; readonly remainingMs: number | null } | null
  /** Median latency of its good answers, in ms; null without any. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly costUsd: number
  readonly priced: boolean
}

export interface SimulationReport {
  readonly model: string
  readonly combo: string | null
  readonly strategy: string
  readonly scenario: ScenarioName | null
  readonly streamed: boolean
  readonly seed: number
  readonly requests: number
  readonly served: number
  readonly failed: number
  /** Number of the failed ones of which the client had the beginning of an answer that broke off. */
  readonly broken: number
  /** Calls to a target that had failed for the same request. */
  readonly retries: number
  /** Served by another than the first choice. */
  readonly fallbacks: number
  readonly calls: number
  /** Virtual time from the first arrival to the last end. */
  readonly durationMs: number
  /** Median time of served requests in ms, from arrival to the end of the answer, failed attempts included. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly costUsd: number
  readonly fairness: {
    /** Largest difference of a share from its weight, [0, 1]; null when nothing was served. */
    readonly maxDeviation: number | null
    readonly jainIndex: number | null
    /** The furthest any target was ever ahead of its weight or behind it, in first choices. */
    readonly largestLagRequests: number
  }
  readonly targets: ReadonlyArray<TargetReport>
  /** Notes on the limits of the figures. */
  readonly notes: ReadonlyArray<string>
}
