/**
 * Input of a decision: the targets with everything known about them, and the request's features. Plain data, so that the same
 * candidates, features, policy, clock and seed always give the same decision. Unknown is null, never a guess.
 */
import type { AccountTier } from "../../../subjects/connections/entity.ts"
import type { WireName } from "../../../contract/domain/Wire.ts"
import type { ModelFacts } from "../../providers/ModelFacts.ts"
import type { BreakerPhase } from "../../resilience/breaker/Breaker.ts"
import type { Target } from "../resolve/ModelResolver.ts"
import type { Unready } from "../health/TargetHealth.ts"

/** Measured from live traffic, in a bounded window. Milliseconds. */
export interface Performance {
  readonly samples: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly deviationMs: number
  /** Fraction of calls that failed, [0, 1]. */
  readonly errorRate: number
  readonly ttftMs: number | null
  readonly tokensPerSecond: number | null
}

/** One window of a quota. */
export interface QuotaWindow {
  /** `rate`: the tightest rate limit in force, of a minute or of a window without a name. */
  readonly window: "5h" | "hourly" | "daily" | "weekly" | "monthly" | "rate"
  /** Part of it that is left, [0, 1]. */
  readonly remaining: number
  /** Epoch milliseconds; null when it is not known. */
  readonly resetAtMs: number | null
}

/** USD per 1,000,000 tokens. */
export interface Price {
  readonly inputUsd: number
  readonly outputUsd: number
}

/** Key of a member that does not count as a part of the candidate: listings and comparisons leave it out. */
export const memo: unique symbol = Symbol("memo")

export interface Candidate {
  readonly target: Target
  /** `connectionId` and `model`: the same target in the next request has the same key. */
  readonly key: string
  /** Weight by the combo; 1 where it gives none. A step that stands for several accounts is shared between them. */
  readonly weight: number
  readonly facts: ModelFacts
  readonly tier: AccountTier | null
  /** Null: not priced. Free is a price of 0. */
  readonly price: Price | null
  readonly breaker: BreakerPhase
  /** Null when it may be called now. */
  readonly unready: Unready | null
  /** Measurements of this connection and model; null before the first sample. */
  readonly performance: Performance | null
  /** Empty when nothing is known. */
  readonly quotas: ReadonlyArray<QuotaWindow>
  /** Requests it has served in the window of the statistics; for `least-used` only the combo's own. */
  readonly used: number
  /** Requests in progress; for `least-used` only the combo's own. */
  readonly inFlight: number
  /** Cache for facts that a strategy has derived from this candidate alone. */
  [memo]?: CandidateMemo | undefined
}

export interface CandidateMemo {
  /** The candidate it holds for: a copy of a candidate brings along what held for the other. */
  readonly of: Candidate
}

export type TaskType = "coding" | "review" | "planning" | "analysis" | "debugging" | "documentation" | "default"

/** Facts of a request for a decision; never its text. */
export interface Features {
  readonly wire: WireName
  readonly stream: boolean
  /** Estimated from the real size of the request. */
  readonly promptTokens: number
  /** The client's own limit; null when it set none. */
  readonly maxOutputTokens: number | null
  readonly hasTools: boolean
  readonly hasImages: boolean
  readonly wantsReasoning: boolean
  readonly wantsSchema: boolean
  readonly taskType: TaskType
  /** 0 (trivial) to 100 (expert). */
  readonly specificity: number
  /** Key of the caller's session; null without one. */
  readonly sessionKey: string | null
}
