/**
 * Tables that a restore leaves as they are. A database that replaces the live one is a state of the configuration; the log of later
 * requests and their cost stays: it must not vanish when a change is undone.
 */
import type { Database } from "../engine/Handle.ts"

interface Carried {
  readonly table: string
  /**
   * `add`: rows that the restored database lacks, known by their key. `replace`: as `add`, and of two rows with one key the live one counts,
   * because it goes on from the other. `instead`: the live rows and no others.
   */
  readonly how: "add" | "replace" | "instead"
  /** A column that the restored database fills by itself. */
  readonly own?: string
}

export const carried: ReadonlyArray<Carried> = [
  // New numbers, so that the rows are added to the sums by hour and day.
  { table: "usage_log", how: "add", own: "seq" },
  { table: "ledger_entries", how: "replace" },
  { table: "limit_notices", how: "replace" },
  { table: "search_counts", how: "replace" },
  { table: "compression_counts", how: "replace" },
  // Who changed what stays on record, the change that is undone included.
  { table: "audit_log", how: "add", own: "seq" },
  { table: "mcp_tool_audit", how: "add" },
  // What was measured stays known, and a run that has ended since must not run again.
  { table: "eval_runs", how: "replace" },
  { table: "eval_results", how: "add" },
  // What was issued since counts against the limits, and what was revoked stays so.
  { table: "registered_keys", how: "replace" },
  // An event that was delivered since must not be sent again, and a waiting one must not be lost.
  { table: "webhook_outbox", how: "instead" },
  // Their bodies are not in the database: the folder of now goes with the rows of now.
  { table: "files", how: "instead" },
  // The same of what became of their lines; a batch that is over must not run again.
  { table: "batches", how: "instead" },
  // What a provider has accepted since must not be submitted again.
  { table: "media_jobs", how: "instead" },
  // Who was signed out since must not be signed in again, and who restores stays signed in.
  { table: "sessions", how: "instead" }
]

const columnsOf = (database: Database, schema: "main" | "live", table: string): ReadonlyArray<string> =>
  database.prepare(`SELECT name FROM pragma_table_info(?, ?)`).pluck().all(table, schema) as ReadonlyArray<string>

/**
 * Chooses the order in which the rows were written: a table without a number of its own has none, and one of an older
 * schema has only the hidden one.
 */
const orderOf = (own: string | undefined, live: ReadonlySet<string>): string =>
  own === undefined ? "1" : live.has(own) ? `"${own}"` : "rowid"

const verb: Readonly<Record<Carried["how"], string>> = {
  add: "INSERT OR IGNORE",
  replace: "INSERT OR REPLACE",
  instead: "INSERT OR REPLACE"
}

/** Brings the rows over from the live database, in one transaction. Both have the gateway's schema, the live one perhaps an older one. */
export const carryOver = (restored: Database, liveFile: string): void => {
  restored.prepare("ATTACH DATABASE ? AS live").run(liveFile)
  try {
    restored.transaction(() => {
      for (const { how, own, table } of carried) {
        const live = new Set(columnsOf(restored, "live", table))
        const names = columnsOf(restored, "main", table).filter((name) => live.has(name) && name !== own)
        if (names.length === 0) continue
        if (how === "instead") restored.exec(`DELETE FROM main."${table}"`)
        const list = names.map((name) => `"${name}"`).join(", ")
        restored.exec(
          `${verb[how]} INTO main."${table}" (${list}) SELECT ${list} FROM live."${table}" ORDER BY ${orderOf(own, live)}`
        )
      }
      restored.exec(
        `UPDATE main.api_keys SET is_active = 0
          WHERE id IN (SELECT key_id FROM main.registered_keys WHERE revoked_at_ms IS NOT NULL)`
      )
    })()
  } finally {
    restored.exec("DETACH DATABASE live")
  }
}
