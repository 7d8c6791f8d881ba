/**
 * People and teams that a directory pushes (SCIM): what it calls them, and at which issuer they sign in. An e-mail address is unique among people that are
 * kept here.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { byEngine } from "../engine/Engine.ts"
import { text } from "../engine/postgres/schema/text.ts"

const indexes: ReadonlyArray<string> = [
  "DROP INDEX users_email",
  "CREATE UNIQUE INDEX users_email ON users (email) WHERE source = 'local'",
  "CREATE UNIQUE INDEX users_user_name ON users (user_name) WHERE user_name IS NOT NULL"
]

const sqlite: ReadonlyArray<string> = [
  "ALTER TABLE users ADD COLUMN user_name TEXT",
  "ALTER TABLE users ADD COLUMN provisioned TEXT",
  "ALTER TABLE teams ADD COLUMN source TEXT NOT NULL DEFAULT 'local'",
  "ALTER TABLE teams ADD COLUMN external_id TEXT",
  "ALTER TABLE issuers ADD COLUMN scim TEXT",
  ...indexes
]

/** The same for Postgres (`engine/postgres/schema`). */
const postgres: ReadonlyArray<string> = [
  `ALTER TABLE users ADD COLUMN user_name ${text}`,
  `ALTER TABLE users ADD COLUMN provisioned ${text}`,
  `ALTER TABLE teams ADD COLUMN source ${text} NOT NULL DEFAULT 'local'`,
  `ALTER TABLE teams ADD COLUMN external_id ${text}`,
  `ALTER TABLE issuers ADD COLUMN scim ${text}`,
  ...indexes
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(byEngine(sql, { sqlite, postgres }), (statement) => sql.unsafe(statement), { discard: true })
)
