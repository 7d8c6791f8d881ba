/**
 * Limits of API keys: budgets in USD and token limits, each per day, week or month. Money is integer nano-USD inside, USD outside.
 */
import * as Schema from "effect/Schema"

export const resetIntervals = ["daily", "weekly", "monthly"] as const
export const ResetInterval = Schema.Literal(...resetIntervals)
export type ResetInterval = typeof ResetInterval.Type

/**
 * Rule for the beginning of a window: every day, every Monday or every first of the month, at a time of day in a zone.
 */
export interface ResetRule {
  readonly interval: ResetInterval
  /** `HH:MM`. */
  readonly resetTime: string
  /** Name of the IANA database. */
  readonly timeZone: string
}

/** Parts of a limit at which its use is reported (`quota.exceeded`): its warning threshold, or all of it. */
export const limitThresholds = ["warning", "limit"] as const
export const LimitThreshold = Schema.Literal(...limitThresholds)
export type LimitThreshold = typeof LimitThreshold.Type

/** Threshold of a budget that names none, and of limits that have none of their own. */
export const defaultWarningThreshold = 0.8

/** A key's budget; a limit of 0 is none, and at least one is positive. */
export interface Budget {
  readonly apiKeyId: string
  readonly dailyLimitNanoUsd: number
  readonly weeklyLimitNanoUsd: number
  readonly monthlyLimitNanoUsd: number
  /** Part of a limit, from 0 to 1, at which a warning is shown and sent. */
  readonly warningThreshold: number
  /** The interval that `windowStart` and the sums of the budget's status refer to. */
  readonly resetInterval: ResetInterval
  readonly resetTime: string
  readonly timeZone: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export const limitScopes = ["model", "provider", "global"] as const
export const LimitScope = Schema.Literal(...limitScopes)
export type LimitScope = typeof LimitScope.Type

/** Prompt and answer tokens that a key may use of a model, of a provider, or in all. */
export interface TokenLimit {
  readonly id: string
  readonly apiKeyId: string
  readonly scopeType: LimitScope
  /** `provider/model`, a provider's id, or empty for the scope `global`. */
  readonly scopeValue: string
  readonly tokenLimit: number
  readonly resetInterval: ResetInterval
  readonly resetTime: string
  readonly timeZone: string
  readonly enabled: boolean
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Budget of a person or a team. Windows begin at a time of day in a zone; a limit of 0 is none. */
export const OwnerBudget = Schema.Struct({
  dailyLimitNanoUsd: Schema.Number,
  weeklyLimitNanoUsd: Schema.Number,
  monthlyLimitNanoUsd: Schema.Number,
  warningThreshold: Schema.Number,
  resetTime: Schema.String,
  timeZone: Schema.String
})
export type OwnerBudget = typeof OwnerBudget.Type

/** Limits of a person or a team besides money, by the days, weeks and months of UTC; 0 is none. */
export const OwnerLimits = Schema.Struct({
  dailyTokens: Schema.Number,
  weeklyTokens: Schema.Number,
  monthlyTokens: Schema.Number,
  requestsPerDay: Schema.Number
})
export type OwnerLimits = typeof OwnerLimits.Type
