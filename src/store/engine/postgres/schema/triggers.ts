/** Triggers of the first schema over Postgres: what goes with a row that is removed, and which rows of the configuration were changed. */

/** A trigger behind every removed row of a table. */
const onDelete = (name: string, table: string, body: string): ReadonlyArray<string> => [
  `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NULL; END $$`,
  `CREATE TRIGGER ${name} AFTER DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${name}()`
]

const keepName = (kind: string): string =>
  `INSERT INTO usage_names (kind, id, name, removed_at_ms)
    VALUES ('${kind}', OLD.id, OLD.name, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))
    ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, removed_at_ms = excluded.removed_at_ms`

const removals: ReadonlyArray<string> = [
  ...onDelete("answer_cache_of_removed_key", "api_keys", "DELETE FROM answer_cache WHERE owner = OLD.id"),
  ...onDelete("memories_of_removed_key", "api_keys", "DELETE FROM memories WHERE owner = OLD.id"),
  ...onDelete("memory_blocks_of_removed_key", "api_keys", "DELETE FROM memory_blocks WHERE owner = OLD.id"),
  ...onDelete("raw_outputs_of_removed_key", "api_keys", "DELETE FROM raw_outputs WHERE owner = OLD.id"),
  ...onDelete("usage_names_of_removed_key", "api_keys", keepName("key")),
  ...onDelete("usage_names_of_removed_connection", "connections", keepName("connection")),
  ...onDelete("memories_removed", "memories", "DELETE FROM memory_index WHERE seq = OLD.seq"),
  ...onDelete(
    "memory_blocks_of_removed_memory",
    "memories",
    "DELETE FROM memory_blocks WHERE turn IN (SELECT turn FROM memory_block_members WHERE memory_id = OLD.id)"
  ),
  ...onDelete("memory_vectors_of_removed", "memories", "DELETE FROM memory_vectors WHERE id = OLD.id"),
  ...onDelete("memory_blocks_removed", "memory_blocks", "DELETE FROM memory_block_members WHERE turn = OLD.turn")
]

/** Tables with their column that names a row, and the columns that count; null: all of them. */
const watched: ReadonlyArray<readonly [table: string, id: string, columns: string | null]> = [
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
  ["eval_runs", "id", "status"],
  ["settings", "key", null]
]

/** The column of the id is the trigger's argument; of a setting the namespace belongs to the name. */
const changed = `CREATE FUNCTION config_changed() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE changed JSONB := CASE TG_OP WHEN 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END;
  BEGIN
    INSERT INTO config_changes (name, id) VALUES (
      CASE TG_TABLE_NAME WHEN 'settings' THEN 'settings/' || (changed ->> 'namespace') ELSE TG_TABLE_NAME END,
      changed ->> TG_ARGV[0]
    );
    RETURN NULL;
  END $$`

const changes: ReadonlyArray<string> = [
  changed,
  ...watched.flatMap(([table, id, columns]) =>
    (
      [
        ["insert", "INSERT"],
        ["update", columns === null ? "UPDATE" : `UPDATE OF ${columns}`],
        ["delete", "DELETE"]
      ] as const
    ).map(
      ([event, on]) =>
        `CREATE TRIGGER config_${table}_${event} AFTER ${on} ON ${table} FOR EACH ROW EXECUTE FUNCTION config_changed('${id}')`
    )
  ),
  `CREATE FUNCTION config_changes_most() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM config_changes WHERE seq <= NEW.seq - 10000; RETURN NULL; END $$`,
  `CREATE TRIGGER config_changes_most AFTER INSERT ON config_changes FOR EACH ROW WHEN (NEW.seq % 100 = 0)
    EXECUTE FUNCTION config_changes_most()`
]

export const triggers: ReadonlyArray<string> = [...removals, ...changes]
