/**
 * Issuers that sign people in, who a person is there (`issuer` and `subject`), and whose a session is. The e-mail address of a person is unique among
 * people that are kept here: two issuers may know one address.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { byEngine } from "../engine/Engine.ts"
import { text } from "../engine/postgres/schema/text.ts"

const userColumns = "id, name, email, role, source, state, budget, limits, created_at_ms, updated_at_ms"

const watched: ReadonlyArray<string> = (
  [
    ["insert", "INSERT", "NEW"],
    ["update", "UPDATE", "NEW"],
    ["delete", "DELETE", "OLD"]
  ] as const
).map(
  ([event, on, row]) => `CREATE TRIGGER config_users_${event} AFTER ${on} ON users BEGIN
    INSERT INTO config_changes (name, id) VALUES ('users', ${row}.id);
  END`
)

const indexes: ReadonlyArray<string> = [
  "CREATE UNIQUE INDEX users_email ON users (email) WHERE issuer IS NULL",
  "CREATE UNIQUE INDEX users_subject ON users (issuer, subject) WHERE issuer IS NOT NULL"
]

const sqlite: ReadonlyArray<string> = [
  `CREATE TABLE issuers (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    issuer TEXT NOT NULL,
    client_id TEXT NOT NULL,
    client_secret TEXT,
    scopes TEXT NOT NULL,
    allowed_domains TEXT NOT NULL,
    allowed_groups TEXT NOT NULL,
    groups_claim TEXT NOT NULL,
    group_rules TEXT NOT NULL,
    default_role TEXT,
    is_enabled INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE users_after (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    role TEXT NOT NULL,
    source TEXT NOT NULL,
    state TEXT NOT NULL,
    budget TEXT,
    limits TEXT,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    issuer TEXT,
    subject TEXT
  ) STRICT`,
  `INSERT INTO users_after (${userColumns}) SELECT ${userColumns} FROM users ORDER BY rowid`,
  "DROP TABLE users",
  "ALTER TABLE users_after RENAME TO users",
  ...indexes,
  ...watched,
  "ALTER TABLE sessions ADD COLUMN user_id TEXT",
  "ALTER TABLE sessions ADD COLUMN issuer_id TEXT"
]

/** The same for Postgres (`engine/postgres/schema`). */
const postgres: ReadonlyArray<string> = [
  `CREATE TABLE issuers (
    id ${text} PRIMARY KEY,
    name ${text} NOT NULL UNIQUE,
    kind ${text} NOT NULL,
    issuer ${text} NOT NULL,
    client_id ${text} NOT NULL,
    client_secret ${text},
    scopes ${text} NOT NULL,
    allowed_domains ${text} NOT NULL,
    allowed_groups ${text} NOT NULL,
    groups_claim ${text} NOT NULL,
    group_rules ${text} NOT NULL,
    default_role ${text},
    is_enabled BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL
  )`,
  "ALTER TABLE users DROP CONSTRAINT users_email_key",
  `ALTER TABLE users ADD COLUMN issuer ${text}`,
  `ALTER TABLE users ADD COLUMN subject ${text}`,
  ...indexes,
  `ALTER TABLE sessions ADD COLUMN user_id ${text}`,
  `ALTER TABLE sessions ADD COLUMN issuer_id ${text}`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(byEngine(sql, { sqlite, postgres }), (statement) => sql.unsafe(statement), { discard: true })
)
