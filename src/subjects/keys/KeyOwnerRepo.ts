/** Owners of keys, and the times in which they were it. Written by the database with each change of a key's owner (migration 52). */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

/** A time in which a key belonged to a person or a team; epoch milliseconds. */
export interface Ownership {
  readonly apiKeyId: string
  readonly userId: string | null
  readonly teamId: string | null
  readonly fromMs: number
  /** Null: it still does, or the key is no more. */
  readonly untilMs: number | null
}

export class KeyOwnerRepo extends Context.Tag("gateway/subjects/keys/KeyOwnerRepo")<
  KeyOwnerRepo,
  {
    /** All that ended after a time, or has not ended; the oldest first. */
    readonly since: (sinceMs: number) => Effect.Effect<ReadonlyArray<Ownership>, StoreError>
  }
>() {}

export const make = Effect.map(SqlClient.SqlClient, (sql) =>
  KeyOwnerRepo.of({
    since: Effect.fn("KeyOwnerRepo.since")((sinceMs: number) =>
      sql<Ownership>`SELECT api_key_id, user_id, team_id, from_ms, until_ms FROM key_owners
        WHERE until_ms IS NULL OR until_ms > ${sinceMs} ORDER BY seq`.pipe(
        Effect.mapError(Table.named("KeyOwnerRepo.since"))
      )
    )
  })
)

export const layer: Layer.Layer<KeyOwnerRepo, never, SqlClient.SqlClient> = Layer.effect(KeyOwnerRepo, make)
