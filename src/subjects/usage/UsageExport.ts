/** The usage log as a file: comma-separated values or JSON lines, the oldest request first, in parts that fit in memory. */
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import { csv, type CsvValue } from "../../kernel/text/Csv.ts"
import type { ReadRefused, ReadRow } from "../../store/engine/ReadWorker.ts"
import { type ExportFilter, exportPage, UsageExportRepo } from "./UsageExportRepo.ts"
import { UsageJournal } from "../../store/usage/UsageJournal.ts"

export type ExportFormat = "csv" | "jsonl"

export class UsageExport extends Context.Tag("gateway/subjects/usage/UsageExport")<
  UsageExport,
  {
    /** Fails before the first part when nothing can be read. */
    readonly lines: (
      format: ExportFormat,
      filter: ExportFilter
    ) => Effect.Effect<Stream.Stream<string, ReadRefused>, ReadRefused>
  }
>() {}

const flag = (row: ReadRow, name: string): boolean => row[name] === 1
const number = (row: ReadRow, name: string): number => Number(row[name] ?? 0)
const text = (row: ReadRow, name: string): string | null => {
  const value = row[name]
  return value === null || value === undefined ? null : String(value)
}

/** The fields of `/api/usage/logs` without those within others. */
const fields: ReadonlyArray<readonly [name: string, value: (row: ReadRow) => CsvValue]> = [
  ["id", (row) => text(row, "id")],
  ["timestamp", (row) => new Date(number(row, "timestamp_ms")).toISOString()],
  ["requestId", (row) => text(row, "request_id")],
  ["apiKeyId", (row) => text(row, "api_key_id")],
  ["principal", (row) => text(row, "principal")],
  ["requestedModel", (row) => text(row, "requested_model")],
  ["combo", (row) => text(row, "combo")],
  ["provider", (row) => text(row, "provider")],
  ["connectionId", (row) => text(row, "connection_id")],
  ["model", (row) => text(row, "model")],
  ["sourceWire", (row) => text(row, "source_wire")],
  ["targetWire", (row) => text(row, "target_wire")],
  ["streamed", (row) => flag(row, "streamed")],
  ["outcome", (row) => text(row, "outcome")],
  ["status", (row) => number(row, "status")],
  ["latencyMs", (row) => number(row, "latency_ms")],
  ["ttftMs", (row) => (row["ttft_ms"] === null ? null : number(row, "ttft_ms"))],
  ["attempts", (row) => number(row, "attempts")],
  ["tokensIn", (row) => number(row, "tokens_in")],
  ["tokensOut", (row) => number(row, "tokens_out")],
  ["tokensCacheRead", (row) => number(row, "tokens_cache_read")],
  ["tokensCacheWrite", (row) => number(row, "tokens_cache_write")],
  ["tokensReasoning", (row) => number(row, "tokens_reasoning")],
  ["tokensTold", (row) => text(row, "told_tokens")],
  ["costUsd", (row) => number(row, "cost_nano_usd") / nanoUsdPerUsd],
  ["costNotes", (row) => text(row, "cost_notes")],
  ["priced", (row) => flag(row, "priced")],
  ["usageSource", (row) => text(row, "usage_source")],
  ["error", (row) => text(row, "error")],
  ["batchId", (row) => text(row, "batch_id")],
  ["egress", (row) => text(row, "egress")],
  ["tags", (row) => text(row, "tags")],
  ["node", (row) => text(row, "node")],
  ["cacheHit", (row) => row["answered_from"] === "cache"],
  ["coalesced", (row) => row["answered_from"] === "coalesced"]
]

const header = csv([fields.map(([name]) => name)])

const linesOf = (format: ExportFormat, rows: ReadonlyArray<ReadRow>): string =>
  format === "csv"
    ? csv(rows.map((row) => fields.map(([, value]) => value(row))))
    : rows
        .map((row) => `${JSON.stringify(Object.fromEntries(fields.map(([name, value]) => [name, value(row)])))}\n`)
        .join("")

export const make = Effect.gen(function* () {
  const journal = yield* UsageJournal
  const repo = yield* UsageExportRepo

  const lines = Effect.fn("UsageExport.lines")(function* (format: ExportFormat, filter: ExportFilter) {
    yield* journal.catchUp
    const first = yield* repo.rows("", filter)
    const pages = Stream.unfoldEffect<ReadonlyArray<ReadRow> | null, string, ReadRefused, never>(first, (rows) => {
      if (rows === null || rows.length === 0) return Effect.succeed(Option.none())
      const last = text(rows.at(-1) ?? {}, "id") ?? ""
      const next = rows.length < exportPage ? Effect.succeed(null) : repo.rows(last, filter)
      // The next page is read when the client has taken this one.
      return Effect.map(next, (following) => Option.some([linesOf(format, rows), following] as const))
    })
    return format === "csv" ? Stream.concat(Stream.fromChunk(Chunk.of(header)), pages) : pages
  })

  return UsageExport.of({ lines })
})

export const layer: Layer.Layer<UsageExport, never, UsageExportRepo | UsageJournal> = Layer.effect(UsageExport, make)
