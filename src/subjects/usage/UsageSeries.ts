/** Usage step by step over a range of time: from sums, or from the log where these cannot tell. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { PriceBook } from "../../observe/usage/PriceBook.ts"
import { Timers } from "../../platform/Timers.ts"
import type { ReadRefused } from "../../store/engine/ReadWorker.ts"
import { UsageJournal } from "../../store/usage/UsageJournal.ts"
import type { SeriesBy, SeriesSelection } from "../../store/usage/UsageSeriesSql.ts"
import { hourMs, dayMs, minuteMs } from "../../store/usage/UsageSumsSql.ts"
import type { StoreError } from "../../store/Errors.ts"
import { makeNames } from "./RowFacts.ts"
import { InvalidInput } from "../Errors.ts"
import { clockSetBackMs, conditionsOf, idAt, nameConditions } from "./repo.ts"
import {
  type ChosenSteps,
  type RangeQuery,
  type SeriesQuery,
  sourceOf,
  type SplitQuery,
  stepsOf
} from "./SeriesPlan.ts"
import { type KeyPoints, SeriesRepo } from "./SeriesRepo.ts"
import { SeriesBuilder, type StepSums } from "./SeriesSums.ts"
import { grouping, type Split, splitOf } from "./Splits.ts"

export interface SeriesOfKey {
  /** Null: its requests have none. */
  readonly key: string | null
  readonly name: string | null
  readonly sums: StepSums
}

/** The source of an answer, and what is not exact in it. */
interface Basis {
  readonly basis: "sums" | "log"
  /** Requests before this time were not looked at; null: all were. */
  readonly scannedToMs: number | null
  readonly inexact: ReadonlyArray<string>
}

export interface SeriesReport extends ChosenSteps, Basis {
  readonly by: SeriesBy | null
  /** The most requests first. */
  readonly series: ReadonlyArray<SeriesOfKey>
  readonly rest: StepSums
  readonly total: StepSums
}

export interface SplitReport extends Basis, Split {
  /** Range of the sums, epoch milliseconds. */
  readonly fromMs: number
  readonly toMs: number
  /** Names of ids, by dimension: as many as the query has. */
  readonly nameOf: ReadonlyArray<(key: string) => string | null>
}

export class UsageSeries extends Context.Tag("gateway/subjects/usage/UsageSeries")<
  UsageSeries,
  {
    readonly series: (query: SeriesQuery) => Effect.Effect<SeriesReport, InvalidInput | ReadRefused | StoreError>
    /** Sums of a whole range by one or two dimensions. */
    readonly split: (query: SplitQuery) => Effect.Effect<SplitReport, InvalidInput | ReadRefused | StoreError>
  }
>() {}

/** Rows of the log that one answer looks at. */
export const mostLogRows = 200_000
/** Kinds of requests that a split looks at, the dearest. */
const mostGroups = 20_000
/** Rows that may be added to the sums while they are read: more are only after an update, while the sums are made. */
export const mostBehind = 50_000

const unitMs = { minute: minuteMs, hour: hourMs, day: dayMs } as const

export const make = Effect.gen(function* () {
  const journal = yield* UsageJournal
  const names = yield* makeNames
  const prices = yield* PriceBook
  const repo = yield* SeriesRepo
  const timers = yield* Timers

  const nextTurn = Effect.async<void>((resume) => timers.soon(() => resume(Effect.void)))

  const namesOf = (by: SeriesBy | null, found: ReadonlyArray<string>) =>
    by === "apiKey" || by === "connection"
      ? names(by === "apiKey" ? "key" : "connection", found)
      : Effect.succeed((key: string): string | null => key)

  /** The rows of the log that are looked at, the newest of the range. */
  const logOf = Effect.fnUntraced(function* ({ steps }: ChosenSteps, query: RangeQuery) {
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
    const nameOf = yield* namesOf(
      query.by,
      found.map(({ key }) => key)
    )
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

  /** Chooses the steps of a range and what it is read from. */
  const wantedOf = Effect.fnUntraced(function* (query: RangeQuery & Pick<SeriesSelection, "by" | "top">) {
    const chosen = stepsOf(query)
    if ("field" in chosen) return yield* new InvalidInput({ problems: [chosen] })
    yield* journal.catchUp
    const { inexact, sums } = sourceOf(query, chosen, yield* Clock.currentTimeMillis)
    const behind = sums === null ? 0 : yield* repo.behind
    const { scannedToMs, source } =
      sums === null || behind > mostBehind ? yield* logOf(chosen, query) : { source: sums, scannedToMs: null }
    const isLog = source.basis === "log"
    const wanted: SeriesSelection = {
      steps: chosen.steps,
      unitMs: unitMs[chosen.step],
      by: query.by,
      top: query.top,
      source,
      conditions: isLog ? conditionsOf(query.filter, "") : nameConditions(query.filter, "")
    }
    const stillMade = `The sums of ${behind} requests are still being made: this is from the log.`
    const basis: Basis = {
      basis: source.basis,
      scannedToMs,
      inexact: isLog ? (behind > mostBehind ? [stillMade] : []) : inexact
    }
    return { chosen, wanted, basis }
  })

  const series = Effect.fn("UsageSeries.series")(function* (query: SeriesQuery) {
    const { basis, chosen, wanted } = yield* wantedOf(query)
    const found = yield* repo.points(wanted)
    return { ...chosen, ...basis, by: query.by, ...(yield* sumsOf(found, query, chosen.steps.starts)) }
  })

  const split = Effect.fn("UsageSeries.split")(function* (query: SplitQuery) {
    const { basis, chosen, wanted } = yield* wantedOf({ ...query, by: grouping(query.by), top: mostGroups })
    const found = splitOf(query, yield* repo.totals(wanted), prices.price)
    const nameOf = yield* Effect.forEach(query.by, (by, place) =>
      namesOf(
        by,
        found.rows.map(({ keys }) => keys[place] ?? "")
      )
    )
    return { ...basis, ...found, nameOf, fromMs: chosen.steps.starts[0] ?? query.fromMs, toMs: chosen.steps.endMs }
  })

  return UsageSeries.of({ series, split })
})

export const layer: Layer.Layer<
  UsageSeries,
  never,
  SeriesRepo | PriceBook | Timers | UsageJournal | Effect.Effect.Context<typeof makeNames>
> = Layer.effect(UsageSeries, make)
