/** Usage step by step over a range of time: from sums, or from the log where these cannot tell. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Timers } from "../../platform/Timers.ts"
import type { ReadRefused } from "../../store/engine/ReadWorker.ts"
import { UsageJournal } from "../../store/usage/UsageJournal.ts"
import type { SeriesBy, SeriesSelection } from "../../store/usage/UsageSeriesSql.ts"
import { hourMs, dayMs, minuteMs } from "../../store/usage/UsageSumsSql.ts"
import type { StoreError } from "../../store/Errors.ts"
import { makeNames } from "./RowFacts.ts"
import { InvalidInput } from "../Errors.ts"
import { clockSetBackMs, conditionsOf, idAt, nameConditions } from "./repo.ts"
import { type ChosenSteps, type SeriesQuery, sourceOf, stepsOf } from "./SeriesPlan.ts"
import { type KeyPoints, SeriesRepo } from "./SeriesRepo.ts"
import { SeriesBuilder, type StepSums } from "./SeriesSums.ts"

export interface SeriesOfKey {
  /** Null: its requests have none. */
  readonly key: string | null
  readonly name: string | null
  readonly sums: StepSums
}

export interface SeriesReport extends ChosenSteps {
  readonly by: SeriesBy | null
  /** The most requests first. */
  readonly series: ReadonlyArray<SeriesOfKey>
  readonly rest: StepSums
  readonly total: StepSums
  readonly basis: "sums" | "log"
  /** Requests before this time were not looked at; null: all were. */
  readonly scannedToMs: number | null
  readonly inexact: ReadonlyArray<string>
}

export class UsageSeries extends Context.Tag("gateway/subjects/usage/UsageSeries")<
  UsageSeries,
  {
    readonly series: (query: SeriesQuery) => Effect.Effect<SeriesReport, InvalidInput | ReadRefused | StoreError>
  }
>() {}

/** Rows of the log that one answer looks at. */
export const mostLogRows = 200_000
/** Rows that may be added to the sums while they are read: more are only after an update, while the sums are made. */
export const mostBehind = 50_000

const unitMs = { minute: minuteMs, hour: hourMs, day: dayMs } as const

export const make = Effect.gen(function* () {
  const journal = yield* UsageJournal
  const names = yield* makeNames
  const repo = yield* SeriesRepo
  const timers = yield* Timers

  const nextTurn = Effect.async<void>((resume) => timers.soon(() => resume(Effect.void)))

  const namesOf = (by: SeriesBy | null, found: ReadonlyArray<KeyPoints>) => {
    if (by !== "apiKey" && by !== "connection") return Effect.succeed((key: string): string | null => key)
    return names(
      by === "apiKey" ? "key" : "connection",
      found.map(({ key }) => key)
    )
  }

  /** The rows of the log that are looked at, the newest of the range. */
  const logOf = Effect.fnUntraced(function* ({ steps }: ChosenSteps, query: SeriesQuery) {
    const { apiKeyId, idBeginning = "" } = query.filter
    const first = idAt(steps.starts[0] ?? 0)
    const leastId = idBeginning > first ? idBeginning : first
    const beforeId = idAt(steps.endMs + clockSetBackMs)
    const last = yield* repo.lookedAt(mostLogRows, leastId, beforeId, apiKeyId)
    const source: SeriesSelection["source"] = { basis: "log", leastId: last?.id ?? leastId, beforeId }
    return { source, scannedToMs: last?.timestampMs ?? null }
  })

  /** The points of one key after the other, so that a long answer does not hold up others. */
  const sumsOf = Effect.fnUntraced(function* (
    found: ReadonlyArray<KeyPoints>,
    query: SeriesQuery,
    starts: ReadonlyArray<number>
  ) {
    const total = new SeriesBuilder(starts)
    const rest = new SeriesBuilder(starts)
    const series: Array<SeriesOfKey> = []
    const nameOf = yield* namesOf(query.by, found)
    for (const { isRest, key, points } of found.toSorted((one, other) => other.requests - one.requests)) {
      yield* nextTurn
      const own = new SeriesBuilder(starts)
      own.add(points)
      total.addAll(own)
      if (isRest || query.by === null) rest.addAll(own)
      else series.push({ key: key === "" ? null : key, name: key === "" ? null : nameOf(key), sums: own.sums() })
    }
    return { series, rest: rest.sums(), total: total.sums() }
  })

  const series = Effect.fn("UsageSeries.series")(function* (query: SeriesQuery) {
    const chosen = stepsOf(query)
    if ("field" in chosen) return yield* new InvalidInput({ problems: [chosen] })
    yield* journal.catchUp
    const { inexact, sums } = sourceOf(query, chosen, yield* Clock.currentTimeMillis)
    const behind = sums === null ? 0 : yield* repo.behind
    const { scannedToMs, source } =
      sums === null || behind > mostBehind ? yield* logOf(chosen, query) : { source: sums, scannedToMs: null }
    const isLog = source.basis === "log"
    const found = yield* repo.points({
      steps: chosen.steps,
      unitMs: unitMs[chosen.step],
      by: query.by,
      top: query.top,
      source,
      conditions: isLog ? conditionsOf(query.filter, "") : nameConditions(query.filter, "")
    })
    return {
      ...chosen,
      by: query.by,
      ...(yield* sumsOf(found, query, chosen.steps.starts)),
      basis: source.basis,
      scannedToMs,
      inexact: isLog
        ? behind > mostBehind
          ? [`The sums of ${behind} requests are still being made: this is from the log.`]
          : []
        : inexact
    }
  })

  return UsageSeries.of({ series })
})

export const layer: Layer.Layer<
  UsageSeries,
  never,
  SeriesRepo | Timers | UsageJournal | Effect.Effect.Context<typeof makeNames>
> = Layer.effect(UsageSeries, make)
