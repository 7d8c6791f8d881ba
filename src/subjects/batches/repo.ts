/** Batches. What became of their lines is on disk; see `subjects/batches/LineSpool`. */
import { ModelPrice } from "../pricing/entity.ts"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { knownCallers } from "../../contract/domain/Usage.ts"
import { type Batch, batchEnds, batchStatuses } from "./entity.ts"
import { Json, MaybeText, MaybeWhole, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

const Problem = Schema.Struct({ code: Text, message: Text, line: Schema.NullOr(Schema.Number), param: MaybeText })

const Provider = Schema.Struct({
  connectionId: Text,
  kind: Schema.Literal("openai", "anthropic"),
  id: MaybeText,
  fileId: MaybeText,
  prices: Schema.optionalWith(Schema.Record({ key: Schema.String, value: ModelPrice }), { exact: true })
})

const Row = Schema.Struct({
  id: Text,
  owner: Text,
  caller: Schema.NullOr(Schema.Literal(...knownCallers)),
  endpoint: Text,
  inputFileId: Text,
  status: Schema.Literal(...batchStatuses),
  ending: Schema.NullOr(Schema.Literal(...batchEnds)),
  metadata: Schema.NullOr(Json(Schema.Record({ key: Text, value: Text }))),
  outputKeptMs: MaybeWhole,
  createdAtMs: Whole,
  inProgressAtMs: MaybeWhole,
  expiresAtMs: Whole,
  finalizingAtMs: MaybeWhole,
  completedAtMs: MaybeWhole,
  failedAtMs: MaybeWhole,
  expiredAtMs: MaybeWhole,
  cancellingAtMs: MaybeWhole,
  cancelledAtMs: MaybeWhole,
  total: Whole,
  completed: Whole,
  failed: Whole,
  problems: Json(Schema.Array(Problem)),
  outputFileId: MaybeText,
  errorFileId: MaybeText,
  provider: Schema.NullOr(Json(Provider))
})

export interface BatchPage {
  readonly owner: string
  /** The page begins behind this id. */
  readonly after: string | null
  readonly limit: number
}

export class BatchRepo extends Context.Tag("gateway/subjects/batches/BatchRepo")<
  BatchRepo,
  {
    readonly insert: (batch: Batch) => Effect.Effect<void, StoreError>
    /** Replaces the row of its id. */
    readonly save: (batch: Batch) => Effect.Effect<void, StoreError>
    readonly find: (owner: string, id: string) => Effect.Effect<Batch | null, StoreError>
    /** Newest first. */
    readonly page: (page: BatchPage) => Effect.Effect<ReadonlyArray<Batch>, StoreError>
    /** All that are not over, oldest first. */
    readonly open: Effect.Effect<ReadonlyArray<Batch>, StoreError>
    /** Counts the owner's batches that are not over. */
    readonly openOf: (owner: string) => Effect.Effect<number, StoreError>
    readonly remove: (owner: string, id: string) => Effect.Effect<boolean, StoreError>
    /**
     * Removes some of those that are over: made before a time (epoch milliseconds), or older than so many newer ones that are over. Returns how
     * many it removed; 0: there are no more.
     */
    readonly prune: (beforeMs: number, most: number) => Effect.Effect<number, StoreError>
  }
>() {}

/** Rows that one statement of `prune` removes at most. */
const prunedAtOnce = 500

const Count = Schema.Tuple(Schema.Struct({ count: Schema.Number }))

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "batches", Row)
  // The condition of the partial index, word for word.
  const isOpen = sql.literal("status IN ('validating', 'in_progress', 'finalizing', 'cancelling')")

  return BatchRepo.of({
    insert: (batch) =>
      table
        .insert("BatchRepo.insert", batch)
        .pipe(Effect.catchTag("AlreadyStored", (cause) => Effect.fail(Table.named("BatchRepo.insert")(cause)))),
    save: (batch) =>
      table.update("BatchRepo.save", sql`id = ${batch.id}`, batch).pipe(
        Effect.catchTag("AlreadyStored", (cause) => Effect.fail(Table.named("BatchRepo.save")(cause))),
        Effect.asVoid
      ),
    find: (owner, id) => table.first("BatchRepo.find", sql`WHERE id = ${id} AND owner = ${owner}`),
    page: ({ after, limit, owner }) => {
      const behind = after === null ? sql`` : sql`AND id < ${after}`
      return table.select("BatchRepo.page", sql`WHERE owner = ${owner} ${behind} ORDER BY id DESC LIMIT ${limit}`)
    },
    open: table.select("BatchRepo.open", sql`WHERE ${isOpen} ORDER BY id`),
    openOf: Effect.fn("BatchRepo.openOf")((owner: string) =>
      sql`SELECT count(*) AS count FROM batches WHERE owner = ${owner} AND ${isOpen}`.pipe(
        Effect.flatMap(Schema.decodeUnknown(Count)),
        Effect.mapBoth({ onFailure: Table.named("BatchRepo.openOf"), onSuccess: ([{ count }]) => count })
      )
    ),
    prune: Effect.fn("BatchRepo.prune")((beforeMs, most) => {
      const isOver = sql`NOT (${isOpen})`
      const old = sql`SELECT id FROM batches WHERE ${isOver} AND created_at_ms < ${Math.trunc(beforeMs)}`
      const beyond = sql`SELECT id FROM batches WHERE ${isOver} ORDER BY id DESC LIMIT ${Number.MAX_SAFE_INTEGER} OFFSET ${most}`
      return sql`DELETE FROM batches WHERE id IN (
        SELECT id FROM (${old} UNION SELECT id FROM (${beyond}) AS beyond) AS pruned ORDER BY id LIMIT ${prunedAtOnce}) RETURNING 1`.pipe(
        Effect.mapBoth({ onFailure: Table.named("BatchRepo.prune"), onSuccess: (rows) => rows.length })
      )
    }),
    remove: (owner, id) => table.remove("BatchRepo.remove", sql`id = ${id} AND owner = ${owner}`)
  })
})

export const layer: Layer.Layer<BatchRepo, never, SqlClient.SqlClient> = Layer.effect(BatchRepo, make)
