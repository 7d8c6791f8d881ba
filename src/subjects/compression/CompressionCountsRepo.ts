/** Sums of the compression of prompts, by day, mode and source. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { CompressionCounts } from "./entity/CompressionCounts.ts"
import { Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

export class CompressionCountsRepo extends Context.Tag("gateway/subjects/compression/CompressionCountsRepo")<
  CompressionCountsRepo,
  {
    /** Adds to what is there, all or nothing. */
    readonly add: (counts: ReadonlyArray<CompressionCounts>) => Effect.Effect<void, StoreError>
    /** Lists the sums from this day on, the oldest first. */
    readonly since: (day: string) => Effect.Effect<ReadonlyArray<CompressionCounts>, StoreError>
    /** Removes the days before. */
    readonly trim: (day: string) => Effect.Effect<void, StoreError>
  }
>() {}

const Row = Schema.Struct({
  day: Text,
  mode: Text,
  source: Text,
  requests: Whole,
  changed: Whole,
  tokensBefore: Whole,
  tokensAfter: Whole
})

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "compression_counts", Row)

  const addOne = ({ changed, day, mode, requests, source, tokensAfter, tokensBefore }: CompressionCounts) =>
    sql`INSERT INTO compression_counts (day, mode, source, requests, changed, tokens_before, tokens_after)
      VALUES (${day}, ${mode}, ${source}, ${requests}, ${changed}, ${tokensBefore}, ${tokensAfter})
      ON CONFLICT (day, mode, source) DO UPDATE SET requests = compression_counts.requests + excluded.requests,
        changed = compression_counts.changed + excluded.changed, tokens_before = compression_counts.tokens_before + excluded.tokens_before,
        tokens_after = compression_counts.tokens_after + excluded.tokens_after`

  return CompressionCountsRepo.of({
    add: Effect.fn("CompressionCountsRepo.add")((counts: ReadonlyArray<CompressionCounts>) =>
      Effect.mapError(
        sql.withTransaction(Effect.forEach(counts, addOne, { discard: true })),
        Table.named("compressionCounts.add")
      )
    ),
    since: (day) => table.select("compressionCounts.since", sql`WHERE day >= ${day} ORDER BY day, mode, source`),
    trim: Effect.fn("CompressionCountsRepo.trim")((day: string) =>
      Effect.asVoid(
        Effect.mapError(sql`DELETE FROM compression_counts WHERE day < ${day}`, Table.named("compressionCounts.trim"))
      )
    )
  })
})

export const layer: Layer.Layer<CompressionCountsRepo, never, SqlClient.SqlClient> = Layer.effect(
  CompressionCountsRepo,
  make
)
