/** Vectors of memories, each of one state of its memory. They go with it. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { MaybeText, Text, Vector } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { sealedColumn } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Table from "../../store/engine/Table.ts"

export interface MemoryVector {
  /** Id of the memory. */
  readonly id: string
  /** Time of the state that it was made of. */
  readonly updatedAtMs: number
  /** Vector of norm 1. */
  readonly vector: Float32Array
}

export class MemoryVectorRepo extends Context.Tag("gateway/subjects/memory/MemoryVectorRepo")<
  MemoryVectorRepo,
  {
    /**
     * Lists the vectors of this model, for an owner's memories as they are now; `null`: of callers without an API key.
     */
    readonly of: (apiKeyId: string | null, model: string) => Effect.Effect<ReadonlyArray<MemoryVector>, StoreError>
    /** Replaces those of the same memories; those of memories that are gone are not stored. */
    readonly put: (model: string, vectors: ReadonlyArray<MemoryVector>) => Effect.Effect<void, StoreError>
  }
>() {}

const Sealed = Schema.parseJson(Schema.Struct({ vector: Vector }))
const Rows = Schema.Array(Schema.Struct({ id: Text, updatedAtMs: Schema.Number, content: MaybeText }))

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* Secrets
  const sealed = sealedColumn(secrets, "memory_vectors", "content", Sealed)

  const of = Effect.fn("MemoryVectorRepo.of")(function* (apiKeyId: string | null, model: string) {
    const rows = yield* sql`SELECT memories.id, memory_updated_at_ms AS updated_at_ms, memory_vectors.content
      FROM memories JOIN memory_vectors ON memory_vectors.id = memories.id
      WHERE owner = ${apiKeyId ?? ""} AND model = ${model} AND memory_updated_at_ms = memories.updated_at_ms`.pipe(
      Effect.flatMap(Schema.decodeUnknown(Rows)),
      Effect.mapError(Table.named("MemoryVectorRepo.of"))
    )
    return rows.flatMap(({ content, id, updatedAtMs }): ReadonlyArray<MemoryVector> => {
      const { value } = sealed.open(id, content)
      return value === null || value.vector.length === 0 ? [] : [{ id, updatedAtMs, vector: value.vector }]
    })
  })

  const put = Effect.fn("MemoryVectorRepo.put")((model: string, vectors: ReadonlyArray<MemoryVector>) =>
    Effect.forEach(
      vectors,
      ({ id, updatedAtMs, vector }) => sql`
        INSERT INTO memory_vectors (id, model, memory_updated_at_ms, content)
        SELECT id, ${model}, ${Math.trunc(updatedAtMs)}, ${sealed.seal(id, { vector })} FROM memories WHERE id = ${id}
        ON CONFLICT (id) DO UPDATE SET model = excluded.model, memory_updated_at_ms = excluded.memory_updated_at_ms, content = excluded.content`,
      { discard: true }
    ).pipe(sql.withTransaction, Effect.mapError(Table.named("MemoryVectorRepo.put")))
  )

  return MemoryVectorRepo.of({ of, put })
})

export const layer: Layer.Layer<MemoryVectorRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(
  MemoryVectorRepo,
  make
)
