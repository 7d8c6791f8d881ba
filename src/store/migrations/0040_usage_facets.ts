/**
 * Adds the combinations by which rows of the usage log are filtered. Rows share few combinations of names, so each combination is kept once, with
 * the rows that have it: any filter is asked of the combinations, and its rows are found by an index. Filled by the step that adds rows to the
 * sums.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const columns = [
  ["api_key_id", "COALESCE(log.api_key_id, '')"],
  ["provider", "COALESCE(log.provider, '')"],
  ["connection_id", "COALESCE(log.connection_id, '')"],
  ["model", "COALESCE(log.model, '')"],
  ["requested_model", "log.requested_model"],
  ["combo", "COALESCE(log.combo, '')"],
  ["outcome", "log.outcome"],
  ["status", "log.status"],
  ["calls", "MIN(log.attempts, 2)"]
] as const

const names = columns.map(([name]) => name).join(", ")
const values = columns.map(([, value]) => value).join(", ")
const isSame = columns.map(([name, value]) => `facet.${name} = ${value}`).join(" AND ")
const summed = "log.seq <= (SELECT seq FROM usage_summed)"

const statements: ReadonlyArray<string> = [
  `CREATE TABLE usage_facets (
    id INTEGER PRIMARY KEY,
    api_key_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    model TEXT NOT NULL,
    requested_model TEXT NOT NULL,
    combo TEXT NOT NULL,
    outcome TEXT NOT NULL,
    status INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    UNIQUE (api_key_id, provider, connection_id, model, requested_model, combo, outcome, status, calls)
  ) STRICT`,
  `CREATE TABLE usage_facet_rows (
    facet_id INTEGER NOT NULL,
    id TEXT NOT NULL,
    timestamp_ms INTEGER NOT NULL,
    PRIMARY KEY (facet_id, id)
  ) STRICT, WITHOUT ROWID`,
  `INSERT INTO usage_facets (${names}) SELECT DISTINCT ${values} FROM usage_log AS log WHERE ${summed}`,
  `INSERT INTO usage_facet_rows SELECT facet.id, log.id, log.timestamp_ms
    FROM usage_log AS log CROSS JOIN usage_facets AS facet ON ${isSame} WHERE ${summed}`,
  "CREATE INDEX usage_log_errors ON usage_log (id, error) WHERE error IS NOT NULL",
  "CREATE INDEX usage_log_requests ON usage_log (id, request_id) WHERE request_id <> id",
  "CREATE INDEX usage_log_batches ON usage_log (batch_id, id) WHERE batch_id IS NOT NULL",
  "CREATE INDEX ledger_entries_by_key ON ledger_entries (api_key_id, request_id, attempt) WHERE api_key_id IS NOT NULL"
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
