/**
 * Table in which gateways on one database tell each other of the health of accounts and providers (`store/nodes/ToldRows`), and for each gateway up to
 * where it has read it, and the name of its data folder. A database of SQLite has one gateway: there the table stays empty.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { byEngine } from "../engine/Engine.ts"
import { text } from "../engine/postgres/schema/text.ts"

const sqlite: ReadonlyArray<string> = [
  `CREATE TABLE cluster_told (
    node TEXT NOT NULL,
    number INTEGER NOT NULL,
    sent_ms INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (node, number)
  ) STRICT`,
  "ALTER TABLE cluster_nodes ADD COLUMN folder TEXT NOT NULL DEFAULT ''",
  "ALTER TABLE cluster_nodes ADD COLUMN heard_at_ms INTEGER NOT NULL DEFAULT 0"
]

const postgres: ReadonlyArray<string> = [
  `CREATE TABLE cluster_told (
    node ${text} NOT NULL,
    number BIGINT NOT NULL,
    sent_ms BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (node, number)
  )`,
  `CREATE FUNCTION cluster_told() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_notify('gateway_config', 'told ' || NEW.node); RETURN NULL; END $$`,
  "CREATE TRIGGER cluster_told AFTER INSERT ON cluster_told FOR EACH ROW EXECUTE FUNCTION cluster_told()",
  `ALTER TABLE cluster_nodes ADD COLUMN folder ${text} NOT NULL DEFAULT ''`,
  "ALTER TABLE cluster_nodes ADD COLUMN heard_at_ms BIGINT NOT NULL DEFAULT 0"
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(byEngine(sql, { sqlite, postgres }), (statement) => sql.unsafe(statement), { discard: true })
)
