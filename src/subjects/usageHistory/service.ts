/** Usage over a range of time: sums by day, provider, model, connection and key, and the requests in progress now. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ApiKeys } from "../auth/ApiKeys.ts"
import { type ChosenSpan, localDayMs, spanOf, type UsageRange, type UsageSpan } from "./entity.ts"
import { Catalog } from "../../plane/providers/Catalog.ts"
import { PerformanceStats } from "../../plane/routing/stats/PerformanceStats.ts"
import type { ReadRefused } from "../../store/engine/ReadWorker.ts"
import { type CallSums, type CallSumsQuery, CallSumsRepo } from "../usage/CallSumsRepo.ts"
import { noSums, type UsageBreakdown, UsageHistoryRepo, type UsageSums } from "./repo.ts"
import type { OwnedBy } from "../../store/usage/OwnedUsageSql.ts"
import { UsageJournal } from "../../store/usage/UsageJournal.ts"
import { InvalidInput } from "../Errors.ts"

/** Calls in progress to one model of a connection. */
export interface ActiveCalls {
  readonly provider: string | null
  readonly connectionId: string
  readonly model: string
  readonly count: number
}

export interface UsageReport {
  /** Null: `from` and `to` were given. */
  readonly range: UsageRange | null
  /** Name of the IANA database; the days are those of its clocks. */
  readonly timeZone: string
  /** Sentences on the parts that are not exact. */
  readonly inexact: ReadonlyArray<string>
  /** Epoch milliseconds. */
  readonly fromMs: number
  readonly toMs: number
  readonly breakdown: UsageBreakdown
  /** Every day of the range, the oldest first, also those without requests. `startMs`: the beginning of a day of that date in UTC. */
  readonly days: ReadonlyArray<{ readonly startMs: number; readonly sums: UsageSums }>
  readonly connectionName: (id: string) => string | null
  readonly keyName: (id: string) => string | null
}

export interface UsageNow extends UsageReport {
  /** Sums of ten minutes, the oldest first; the last one is not over. */
  readonly lastMinutes: ReadonlyArray<{ readonly startMs: number; readonly sums: UsageSums }>
  readonly active: ReadonlyArray<ActiveCalls>
}

export class UsageHistory extends Context.Tag("gateway/subjects/usageHistory/UsageHistory")<
  UsageHistory,
  {
    /** `owner`: of keys that were theirs when requests arrived. */
    readonly analytics: (
      span: UsageSpan,
      owner?: OwnedBy | null
    ) => Effect.Effect<UsageReport, InvalidInput | ReadRefused>
    readonly history: (span: UsageSpan) => Effect.Effect<UsageNow, InvalidInput | ReadRefused>
    /** Sums the cost of calls to a provider, by day and model. */
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

const checked = ({ fromMs, range, toMs }: UsageSpan): Effect.Effect<void, InvalidInput> => {
  const problem =
    range !== undefined && fromMs !== undefined
      ? { field: "range", message: "cannot be combined with 'from': give one of them" }
      : fromMs !== undefined && toMs !== undefined && fromMs >= toMs
        ? { field: "to", message: "must be later than 'from'" }
        : null
  return problem === null ? Effect.void : new InvalidInput({ problems: [problem] })
}

export const make = Effect.gen(function* () {
  const callSums = yield* CallSumsRepo
  const catalog = yield* Catalog
  const journal = yield* UsageJournal
  const keys = yield* ApiKeys
  const repo = yield* UsageHistoryRepo
  const stats = yield* PerformanceStats

  const connectionOf = (id: string) => catalog.current().connections.find((each) => each.id === id)

  const reportOf = ({ source, ...span }: ChosenSpan, timeZone: string, breakdown: UsageBreakdown): UsageReport => ({
    ...span,
    timeZone,
    breakdown,
    days: periods(
      breakdown.days,
      localDayMs(source.offsets, span.fromMs),
      localDayMs(source.offsets, Math.max(span.fromMs, span.toMs - 1)),
      dayMs
    ),
    connectionName: (id) => connectionOf(id)?.name ?? null,
    keyName: (id) => keys.get(id)?.name ?? null
  })

  const analytics = Effect.fn("UsageHistory.analytics")(function* (asked: UsageSpan, owner: OwnedBy | null = null) {
    yield* checked(asked)
    yield* journal.catchUp
    const nowMs = yield* Clock.currentTimeMillis
    const span = spanOf(asked, nowMs)
    return reportOf(span, asked.timeZone, yield* repo.breakdown(span.source, owner))
  })

  const history = Effect.fn("UsageHistory.history")(function* (asked: UsageSpan) {
    yield* checked(asked)
    yield* journal.catchUp
    const nowMs = yield* Clock.currentTimeMillis
    const span = spanOf(asked, nowMs)
    const minutesSinceMs = Math.floor(nowMs / minuteMs) * minuteMs - 9 * minuteMs
    const { breakdown, minutes } = yield* repo.withMinutes(span.source, minutesSinceMs)
    return {
      ...reportOf(span, asked.timeZone, breakdown),
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
