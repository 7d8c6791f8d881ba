/**
 * Tables of limits that several nodes share (`plane/ledger/rows`): windows, the leases that nodes hold of them, and sessions of keys. A database of SQLite
 * has one gateway: there they stay empty.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { byEngine } from "../engine/Engine.ts"

const tables = [
  `limit_windows (name TEXT NOT NULL, start_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, rate_ms INTEGER NOT NULL, size INTEGER NOT NULL,
    version INTEGER NOT NULL, warn_at INTEGER NOT NULL, used INTEGER NOT NULL, held INTEGER NOT NULL CHECK (held >= 0),
    doubt INTEGER NOT NULL CHECK (doubt >= 0), notified INTEGER NOT NULL, wanted_ms INTEGER NOT NULL, log TEXT NOT NULL, PRIMARY KEY (name, start_ms))`,
  `limit_holders (id TEXT NOT NULL PRIMARY KEY, node TEXT NOT NULL, turn INTEGER NOT NULL, attempt INTEGER NOT NULL, reported TEXT NOT NULL, expires_ms INTEGER NOT NULL,
    is_expired INTEGER NOT NULL)`,
  `limit_leases (holder TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, start_ms INTEGER NOT NULL, granted INTEGER NOT NULL,
    spent INTEGER NOT NULL, PRIMARY KEY (holder, number))`,
  `limit_sessions (api_key_id TEXT NOT NULL, session TEXT NOT NULL, holder TEXT NOT NULL, PRIMARY KEY (api_key_id, session, holder))`
]

const indexes = [
  "CREATE INDEX limit_holders_by_node ON limit_holders (node)",
  "CREATE INDEX limit_sessions_by_holder ON limit_sessions (holder)"
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(
    [
      ...tables.map((table) =>
        byEngine(sql, {
          sqlite: `CREATE TABLE ${table} STRICT`,
          // Rows that are updated all the time: their next version has room on the same page.
          postgres: `CREATE TABLE ${table.replaceAll("INTEGER", "BIGINT")} WITH (fillfactor = 50)`
        })
      ),
      ...indexes
    ],
    (statement) => sql.unsafe(statement),
    { discard: true }
  )
)
