/**
 * Drops every encrypted value after the loss of the master key, keeps everything else (`gateway
 * reset-encrypted-columns`).
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { type StoreError } from "../Errors.ts"
import { sealedColumns } from "./sealedColumns.generated.ts"
import { canaryRow, stretchingRow } from "./Secrets.ts"
import { named } from "../engine/Table.ts"

/** Returns how many rows lost a credential. The next start writes a canary for the key it then finds. */
export const resetSecrets: Effect.Effect<number, StoreError, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const counts = yield* Effect.forEach(sealedColumns, ({ columns, table }) =>
    Effect.map(
      sql`
        UPDATE ${sql(table)} SET ${sql.csv(columns.map((column) => sql`${sql(column)} = NULL`))}
        WHERE ${sql.or(columns.map((column) => sql`${sql(column)} IS NOT NULL`))} RETURNING 1`,
      (hits) => hits.length
    )
  )
  yield* sql`DELETE FROM meta WHERE key IN ${sql.in([canaryRow, stretchingRow])}`
  return counts.reduce((sum, count) => sum + count, 0)
}).pipe(
  (work) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(work)),
  Effect.mapError(named("resetSecrets"))
)
