/** Rows of the usage log by a filter, on the reading thread and by the index of the filters: a full page, or the end of the log. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreError } from "../../store/Errors.ts"
import { type ReadRefused, ReadWorker } from "../../store/engine/ReadWorker.ts"
import { newestIds } from "../../store/usage/UsageFacetsSql.ts"
import { idsWanted, type UsageFilter, type UsagePage, UsageRepo } from "./repo.ts"

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

export const make = Effect.gen(function* () {
  const worker = yield* ReadWorker
  const usage = yield* UsageRepo
  return UsageSearchRepo.of({
    before: Effect.fn("UsageSearchRepo.before")(function* (id: string, limit: number, filter: UsageFilter) {
      // The rows of a batch are few and have an index of their own; the combinations do not know the batch.
      if (filter.batchId !== undefined) return yield* usage.page({ limit, cursor: id, filter })
      // One more shows whether another page follows.
      const [found = []] = yield* worker.read([newestIds(idsWanted(filter, id, limit + 1))])
      const ids = found.map((row) => String(row["id"]))
      const rows = yield* usage.rowsOf(ids.slice(0, limit), filter)
      return { rows, nextCursor: ids.length > limit ? (ids[limit - 1] ?? null) : null }
    })
  })
})

export const layer: Layer.Layer<UsageSearchRepo, never, ReadWorker | UsageRepo> = Layer.effect(UsageSearchRepo, make)
