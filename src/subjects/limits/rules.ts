/** Rules for budgets and token limits, and the conversion of an input to one. Pure. */
import * as Either from "effect/Either"
import type { GivenOwnerBudget, GivenOwnerLimits, SetBudget, SetTokenLimit } from "./routes.ts"
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import {
  type Budget,
  defaultWarningThreshold,
  type OwnerBudget,
  type OwnerLimits,
  type ResetInterval,
  resetIntervals,
  type TokenLimit
} from "./entity.ts"
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import { isTimeZone } from "../../kernel/time/TimeZones.ts"

const midnight = "00:00"
const utc = "UTC"

export const toNanoUsd = (usd: number | undefined): number => Math.round((usd ?? 0) * nanoUsdPerUsd)

const zoneProblem = (tz: string | undefined): FieldProblem | null =>
  tz === undefined || isTimeZone(tz)
    ? null
    : { field: "tz", message: "must be a time zone of the IANA database, such as 'Europe/Zurich' or 'UTC'" }

/** The shortest window that has a limit. */
const shortest = (limits: Readonly<Record<ResetInterval, number>>): ResetInterval =>
  resetIntervals.find((interval) => limits[interval] > 0) ?? "daily"

/** A budget as a whole: what is not given has no limit, or its default. */
export const budgetOf = (
  input: SetBudget,
  before: Budget | null,
  nowMs: number
): Either.Either<Budget, FieldProblem> => {
  const limits = {
    daily: toNanoUsd(input.dailyLimitUsd),
    weekly: toNanoUsd(input.weeklyLimitUsd),
    monthly: toNanoUsd(input.monthlyLimitUsd)
  }
  if (limits.daily + limits.weekly + limits.monthly === 0) {
    return Either.left({
      field: "dailyLimitUsd",
      message: "at least one of dailyLimitUsd, weeklyLimitUsd and monthlyLimitUsd must be greater than zero"
    })
  }
  const problem = zoneProblem(input.tz)
  if (problem !== null) return Either.left(problem)
  return Either.right({
    apiKeyId: input.apiKeyId,
    dailyLimitNanoUsd: limits.daily,
    weeklyLimitNanoUsd: limits.weekly,
    monthlyLimitNanoUsd: limits.monthly,
    warningThreshold: input.warningThreshold ?? defaultWarningThreshold,
    resetInterval: input.resetInterval ?? shortest(limits),
    resetTime: input.resetTime ?? midnight,
    timeZone: input.tz ?? utc,
    createdAtMs: before?.createdAtMs ?? nowMs,
    updatedAtMs: nowMs
  })
}

/** Budget of a person or a team as a whole; null: no limit is above zero. */
export const ownerBudgetOf = (given: GivenOwnerBudget | null): OwnerBudget | null => {
  if (given === null) return null
  const budget = {
    dailyLimitNanoUsd: toNanoUsd(given.dailyLimitUsd),
    weeklyLimitNanoUsd: toNanoUsd(given.weeklyLimitUsd),
    monthlyLimitNanoUsd: toNanoUsd(given.monthlyLimitUsd),
    warningThreshold: given.warningThreshold ?? defaultWarningThreshold,
    resetTime: given.resetTime ?? midnight,
    timeZone: given.tz ?? utc
  }
  return budget.dailyLimitNanoUsd + budget.weeklyLimitNanoUsd + budget.monthlyLimitNanoUsd === 0 ? null : budget
}

/** Other limits of a person or a team as a whole; null: none is above zero. */
export const ownerLimitsOf = (given: GivenOwnerLimits | null): OwnerLimits | null => {
  if (given === null) return null
  const { dailyTokens = 0, monthlyTokens = 0, requestsPerDay = 0, weeklyTokens = 0 } = given
  return dailyTokens + weeklyTokens + monthlyTokens + requestsPerDay === 0
    ? null
    : { dailyTokens, weeklyTokens, monthlyTokens, requestsPerDay }
}

const scopeProblem = ({ scopeType, scopeValue = "" }: SetTokenLimit): FieldProblem | null => {
  const field = "scopeValue"
  switch (scopeType) {
    case "global":
      return scopeValue === "" ? null : { field, message: "must be absent for the scope 'global'" }
    case "provider":
      return scopeValue === "" || scopeValue.includes("/") ? { field, message: "must be the id of a provider" } : null
    case "model":
      return /^[^/]+\/.+$/.test(scopeValue) ? null : { field, message: "must be '<provider>/<model>'" }
  }
}

/** Limits that count the same, so that only the smaller one would ever hold. */
const isSameScope = (one: TokenLimit, other: TokenLimit): boolean =>
  one.id !== other.id &&
  one.apiKeyId === other.apiKeyId &&
  one.scopeType === other.scopeType &&
  one.scopeValue === other.scopeValue &&
  one.resetInterval === other.resetInterval

/** `id`: of a new limit. The limit of the same id, or of the same scope and interval, is replaced. */
export const tokenLimitOf = (
  input: SetTokenLimit,
  known: ReadonlyArray<TokenLimit>,
  id: string,
  nowMs: number
): Either.Either<TokenLimit, FieldProblem> => {
  const problem = scopeProblem(input) ?? zoneProblem(input.tz)
  if (problem !== null) return Either.left(problem)
  const limit: TokenLimit = {
    id: input.id ?? id,
    apiKeyId: input.apiKeyId,
    scopeType: input.scopeType,
    scopeValue: input.scopeValue ?? "",
    tokenLimit: input.tokenLimit,
    resetInterval: input.resetInterval ?? "monthly",
    resetTime: input.resetTime ?? midnight,
    timeZone: input.tz ?? utc,
    enabled: input.enabled ?? true,
    createdAtMs: nowMs,
    updatedAtMs: nowMs
  }
  const before = known.find((each) => each.id === limit.id)
  if (input.id !== undefined && before === undefined) {
    return Either.left({ field: "id", message: "is the id of no token limit; leave it out to add one" })
  }
  const same = known.find((each) => isSameScope(each, limit))
  if (same !== undefined && before !== undefined) {
    return Either.left({ field: "scopeValue", message: `the limit '${same.id}' is for the same scope and interval` })
  }
  const replaced = before ?? same
  return Either.right(replaced === undefined ? limit : { ...limit, id: replaced.id, createdAtMs: replaced.createdAtMs })
}
