/**
 * People and teams, and whose keys are. `key_owners` keeps to whom a key belonged when, also of keys that are no more: what a team or a person has
 * spent is found by it.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const watched = (table: string): ReadonlyArray<string> =>
  (
    [
      ["insert", "INSERT", "NEW"],
      ["update", "UPDATE", "NEW"],
      ["delete", "DELETE", "OLD"]
    ] as const
  ).map(
    ([event, on, row]) => `CREATE TRIGGER config_${table}_${event} AFTER ${on} ON ${table} BEGIN
      INSERT INTO config_changes (name, id) VALUES ('${table}', ${row}.id);
    END`
  )

/** The columns of a key that count, with its owner (see migration 51). */
const keyColumns =
  "name, prefix, hash, scopes, allowed_models, expires_at_ms, rate_limits, is_active, blocked_models, allowed_endpoints, allowed_combos, allowed_connections, ip_allowlist, max_requests_per_day, max_requests_per_minute, max_sessions, access_schedule, no_log, old_secrets, allowed_providers, user_id, team_id"

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(
    [
      `CREATE TABLE users (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        email TEXT NOT NULL UNIQUE,
        role TEXT NOT NULL,
        source TEXT NOT NULL,
        state TEXT NOT NULL,
        budget TEXT,
        limits TEXT,
        created_at_ms INTEGER NOT NULL,
        updated_at_ms INTEGER NOT NULL
      ) STRICT`,
      `CREATE TABLE teams (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        parent TEXT,
        budget TEXT,
        models TEXT,
        limits TEXT,
        members TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL,
        updated_at_ms INTEGER NOT NULL
      ) STRICT`,
      ...watched("users"),
      ...watched("teams"),
      "ALTER TABLE api_keys ADD COLUMN user_id TEXT",
      "ALTER TABLE api_keys ADD COLUMN team_id TEXT",
      "ALTER TABLE api_keys ADD COLUMN owned_since_ms INTEGER",
      "DROP TRIGGER config_api_keys_update",
      `CREATE TRIGGER config_api_keys_update AFTER UPDATE OF ${keyColumns} ON api_keys BEGIN
        INSERT INTO config_changes (name, id) VALUES ('api_keys', NEW.id);
      END`,
      `CREATE TABLE key_owners (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        api_key_id TEXT NOT NULL,
        user_id TEXT,
        team_id TEXT,
        from_ms INTEGER NOT NULL,
        until_ms INTEGER
      ) STRICT`,
      "CREATE INDEX key_owners_key ON key_owners (api_key_id)",
      "CREATE INDEX key_owners_user ON key_owners (user_id) WHERE user_id IS NOT NULL",
      "CREATE INDEX key_owners_team ON key_owners (team_id) WHERE team_id IS NOT NULL",
      `CREATE TRIGGER key_owners_insert AFTER INSERT ON api_keys
        WHEN NEW.user_id IS NOT NULL OR NEW.team_id IS NOT NULL BEGIN
        INSERT INTO key_owners (api_key_id, user_id, team_id, from_ms) VALUES (NEW.id, NEW.user_id, NEW.team_id, 0);
      END`,
      `CREATE TRIGGER key_owners_update AFTER UPDATE OF user_id, team_id ON api_keys
        WHEN NEW.user_id IS NOT OLD.user_id OR NEW.team_id IS NOT OLD.team_id BEGIN
        UPDATE key_owners SET until_ms = NEW.owned_since_ms WHERE api_key_id = NEW.id AND until_ms IS NULL;
        INSERT INTO key_owners (api_key_id, user_id, team_id, from_ms)
          SELECT NEW.id, NEW.user_id, NEW.team_id, NEW.owned_since_ms
          WHERE NEW.user_id IS NOT NULL OR NEW.team_id IS NOT NULL;
      END`
    ],
    (statement) => sql.unsafe(statement),
    { discard: true }
  )
)
