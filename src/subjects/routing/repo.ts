/** Routing decisions by request id, each as text that only its writer can parse. Written in batches, pruned in small steps. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { withLateSync } from "../../store/engine/LateSync.ts"
import * as Table from "../../store/engine/Table.ts"
import { listed } from "../../store/engine/Engine.ts"

const Row = Schema.Struct({
  requestId: Text,
  /** Epoch milliseconds at which it was kept. */
  atMs: Whole,
  record: Text
})
export type DecisionRow = typeof Row.Type

/** Limits of the stored records. */
export interface DecisionLimits {
  /** Epoch milliseconds; older rows are removed. */
  readonly sinceMs: number
  /** Number of rows beyond which the oldest are removed. */
  readonly maxRows: number
}

export class DecisionRepo extends Context.Tag("gateway/subjects/routing/DecisionRepo")<
  DecisionRepo,
  {
    /** All of them in one transaction, which does not wait for the disk: a power cut may cost the last ones. */
    readonly insert: (rows: ReadonlyArray<DecisionRow>) => Effect.Effect<void, StoreError>
    /** The record's text; null when none is kept. */
    readonly get: (requestId: string) => Effect.Effect<string | null, StoreError>
    /** Finds which of some requests have a record. */
    readonly kept: (requestIds: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, StoreError>
    /** Removes at most `pruneStep` rows beyond the limits; returns how many. */
    readonly prune: (limits: DecisionLimits) => Effect.Effect<number, StoreError>
  }
>() {}

/** Rows per statement, because a statement blocks the process. */
export const pruneStep = 500

/** Records are long: bound one by one they are copied once, in a JSON text they would be written and parsed again. */
const insertRows = (count: number): string => `
  INSERT INTO decisions (request_id, at_ms, record) VALUES ${Array.from({ length: count }, () => "(?,?,?)").join()}
  ON CONFLICT (request_id) DO NOTHING`

/** Both limits take the oldest first. */
const removeRows = `
  DELETE FROM decisions WHERE request_id IN (
    SELECT request_id FROM decisions ORDER BY at_ms, request_id
    LIMIT MIN(${pruneStep}, MAX(
      (SELECT COUNT(*) FROM decisions WHERE at_ms < ?),
      (SELECT COUNT(*) FROM decisions) - ?
    ))
  ) RETURNING 1`

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "decisions", Row)

  const insert = Effect.fn("DecisionRepo.insert")((rows: ReadonlyArray<DecisionRow>) => {
    if (rows.length === 0) return Effect.void
    const values = rows.flatMap(({ atMs, record, requestId }) => [requestId, Math.trunc(atMs), record])
    return withLateSync(sql, (connection) => connection.executeRaw(insertRows(rows.length), values)).pipe(
      Effect.asVoid,
      Effect.mapError(Table.named("DecisionRepo.insert"))
    )
  })

  const get = Effect.fn("DecisionRepo.get")(function* (requestId: string) {
    const row = yield* table.first("DecisionRepo.get", sql`WHERE request_id = ${requestId}`)
    return row === null ? null : row.record
  })

  const kept = Effect.fn("DecisionRepo.kept")((requestIds: ReadonlyArray<string>) =>
    sql<{ readonly requestId: string }>`
      SELECT request_id FROM decisions WHERE request_id IN (${listed(sql, requestIds)})`.pipe(
      Effect.mapBoth({
        onFailure: Table.named("DecisionRepo.kept"),
        onSuccess: (found) => new Set(found.map(({ requestId }) => requestId))
      })
    )
  )

  const prune = Effect.fn("DecisionRepo.prune")(({ maxRows, sinceMs }: DecisionLimits) =>
    withLateSync(sql, (connection) => connection.execute(removeRows, [sinceMs, maxRows], undefined)).pipe(
      Effect.map((removed) => removed.length),
      Effect.mapError(Table.named("DecisionRepo.prune"))
    )
  )
  return DecisionRepo.of({ insert, get, kept, prune })
})

export const layer: Layer.Layer<DecisionRepo, never, SqlClient.SqlClient> = Layer.effect(DecisionRepo, make)
