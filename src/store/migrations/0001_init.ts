/** The first schema. Never edited after release: a change is a new migration. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT`,
  `CREATE TABLE settings (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (namespace, key)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE connections (
    id TEXT PRIMARY KEY,
    provider TEXT NOT NULL,
    name TEXT NOT NULL,
    auth_type TEXT NOT NULL,
    api_key TEXT,
    oauth TEXT,
    base_url TEXT,
    wires TEXT,
    default_model TEXT,
    models TEXT NOT NULL,
    priority INTEGER NOT NULL,
    tier TEXT,
    max_concurrent INTEGER,
    headers TEXT,
    quotas TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    test_status TEXT NOT NULL,
    rate_limited_until_ms INTEGER,
    last_error TEXT,
    last_error_type TEXT,
    error_code TEXT,
    backoff_level INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE provider_nodes (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    base_url TEXT NOT NULL,
    wires TEXT,
    headers TEXT,
    chat_path TEXT,
    models_path TEXT,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE combos (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    strategy TEXT NOT NULL,
    targets TEXT NOT NULL,
    config TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    allowed_models TEXT,
    expires_at_ms INTEGER,
    rate_limits TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER
  ) STRICT`,
  `CREATE TABLE sessions (
    id_hash TEXT PRIMARY KEY,
    created_at_ms INTEGER NOT NULL,
    last_seen_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE provider_models (
    provider TEXT NOT NULL,
    model_id TEXT NOT NULL,
    name TEXT,
    context_length INTEGER,
    max_output_tokens INTEGER,
    capabilities TEXT NOT NULL,
    hidden INTEGER NOT NULL,
    PRIMARY KEY (provider, model_id)
  ) STRICT`,
  `CREATE TABLE usage_log (
    id TEXT PRIMARY KEY,
    timestamp_ms INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    api_key_id TEXT,
    requested_model TEXT NOT NULL,
    combo TEXT,
    provider TEXT,
    connection_id TEXT,
    model TEXT,
    source_wire TEXT NOT NULL,
    target_wire TEXT,
    streamed INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    status INTEGER NOT NULL,
    latency_ms INTEGER NOT NULL,
    ttft_ms INTEGER,
    attempts INTEGER NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    tokens_cache_read INTEGER NOT NULL,
    tokens_cache_write INTEGER NOT NULL,
    tokens_reasoning INTEGER NOT NULL,
    cost_nano_usd INTEGER NOT NULL,
    priced INTEGER NOT NULL,
    usage_source TEXT NOT NULL,
    error TEXT
  ) STRICT`,
  `CREATE INDEX usage_log_api_key ON usage_log (api_key_id, timestamp_ms) WHERE api_key_id IS NOT NULL`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
