/** Copies what a gateway is configured to be into an empty database of the same schema: what is tried there changes nothing here. */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import type { StoreError } from "./Errors.ts"
import { isPostgres } from "./engine/Engine.ts"
import * as Table from "./engine/Table.ts"

interface Copied {
  readonly table: string
  /** SQL of a unique value that rows are read in the order of. */
  readonly by: "rowid" | "alias" | "namespace || char(0) || key"
  /** Columns of the same use over Postgres, where that is not `id`. */
  readonly key?: string
}

const configuration: ReadonlyArray<Copied> = [
  { table: "settings", by: "namespace || char(0) || key", key: "namespace || chr(1) || key" },
  { table: "connections", by: "rowid" },
  { table: "provider_nodes", by: "rowid" },
  { table: "combos", by: "rowid" },
  { table: "provider_models", by: "rowid", key: "provider || chr(1) || model_id" },
  { table: "model_aliases", by: "alias", key: "alias" },
  { table: "quota_groups", by: "rowid" },
  { table: "model_list_texts", by: "rowid", key: "hash" },
  { table: "model_lists", by: "rowid", key: "connection_id" },
  { table: "cloud_sync", by: "rowid" },
  { table: "issue_tracker", by: "rowid" },
  { table: "mcp_servers", by: "rowid" }
]

/** Tables of keys and of the people and teams they belong to; of keys there may be a hundred thousand. */
const keys: ReadonlyArray<Copied> = [
  { table: "users", by: "rowid" },
  { table: "teams", by: "rowid" },
  { table: "api_keys", by: "rowid" },
  { table: "registered_keys", by: "rowid", key: "key_id" }
]

/** Rows of one statement, which blocks the process. */
const pageSize = 500

type Row = Readonly<Record<string, string | number | bigint | null>>

/** `withKeys`: the API keys too. */
export const copyConfiguration = (
  from: SqlClient.SqlClient,
  to: SqlClient.SqlClient,
  withKeys: boolean
): Effect.Effect<void, StoreError> => {
  const copyTable = Effect.fnUntraced(function* ({ by: ofSqlite, key = "id", table }: Copied) {
    const by = isPostgres(from) ? key : ofSqlite
    let last: Row[string] = null
    for (;;) {
      const where = last === null ? "" : `WHERE ${by} > ?`
      const rows: ReadonlyArray<Row> = yield* from.unsafe<Row>(
        `SELECT ${by} AS copied_by, * FROM ${table} ${where} ORDER BY ${by} LIMIT ${pageSize}`,
        last === null ? [] : [last]
      ).withoutTransform
      for (const { copied_by: _, ...row } of rows) {
        const names = Object.keys(row)
        const places = names.map(() => "?").join(", ")
        yield* to.unsafe(`INSERT OR REPLACE INTO ${table} (${names.join(", ")}) VALUES (${places})`, Object.values(row))
      }
      const end = rows.at(-1)
      if (end === undefined || rows.length < pageSize) return
      last = end["copied_by"] ?? null
      yield* Effect.yieldNow()
    }
  })
  return Effect.forEach(withKeys ? [...configuration, ...keys] : configuration, copyTable, { discard: true }).pipe(
    Effect.mapError(Table.named("copyConfiguration"))
  )
}
