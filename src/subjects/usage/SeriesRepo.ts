/** Reads series of usage on the reading thread: from the sums by kind, with the rows that are not in them yet, or from the log. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { nanoUsdParts, nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import { type ReadRefused, type ReadRow, ReadWorker } from "../../store/engine/ReadWorker.ts"
import {
  lastLookedAt,
  lastOfKey,
  seriesPoints,
  seriesPosition,
  type SeriesSelection,
  seriesTotals
} from "../../store/usage/UsageSeriesSql.ts"

/** The sums of one key. */
export interface KeyPoints {
  /** Empty where rows have none. */
  readonly key: string
  /** All keys that are not among those with the most requests. */
  readonly isRest: boolean
  readonly requests: number
  /** JSON (`seriesPoints`). */
  readonly points: string
}

/** Sums of all requests of one key over a whole range. */
export interface KeyTotals {
  readonly key: string
  readonly requests: number
  readonly failed: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly cacheRead: number
  readonly costUsd: number
}

export class SeriesRepo extends Context.Tag("gateway/subjects/usage/SeriesRepo")<
  SeriesRepo,
  {
    /** Rows of the log that are not in the sums by kind yet. */
    readonly behind: Effect.Effect<number, ReadRefused>
    readonly points: (wanted: SeriesSelection) => Effect.Effect<ReadonlyArray<KeyPoints>, ReadRefused>
    /** The sums of each key, the dearest first, and those of all of them. */
    readonly totals: (
      wanted: SeriesSelection
    ) => Effect.Effect<{ readonly keys: ReadonlyArray<KeyTotals>; readonly all: KeyTotals }, ReadRefused>
    /** The row at which a look at so many rows of a range of ids ends; null: the range has fewer. */
    readonly lookedAt: (
      most: number,
      leastId: string,
      beforeId: string,
      /** Rows of this key only, where it is given. */
      apiKeyId?: string
    ) => Effect.Effect<{ readonly id: string; readonly timestampMs: number } | null, ReadRefused>
  }
>() {}

const numberIn = (row: ReadRow | undefined, name: string): number => Number(row?.[name] ?? 0)
const textIn = (row: ReadRow | undefined, name: string): string => String(row?.[name] ?? "")

const keyPoints = (row: ReadRow): KeyPoints => ({
  key: textIn(row, "key"),
  isRest: row["is_rest"] === 1,
  requests: numberIn(row, "requests"),
  points: textIn(row, "points")
})

const keyTotals = (row: ReadRow | undefined): KeyTotals => ({
  key: textIn(row, "key"),
  requests: numberIn(row, "requests"),
  failed: numberIn(row, "failed"),
  tokensIn: numberIn(row, "tokens_in"),
  tokensOut: numberIn(row, "tokens_out"),
  cacheRead: numberIn(row, "tokens_cache_read"),
  costUsd: (numberIn(row, "cost_nano_usd") + numberIn(row, "cost_nano_parts") / nanoUsdParts) / nanoUsdPerUsd
})

export const make = Effect.map(ReadWorker, (worker) =>
  SeriesRepo.of({
    behind: Effect.map(worker.read([{ sql: seriesPosition, parameters: [] }]), ([rows = []]) =>
      Math.max(0, numberIn(rows[0], "newest") - numberIn(rows[0], "summed"))
    ),
    points: Effect.fn("SeriesRepo.points")((wanted: SeriesSelection) =>
      Effect.map(worker.read([seriesPoints(wanted)]), ([rows = []]) => rows.map(keyPoints))
    ),
    totals: Effect.fn("SeriesRepo.totals")((wanted: SeriesSelection) =>
      Effect.map(worker.read([seriesTotals(wanted)]), ([rows = []]) => ({
        keys: rows.filter((row) => row["is_all"] === 0).map(keyTotals),
        all: keyTotals(rows.find((row) => row["is_all"] === 1))
      }))
    ),
    lookedAt: Effect.fn("SeriesRepo.lookedAt")((most: number, leastId: string, beforeId: string, apiKeyId?: string) =>
      Effect.map(
        worker.read([
          apiKeyId === undefined
            ? { sql: lastLookedAt(most), parameters: [leastId, beforeId] }
            : { sql: lastOfKey(most), parameters: [leastId, beforeId, apiKeyId] }
        ]),
        ([rows = []]) =>
          rows[0] === undefined ? null : { id: textIn(rows[0], "id"), timestampMs: numberIn(rows[0], "timestamp_ms") }
      )
    )
  })
)

export const layer: Layer.Layer<SeriesRepo, never, ReadWorker> = Layer.effect(SeriesRepo, make)
