/** Sums of usage as the contract shows them. */
import type { CallsByDay, UsageAnalytics, UsageHistoryView, UsageSummary } from "../usageHistory/routes.ts"
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import type { UsageNow, UsageReport } from "../usageHistory/service.ts"
import type { CallSums } from "./CallSumsRepo.ts"
import type { NamedSums, UsageSums } from "../usageHistory/repo.ts"

const iso = (ms: number): string => new Date(ms).toISOString()
const orNull = (name: string): string | null => (name === "" ? null : name)

const average = (sum: number, count: number): number => (count === 0 ? 0 : Math.round(sum / count))

const summaryOf = (sums: UsageSums): UsageSummary => ({
  requests: sums.requests,
  failed: sums.requests - sums.completed - sums.aborted,
  aborted: sums.aborted,
  unpriced: sums.unpriced,
  tokensIn: sums.tokensIn,
  tokensOut: sums.tokensOut,
  tokensCacheRead: sums.tokensCacheRead,
  tokensCacheWrite: sums.tokensCacheWrite,
  tokensReasoning: sums.tokensReasoning,
  costUsd: sums.costNanoUsd / nanoUsdPerUsd,
  avgLatencyMs: average(sums.latencyMs, sums.requests),
  avgTtftMs: sums.ttftCount === 0 ? null : average(sums.ttftMs, sums.ttftCount),
  successRate: sums.requests === 0 ? 0 : sums.completed / sums.requests,
  lastUsedAt: sums.lastMs === null ? null : iso(sums.lastMs)
})

/** The sums under the names they belong to. */
const named = <Names extends object>(names: Names, sums: UsageSums): Names & UsageSummary =>
  Object.assign(names, summaryOf(sums))

const periodOf = ({ fromMs, inexact, range, timeZone, toMs }: UsageReport) => ({
  range,
  from: iso(fromMs),
  to: iso(toMs),
  timezone: timeZone,
  inexact
})

export const analyticsView = (report: UsageReport): UsageAnalytics => {
  const { breakdown, connectionName, days, keyName } = report
  return {
    ...periodOf(report),
    summary: summaryOf(breakdown.summary),
    dailyTrend: days.map(({ startMs, sums }) => named({ date: iso(startMs).slice(0, 10) }, sums)),
    byProvider: breakdown.providers.map((each) => named({ provider: orNull(each.name) }, each)),
    byModel: breakdown.models.map((each) => named({ model: orNull(each.name), provider: orNull(each.provider) }, each)),
    byConnection: breakdown.connections.map((each) =>
      named({ connectionId: orNull(each.name), name: connectionName(each.name) }, each)
    ),
    byApiKey: breakdown.apiKeys.map((each) => named({ apiKeyId: orNull(each.name), name: keyName(each.name) }, each))
  }
}

export const callsView = ({
  isCut,
  sums
}: {
  readonly sums: ReadonlyArray<CallSums>
  readonly isCut: boolean
}): CallsByDay => ({
  days: sums.map(({ calls, costNanoUsd, model, reasons, source, startMs }) => ({
    date: iso(startMs).slice(0, 10),
    model,
    calls,
    costUsd: costNanoUsd / nanoUsdPerUsd,
    source,
    reasons: reasons.map(({ costNanoUsd: cost, ...reason }) => ({ ...reason, costUsd: cost / nanoUsdPerUsd }))
  })),
  isCut
})

const none = "none"

const totalsOf = (sums: UsageSums) => ({
  requests: sums.requests,
  promptTokens: sums.tokensIn,
  completionTokens: sums.tokensOut,
  cost: sums.costNanoUsd / nanoUsdPerUsd
})

const byName = (all: ReadonlyArray<NamedSums>, nameOf: (sums: NamedSums) => string) =>
  Object.fromEntries(
    all.map((each) => [nameOf(each), { ...totalsOf(each), lastUsed: each.lastMs === null ? null : iso(each.lastMs) }])
  )

const ownName = ({ name }: NamedSums): string => (name === "" ? none : name)

const countBy = <A extends { readonly count: number }>(all: ReadonlyArray<A>, nameOf: (each: A) => string) => {
  const counts = new Map<string, number>()
  for (const each of all) counts.set(nameOf(each), (counts.get(nameOf(each)) ?? 0) + each.count)
  return Object.fromEntries(counts)
}

export const historyView = (report: UsageNow): UsageHistoryView => {
  const { active, breakdown, lastMinutes } = report
  const all = totalsOf(breakdown.summary)
  return {
    ...periodOf(report),
    totalRequests: all.requests,
    totalPromptTokens: all.promptTokens,
    totalCompletionTokens: all.completionTokens,
    totalCost: all.cost,
    byProvider: byName(breakdown.providers, ownName),
    byModel: byName(breakdown.models, (each) => (each.name === "" ? none : `${each.provider}/${each.name}`)),
    byAccount: byName(breakdown.connections, ownName),
    byApiKey: byName(breakdown.apiKeys, ownName),
    last10Minutes: lastMinutes.map(({ startMs, sums }) => Object.assign({ time: iso(startMs) }, totalsOf(sums))),
    pending: {
      byModel: countBy(active, ({ model, provider }) => `${provider ?? none}/${model}`),
      byAccount: countBy(active, ({ connectionId }) => connectionId)
    },
    activeRequests: active.map(({ connectionId, count, model, provider }) => ({
      provider,
      model,
      account: connectionId,
      count
    }))
  }
}
