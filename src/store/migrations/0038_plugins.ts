/** Plugins: what is installed, what it may use and how it is set. Its files are under `DATA_DIR/plugins`. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`CREATE TABLE plugins (
    name TEXT PRIMARY KEY,
    version TEXT NOT NULL,
    manifest TEXT NOT NULL,
    integrity TEXT NOT NULL,
    source TEXT NOT NULL,
    status TEXT NOT NULL,
    granted TEXT NOT NULL,
    defined TEXT NOT NULL,
    config_values TEXT NOT NULL,
    secrets TEXT,
    installed_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    last_error TEXT
  ) STRICT`)
)
