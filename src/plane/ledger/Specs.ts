/** The meters that the limits of a key, a person or a team stand for. Pure. */
import {
  type Budget,
  defaultWarningThreshold,
  type ResetInterval,
  type ResetRule,
  type TokenLimit
} from "../../subjects/limits/entity.ts"
import type { Owner } from "../../subjects/people/Owners.ts"
import type { MeterSpec } from "./Meter.ts"

/** A key's setting that is counted by calendar days; days are those of UTC. */
export interface DailyRequests {
  readonly id: string
  readonly maxRequestsPerDay?: number | null
}

const ofBudget = (budget: Budget): ReadonlyArray<MeterSpec> => {
  const limitsNanoUsd: Readonly<Record<ResetInterval, number>> = {
    daily: budget.dailyLimitNanoUsd,
    weekly: budget.weeklyLimitNanoUsd,
    monthly: budget.monthlyLimitNanoUsd
  }
  const { apiKeyId, resetTime, timeZone, warningThreshold } = budget
  return (["daily", "weekly", "monthly"] as const)
    .filter((interval) => limitsNanoUsd[interval] > 0)
    .map((interval) => ({
      id: `budget/${apiKeyId}/${interval}`,
      unit: "usd",
      rule: { interval, resetTime, timeZone },
      limit: limitsNanoUsd[interval],
      warningThreshold,
      scope: null
    }))
}

/** `provider/model`; the model may hold slashes itself. */
const scopeOf = ({ scopeType, scopeValue }: TokenLimit): MeterSpec["scope"] => {
  switch (scopeType) {
    case "global":
      return null
    case "provider":
      return { provider: scopeValue, model: null }
    case "model": {
      const slash = scopeValue.indexOf("/")
      return { provider: scopeValue.slice(0, slash), model: scopeValue.slice(slash + 1) }
    }
  }
}

const ofTokenLimit = (limit: TokenLimit): MeterSpec => ({
  id: `tokens/${limit.id}`,
  unit: "tokens",
  rule: { interval: limit.resetInterval, resetTime: limit.resetTime, timeZone: limit.timeZone },
  limit: limit.tokenLimit,
  warningThreshold: defaultWarningThreshold,
  scope: scopeOf(limit)
})

const utcDay: ResetRule = { interval: "daily", resetTime: "00:00", timeZone: "UTC" }

/** Lists the meters in the order in which they are asked: budgets, tokens, requests. */
export const metersOf = (
  budget: Budget | null,
  tokenLimits: ReadonlyArray<TokenLimit>,
  key: DailyRequests | null
): ReadonlyArray<MeterSpec> => [
  ...(budget === null ? [] : ofBudget(budget)),
  ...tokenLimits.filter(({ enabled }) => enabled).map(ofTokenLimit),
  ...(key?.maxRequestsPerDay == null || key.maxRequestsPerDay <= 0
    ? []
    : [
        {
          id: `requests/${key.id}`,
          unit: "requests",
          rule: utcDay,
          limit: key.maxRequestsPerDay,
          warningThreshold: defaultWarningThreshold,
          scope: null
        } as const
      ])
]

const usdIntervals = [
  ["daily", "dailyLimitNanoUsd"],
  ["weekly", "weeklyLimitNanoUsd"],
  ["monthly", "monthlyLimitNanoUsd"]
] as const

const tokenIntervals = [
  ["daily", "dailyTokens"],
  ["weekly", "weeklyTokens"],
  ["monthly", "monthlyTokens"]
] as const

/** Lists the meters of a person or a team, which their keys share. */
export const metersOfOwner = ({ kind, of }: Owner): ReadonlyArray<MeterSpec> => {
  const { budget, id, limits, name } = of
  const owner = { kind, id, name }
  const specs: Array<MeterSpec> = []
  const add = (unit: MeterSpec["unit"], rule: ResetRule, limit: number, warningThreshold: number): void => {
    if (limit <= 0) return
    specs.push({
      id: `${kind}/${id}/${unit}/${rule.interval}`,
      unit,
      rule,
      limit,
      warningThreshold,
      scope: null,
      owner
    })
  }
  if (budget !== null) {
    const { resetTime, timeZone, warningThreshold } = budget
    for (const [interval, member] of usdIntervals) {
      add("usd", { interval, resetTime, timeZone }, budget[member], warningThreshold)
    }
  }
  if (limits !== null) {
    for (const [interval, member] of tokenIntervals) {
      add("tokens", { ...utcDay, interval }, limits[member], defaultWarningThreshold)
    }
    add("requests", utcDay, limits.requestsPerDay, defaultWarningThreshold)
  }
  return specs
}

/** The two count the same: only the size of the limit and its warning may differ. */
export const isSameMeter = (one: MeterSpec, other: MeterSpec): boolean =>
  one.id === other.id &&
  one.rule.interval === other.rule.interval &&
  one.rule.resetTime === other.rule.resetTime &&
  one.rule.timeZone === other.rule.timeZone &&
  one.scope?.provider === other.scope?.provider &&
  one.scope?.model === other.scope?.model
