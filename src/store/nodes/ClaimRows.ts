/**
 * Claims as rows, by the clock of the database: a claim is a holder's until it expires, and the holder takes it again before that. Rows and not locks of
 * the database: a program that is stopped keeps a lock for ever.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { named } from "../engine/Table.ts"
import type { StoreError } from "../Errors.ts"

const nowMs = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"

/** The fence grows with each change of the holder. */
const take = `INSERT INTO cluster_claims (name, holder, fence, expires_at_ms) VALUES (?, ?, 1, ${nowMs} + ?)
  ON CONFLICT (name) DO UPDATE SET
    holder = excluded.holder,
    fence = cluster_claims.fence + CASE WHEN cluster_claims.holder = excluded.holder THEN 0 ELSE 1 END,
    expires_at_ms = excluded.expires_at_ms
  WHERE cluster_claims.holder = excluded.holder OR cluster_claims.expires_at_ms < ${nowMs}
  RETURNING fence`

/** Claims of data folders do not expire. */
const own = `INSERT INTO cluster_claims (name, holder, fence, expires_at_ms) VALUES (?, ?, 1, ${Number.MAX_SAFE_INTEGER})
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder WHERE cluster_claims.holder = excluded.holder RETURNING fence`

export const make = Effect.map(SqlClient.SqlClient, (sql) => ({
  /** Takes a claim, or keeps it for `ttlMs` more; null: another one has it. */
  take: (name: string, holder: string, ttlMs: number): Effect.Effect<number | null, StoreError> =>
    sql.unsafe<{ readonly fence: number }>(take, [name, holder, ttlMs]).pipe(
      Effect.map(([row]) => row?.fence ?? null),
      Effect.mapError(named("ClaimRows.take"))
    ),
  /** Makes a piece of work a data folder's; false: it is another's. */
  own: (name: string, folder: string): Effect.Effect<boolean, StoreError> =>
    sql.unsafe(own, [name, folder]).pipe(
      Effect.map((rows) => rows.length > 0),
      Effect.mapError(named("ClaimRows.own"))
    ),
  disown: (name: string, folder: string): Effect.Effect<void, StoreError> =>
    sql`DELETE FROM cluster_claims WHERE name = ${name} AND holder = ${folder}`.pipe(
      Effect.asVoid,
      Effect.mapError(named("ClaimRows.disown"))
    ),
  /** Lets others have it at once; the fence stays. */
  release: (name: string, holder: string): Effect.Effect<void, StoreError> =>
    sql`UPDATE cluster_claims SET expires_at_ms = 0 WHERE name = ${name} AND holder = ${holder}`.pipe(
      Effect.asVoid,
      Effect.mapError(named("ClaimRows.release"))
    )
}))
