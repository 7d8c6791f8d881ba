/** What was used over a range of time: sums by day, provider, model, connection and key, and what is under way now. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ApiKeys } from "../auth/ApiKeys.ts"
import { beginOf, type UsageRange } from "../domain/UsageRange.ts"
import { Catalog } from "../providers/Catalog.ts"
import { PerformanceStats } from "../routing/stats/PerformanceStats.ts"
import type { ReadRefused } from "../store/ReadWorker.ts"
import { type CallSums, type CallSumsQuery, CallSumsRepo } from "../store/repo/CallSumsRepo.ts"
import { noSums, type UsageBreakdown, UsageHistoryRepo, type UsageSums } from "../store/repo/UsageHistoryRepo.ts"
import { UsageJournal } from "../store/UsageJournal.ts"

/** Calls under way to one model of a connection. */
export interface ActiveCalls {
  readonly provider: string | null
  readonly connectionId: string
  readonly model: string
  readonly count: number
}

export interface UsageReport {
  readonly range: UsageRange
  /** Epoch milliseconds. */
  readonly fromMs: number
  readonly toMs: number
  readonly breakdown: UsageBreakdown
  /** Every day of the range in UTC, the oldest first, also those without requests. */
  readonly days: ReadonlyArray<{ readonly startMs: number; readonly sums: UsageSums }>
  readonly connectionName: (id: string) => string | null
  readonly keyName: (id: string) => string | null
}

export interface UsageNow extends UsageReport {
  /** Sums of ten minutes, the oldest first; the last one is not over. */
  readonly lastMinutes: ReadonlyArray<{ readonly startMs: number; readonly sums: UsageSums }>
  readonly active: ReadonlyArray<ActiveCalls>
}

export class UsageHistory extends Context.Tag("gateway/management/UsageHistory")<
  UsageHistory,
  {
    readonly analytics: (range: UsageRange) => Effect.Effect<UsageReport, ReadRefused>
    readonly history: (range: UsageRange) => Effect.Effect<UsageNow, ReadRefused>
    /** What calls to a provider cost, by day and model. */
    readonly calls: (
      query: CallSumsQuery
    ) => Effect.Effect<{ readonly sums: ReadonlyArray<CallSums>; readonly isCut: boolean }, ReadRefused>
  }
>() {}

const minuteMs = 60_000
const dayMs = 86_400_000

/** The periods from one to another, each with what is known of it. */
const periods = (known: ReadonlyMap<number, UsageSums>, fromMs: number, toMs: number, lengthMs: number) => {
  const all: Array<{ readonly startMs: number; readonly sums: UsageSums }> = []
  for (let startMs = Math.floor(fromMs / lengthMs) * lengthMs; startMs <= toMs; startMs += lengthMs) {
    all.push({ startMs, sums: known.get(startMs) ?? noSums })
  }
  return all
}

export const make = Effect.gen(function* () {
  const callSums = yield* CallSumsRepo
  const catalog = yield* Catalog
  const journal = yield* UsageJournal
  const keys = yield* ApiKeys
  const repo = yield* UsageHistoryRepo
  const stats = yield* PerformanceStats

  const connectionOf = (id: string) => catalog.current().connections.find((each) => each.id === id)

  const reportOf = (range: UsageRange, fromMs: number, toMs: number, breakdown: UsageBreakdown): UsageReport => ({
    range,
    fromMs,
    toMs,
    breakdown,
    days: periods(breakdown.days, fromMs, toMs, dayMs),
    connectionName: (id) => connectionOf(id)?.name ?? null,
    keyName: (id) => keys.get(id)?.name ?? null
  })

  const analytics = Effect.fn("UsageHistory.analytics")(function* (range: UsageRange) {
    yield* journal.catchUp
    const nowMs = yield* Clock.currentTimeMillis
    const source = beginOf(range, nowMs)
    return reportOf(range, source.sinceMs, nowMs, yield* repo.breakdown(source))
  })

  const history = Effect.fn("UsageHistory.history")(function* (range: UsageRange) {
    yield* journal.catchUp
    const nowMs = yield* Clock.currentTimeMillis
    const source = beginOf(range, nowMs)
    const minutesSinceMs = Math.floor(nowMs / minuteMs) * minuteMs - 9 * minuteMs
    const { breakdown, minutes } = yield* repo.withMinutes(source, minutesSinceMs)
    return {
      ...reportOf(range, source.sinceMs, nowMs, breakdown),
      lastMinutes: periods(minutes, minutesSinceMs, nowMs, minuteMs),
      active: stats.underWay().map(({ connectionId, count, model }) => ({
        connectionId,
        count,
        model,
        provider: connectionOf(connectionId)?.provider ?? null
      }))
    }
  })

  return UsageHistory.of({
    analytics,
    history,
    calls: (query) => Effect.zipRight(journal.catchUp, callSums.sums(query))
  })
})

export const layer: Layer.Layer<
  UsageHistory,
  never,
  ApiKeys | CallSumsRepo | Catalog | PerformanceStats | UsageHistoryRepo | UsageJournal
> = Layer.effect(UsageHistory, make)
