/**
 * Adds the purposes, places and times for which an API key may be used, and the secrets that a rotation has replaced.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  `ALTER TABLE api_keys ADD COLUMN blocked_models TEXT NOT NULL DEFAULT '[]'`,
  `ALTER TABLE api_keys ADD COLUMN allowed_endpoints TEXT NOT NULL DEFAULT '[]'`,
  `ALTER TABLE api_keys ADD COLUMN allowed_combos TEXT NOT NULL DEFAULT '[]'`,
  `ALTER TABLE api_keys ADD COLUMN allowed_connections TEXT NOT NULL DEFAULT '[]'`,
  `ALTER TABLE api_keys ADD COLUMN ip_allowlist TEXT NOT NULL DEFAULT '[]'`,
  `ALTER TABLE api_keys ADD COLUMN max_requests_per_day INTEGER`,
  `ALTER TABLE api_keys ADD COLUMN max_requests_per_minute INTEGER`,
  `ALTER TABLE api_keys ADD COLUMN max_sessions INTEGER`,
  `ALTER TABLE api_keys ADD COLUMN access_schedule TEXT`,
  `ALTER TABLE api_keys ADD COLUMN no_log INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE api_keys ADD COLUMN old_secrets TEXT NOT NULL DEFAULT '[]'`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
