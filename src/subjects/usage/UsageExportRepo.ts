/** Rows of the usage log in the order of their ids, page by page on the reading thread. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type ReadRefused, type ReadRow, type ReadValue, ReadWorker } from "../../store/engine/ReadWorker.ts"
import { readColumns } from "../../store/usage/UsageColumns.ts"
import { idAt, type UsageFilter } from "./repo.ts"

export type ExportFilter = Pick<
  UsageFilter,
  "apiKeyId" | "endedAs" | "model" | "provider" | "sinceMs" | "status" | "untilMs"
>

export class UsageExportRepo extends Context.Tag("gateway/subjects/usage/UsageExportRepo")<
  UsageExportRepo,
  {
    /** Rows behind an id, by the names of their columns; the last page has fewer than `exportPage`. */
    readonly rows: (afterId: string, filter: ExportFilter) => Effect.Effect<ReadonlyArray<ReadRow>, ReadRefused>
  }
>() {}

/** Rows of a page: they are copied from the thread and written as text at once. */
export const exportPage = 500

const equal = { apiKeyId: "api_key_id", endedAs: "outcome", provider: "provider" } as const

const conditionsOf = (afterId: string, filter: ExportFilter) => {
  const { model, sinceMs, status, untilMs } = filter
  const conditions = ["usage_log.id > ?"]
  const parameters: Array<ReadValue> = [afterId]
  const add = (condition: string, ...values: ReadonlyArray<ReadValue>) => {
    conditions.push(condition)
    parameters.push(...values)
  }
  if (sinceMs !== undefined) add("usage_log.id >= ? AND timestamp_ms >= ?", idAt(sinceMs), sinceMs)
  if (untilMs !== undefined) add("timestamp_ms < ?", untilMs)
  if (status !== undefined) add("status BETWEEN ? AND ?", ...status)
  if (model !== undefined) add("(+model = ? OR provider || '/' || model = ?)", model, model)
  for (const [name, column] of Object.entries(equal)) {
    const value = filter[name as keyof typeof equal]
    // The sign keeps the database from an index by which all rows would have to be sorted.
    if (value !== undefined) add(`+${column} = ?`, value)
  }
  return { where: conditions.join(" AND "), parameters }
}

export const make = Effect.map(ReadWorker, (worker) =>
  UsageExportRepo.of({
    rows: Effect.fn("UsageExportRepo.rows")((afterId: string, filter: ExportFilter) => {
      const { parameters, where } = conditionsOf(afterId, filter)
      const sql = `SELECT ${readColumns} FROM usage_log WHERE ${where} ORDER BY usage_log.id LIMIT ${exportPage}`
      return Effect.map(worker.read([{ sql, parameters }]), ([rows = []]) => rows)
    })
  })
)

export const layer: Layer.Layer<UsageExportRepo, never, ReadWorker> = Layer.effect(UsageExportRepo, make)
