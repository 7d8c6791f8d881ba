/**
 * Keeps which rows of the configuration were changed, in the transaction of the change: processes beside the one that changes them read again what
 * they hold in memory (`store/Snapshots`, docs/workers.md). State of accounts and times of use are none. The latest 10,000 are kept.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Tables with their column that names a row, and the columns that count; null: all of them. */
const tables: ReadonlyArray<readonly [table: string, id: string, columns: string | null]> = [
  [
    "connections",
    "id",
    "id, provider, name, auth_type, api_key, oauth, base_url, wires, default_model, models, priority, tier, max_concurrent, headers, quotas, is_active, proxy_enabled, transport"
  ],
  ["provider_nodes", "id", null],
  ["combos", "id", null],
  [
    "api_keys",
    "id",
    "name, prefix, hash, scopes, allowed_models, expires_at_ms, rate_limits, is_active, blocked_models, allowed_endpoints, allowed_combos, allowed_connections, ip_allowlist, max_requests_per_day, max_requests_per_minute, max_sessions, access_schedule, no_log, old_secrets, allowed_providers"
  ],
  ["provider_models", "provider", null],
  ["model_aliases", "alias", null],
  ["quota_groups", "id", null],
  ["model_lists", "connection_id", null],
  ["budgets", "api_key_id", null],
  ["token_limits", "api_key_id", null],
  ["proxies", "id", null],
  ["proxy_assignments", "scope_id", null],
  ["mcp_servers", "id", null],
  ["plugins", "name", null],
  ["sessions", "id_hash", "expires_at_ms"],
  ["eval_runs", "id", "status"]
]

const most = 10_000

const triggersOf = (table: string, name: string, id: string, columns: string | null): ReadonlyArray<string> =>
  (
    [
      ["insert", "INSERT", "NEW"],
      ["update", columns === null ? "UPDATE" : `UPDATE OF ${columns}`, "NEW"],
      ["delete", "DELETE", "OLD"]
    ] as const
  ).map(
    ([event, on, row]) => `CREATE TRIGGER config_${table}_${event} AFTER ${on} ON ${table} BEGIN
      INSERT INTO config_changes (name, id) VALUES (${name.replaceAll("ROW", row)}, ${row}.${id});
    END`
  )

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(
    [
      "CREATE TABLE config_changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, id TEXT) STRICT",
      `CREATE TRIGGER config_changes_most AFTER INSERT ON config_changes WHEN NEW.seq % 100 = 0 BEGIN
        DELETE FROM config_changes WHERE seq <= NEW.seq - ${most};
      END`,
      ...tables.flatMap(([table, id, columns]) => triggersOf(table, `'${table}'`, id, columns)),
      ...triggersOf("settings", "'settings/' || ROW.namespace", "key", null)
    ],
    (statement) => sql.unsafe(statement),
    { discard: true }
  )
)
