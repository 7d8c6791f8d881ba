/** The data folder of a running OmniRoute. */
import * as Effect from "effect/Effect"
import { join } from "node:path"
import * as Handle from "../../src/store/engine/Handle.ts"

/** Tables as OmniRoute 3.8 makes them, without columns that no import reads; `src/lib/db/core.ts` there. */
const tables = `
  CREATE TABLE provider_connections (
    id TEXT PRIMARY KEY, provider TEXT NOT NULL, auth_type TEXT, name TEXT, email TEXT, priority INTEGER DEFAULT 0,
    is_active INTEGER DEFAULT 1, access_token TEXT, api_key TEXT, provider_specific_data TEXT, display_name TEXT,
    default_model TEXT, "group" TEXT, max_concurrent INTEGER, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
  );
  CREATE TABLE provider_nodes (
    id TEXT PRIMARY KEY, type TEXT NOT NULL, name TEXT NOT NULL, prefix TEXT, api_type TEXT, base_url TEXT, chat_path TEXT,
    models_path TEXT, custom_headers_json TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
  );
  CREATE TABLE key_value (namespace TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (namespace, key));
  CREATE TABLE combos (
    id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, data TEXT NOT NULL, sort_order INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL
  );
  CREATE TABLE api_keys (id TEXT PRIMARY KEY, name TEXT NOT NULL, key TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL);
  CREATE TABLE domain_fallback_chains (model TEXT PRIMARY KEY, chain TEXT NOT NULL);
`

/** A database with everything still in its journal, as it is while OmniRoute runs. */
export const running = (folder: string, upstream: string) =>
  Effect.gen(function* () {
    const database = yield* Handle.open(join(folder, "storage.sqlite"), { readonly: false, busyTimeoutMs: 0 })
    database.pragma("journal_mode = WAL")
    database.pragma("wal_autocheckpoint = 0")
    database.exec(tables)
    const put = (table: string, values: Readonly<Record<string, unknown>>): void => {
      const names = Object.keys(values)
      const places = names.map(() => "?").join(", ")
      database.prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${places})`).run(Object.values(values))
    }
    const at = { created_at: "2035-01-01", updated_at: "2035-01-01" }
    put("provider_nodes", {
      id: "openai-compatible-chat-1",
      type: "openai-compatible",
      name: "House",
      prefix: "house",
      api_type: "chat",
      base_url: `${upstream}/v1`,
      ...at
    })
    put("provider_connections", {
      id: "c1",
      provider: "openai-compatible-chat-1",
      auth_type: "apikey",
      name: "one",
      api_key: "enc:v1:0011:2233:4455",
      priority: 1,
      ...at
    })
    put("provider_connections", {
      id: "c2",
      provider: "claude",
      auth_type: "oauth",
      email: "me@example.com",
      access_token: "token-of-the-account",
      ...at
    })
    const models = [{ kind: "model", model: "house/small", providerId: "openai-compatible-chat-1", connectionId: "c1" }]
    put("combos", { id: "x", name: "house model", data: JSON.stringify({ name: "house model", models }), ...at })
    put("domain_fallback_chains", { model: "large", chain: `[{"provider":"house","priority":1,"enabled":true}]` })
    put("key_value", { namespace: "modelAliases", key: "mini", value: `"house/small"` })
    put("key_value", { namespace: "pricing", key: "house", value: `{"small":{"input":0.1,"output":0.4}}` })
    put("key_value", { namespace: "settings", key: "password", value: `"hash-of-the-password"` })
    put("api_keys", { id: "k", name: "laptop", key: "sk-of-a-client", created_at: "2035-01-01" })
  })
