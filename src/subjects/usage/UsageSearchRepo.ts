/**
 * Rows of the usage log by a filter, on the reading thread: by the index of the filters, or one by one where the filter is of what single rows
 * have. A full page, or the end of the log; a look at single rows ends after a while, too.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreError } from "../../store/Errors.ts"
import { type ReadRefused, type ReadStatement, ReadWorker } from "../../store/engine/ReadWorker.ts"
import { newestIds } from "../../store/usage/UsageFacetsSql.ts"
import {
  conditionsOf,
  idsSelection,
  isIndexed,
  isScanned,
  type UsageFilter,
  type UsagePage,
  UsageRepo
} from "./repo.ts"

export class UsageSearchRepo extends Context.Tag("gateway/subjects/usage/UsageSearchRepo")<
  UsageSearchRepo,
  {
    /** Rows before an id, the newest first. */
    readonly before: (
      id: string,
      limit: number,
      filter: UsageFilter
    ) => Effect.Effect<UsagePage, StoreError | ReadRefused>
  }
>() {}

/** Rows of one look, and the time in ms after which no other one is begun. */
export const rowsOfLook = 100_000
export const lookForMs = 2_000

/** Looks at the rows before an id: the last one of the look, where others follow, and the ids of those that match. */
const look = (filter: UsageFilter, beforeId: string, most: number): ReadonlyArray<ReadStatement> => {
  const { range } = idsSelection(filter, beforeId, most)
  const tests = conditionsOf(filter)
  const last = `SELECT id FROM usage_log WHERE id < ? AND id >= ? ORDER BY id DESC LIMIT 1 OFFSET ${rowsOfLook - 1}`
  return [
    { sql: last, parameters: [beforeId, range.leastId] },
    {
      sql: `SELECT usage_log.id AS id FROM usage_log WHERE usage_log.id < ? AND usage_log.id >= COALESCE((${last}), ?)
        AND timestamp_ms >= ? AND timestamp_ms < ?${tests.map(({ sql }) => ` AND ${sql}`).join("")} ORDER BY usage_log.id DESC LIMIT ?`,
      parameters: [
        beforeId,
        beforeId,
        range.leastId,
        range.leastId,
        range.sinceMs,
        range.untilMs,
        ...tests.flatMap(({ parameters }) => parameters),
        most
      ]
    }
  ]
}

export const make = Effect.gen(function* () {
  const worker = yield* ReadWorker
  const usage = yield* UsageRepo

  const byIndex = Effect.fnUntraced(function* (id: string, most: number, filter: UsageFilter) {
    const [found = []] = yield* worker.read([newestIds(idsSelection(filter, id, most))])
    return { ids: found.map((row) => String(row["id"])), last: null }
  })

  const oneByOne = Effect.fnUntraced(function* (id: string, most: number, filter: UsageFilter) {
    const untilMs = (yield* Clock.currentTimeMillis) + lookForMs
    const ids: Array<string> = []
    let before = id
    for (;;) {
      const [[end] = [], found = []] = yield* worker.read(look(filter, before, most - ids.length))
      for (const row of found) ids.push(String(row["id"]))
      const last = end === undefined ? null : String(end["id"])
      if (last === null || ids.length >= most) return { ids, last: null }
      if ((yield* Clock.currentTimeMillis) >= untilMs) return { ids, last }
      before = last
    }
  })

  return UsageSearchRepo.of({
    before: Effect.fn("UsageSearchRepo.before")(function* (id: string, limit: number, filter: UsageFilter) {
      if (isIndexed(filter)) return yield* usage.page({ limit, cursor: id, filter })
      // One more shows whether another page follows.
      const { ids, last } = yield* (isScanned(filter) ? oneByOne : byIndex)(id, limit + 1, filter)
      const rows = yield* usage.rowsOf(ids.slice(0, limit), filter)
      return { rows, nextCursor: ids.length > limit ? (ids[limit - 1] ?? null) : last }
    })
  })
})

export const layer: Layer.Layer<UsageSearchRepo, never, ReadWorker | UsageRepo> = Layer.effect(UsageSearchRepo, make)
