/**
 * Several gateways on one database of Postgres: each finds what the others have changed, and is seen by them. A change is known by the transaction
 * that made it: numbers of a sequence are given before their transactions end, so that one may appear behind a later one. The same columns and
 * tables over SQLite, which one gateway has for itself.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { byEngine } from "../engine/Engine.ts"
import { text } from "../engine/postgres/schema/text.ts"

const sqlite: ReadonlyArray<string> = [
  "ALTER TABLE config_changes ADD COLUMN transaction_id INTEGER NOT NULL DEFAULT 0",
  `CREATE TABLE cluster_nodes (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    schema_version INTEGER NOT NULL,
    started_at_ms INTEGER NOT NULL,
    seen_at_ms INTEGER NOT NULL,
    config_seq INTEGER NOT NULL
  ) STRICT`
]

/** Columns of a webhook that are no count of its deliveries. */
const webhookColumns = "url, events, kind, secret, enabled, description, mail"

const postgres: ReadonlyArray<string> = [
  `ALTER TABLE config_changes ADD COLUMN transaction_id BIGINT NOT NULL
    DEFAULT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)`,
  `CREATE TABLE cluster_nodes (
    id ${text} PRIMARY KEY,
    name ${text} NOT NULL,
    version ${text} NOT NULL,
    schema_version BIGINT NOT NULL,
    started_at_ms BIGINT NOT NULL,
    seen_at_ms BIGINT NOT NULL,
    config_seq BIGINT NOT NULL
  )`,
  `CREATE FUNCTION config_changes_told() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_notify('gateway_config', 'changed'); RETURN NULL; END $$`,
  `CREATE TRIGGER config_changes_told AFTER INSERT ON config_changes FOR EACH STATEMENT EXECUTE FUNCTION config_changes_told()`,
  ...(
    [
      ["insert", "INSERT"],
      ["update", `UPDATE OF ${webhookColumns}`],
      ["delete", "DELETE"]
    ] as const
  ).map(
    ([event, on]) =>
      `CREATE TRIGGER config_webhooks_${event} AFTER ${on} ON webhooks FOR EACH ROW EXECUTE FUNCTION config_changed('id')`
  )
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(byEngine(sql, { sqlite, postgres }), (statement) => sql.unsafe(statement), { discard: true })
)
