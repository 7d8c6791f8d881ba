// Reads a database that is to take the place of the live one, on a thread of its own: a check of every page takes about a second per
// 500 MB. Plain JavaScript: Node runs this very file from source, and the build copies it as it is.
// In (workerData): {file}. Out: one message {verdict, version, objects, canary, stretching} or {error: {code, message}}.
import { parentPort, workerData } from "node:worker_threads"
// oxlint-disable-next-line no-restricted-imports
import Sqlite from "better-sqlite3"

const migrationsTable = "schema_migrations"

const read = (database) => {
  // What the file brings must not be run: https://www.sqlite.org/security.html
  database.pragma("trusted_schema = OFF")
  database.pragma("cell_size_check = ON")
  const value = (query, ...parameters) =>
    database
      .prepare(query)
      .pluck()
      .get(...parameters)
  const hasTable = (name) => value("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", name) === 1
  const objects = database
    .prepare(
      "SELECT type, name, tbl_name AS tableName, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    )
    .all()
  const migrated = hasTable(migrationsTable)
    ? Number(value(`SELECT MAX(migration_id) FROM ${migrationsTable}`) ?? 0)
    : 0
  const meta = (key) => (hasTable("meta") ? (value("SELECT value FROM meta WHERE key = ?", key) ?? null) : null)
  return {
    verdict: String(value("PRAGMA integrity_check(1)")),
    version: Math.max(Number(value("PRAGMA user_version") ?? 0), migrated),
    objects,
    canary: meta("encryption_canary"),
    stretching: meta("encryption_stretching")
  }
}

try {
  const database = new Sqlite(workerData.file, { readonly: true, fileMustExist: true })
  try {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage(read(database))
  } finally {
    database.close()
  }
} catch (error) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage({ error: { code: String(error?.code ?? ""), message: String(error?.message ?? error) } })
}
