/**
 * Tables of the configuration that are held in memory, and how each holder reads again what another process has changed. A process that alone
 * changes its database registers and is never called (docs/workers.md).
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { StoreError } from "./Errors.ts"

/** Changed rows of a table, by their ids; `all`: more than is known by id. */
export type ChangedRows = ReadonlySet<string> | "all"

/** Tables whose changes are kept in `config_changes` (migration 51); of the settings a namespace has a name of its own. */
export type WatchedTable =
  | "connections"
  | "provider_nodes"
  | "combos"
  | "api_keys"
  | "provider_models"
  | "model_aliases"
  | "quota_groups"
  | "model_lists"
  | "budgets"
  | "token_limits"
  | "proxies"
  | "proxy_assignments"
  | "mcp_servers"
  | "plugins"
  | "sessions"
  | "eval_runs"
  | "users"
  | "webhooks"
  | "teams"
  | `settings/${string}`

type Reload = (rows: ChangedRows) => Effect.Effect<void, StoreError>

/** Rows of a table that are remembered as changed; of more the table counts as changed. */
const mostRows = 1_000

/** Marks at which a table was changed as a whole, and rows of it. */
interface TableChanges {
  wholeAt: number
  readonly rowsAt: Map<string, number>
}

interface Holder {
  readonly tables: ReadonlyArray<WatchedTable>
  readonly reload: Reload
}

/** Changes of a table after a mark. */
export interface ChangedSince {
  readonly mark: number
  readonly rows: ChangedRows
}

export interface SnapshotsShape {
  /** Holders are read again in the order in which they have registered: what others are made of comes first. */
  readonly register: (tables: ReadonlyArray<WatchedTable>, reload: Reload) => Effect.Effect<void>
  /** Changes of another process in a table after a mark, 0 at first; null: nothing. */
  readonly changedSince: (table: WatchedTable, mark: number) => ChangedSince | null
}

/** Nothing is changed by another process. */
const alone: SnapshotsShape = { register: () => Effect.void, changedSince: () => null }

export class Snapshots extends Context.Reference<Snapshots>()("gateway/store/Snapshots", {
  defaultValue: () => alone
}) {}

/** Holders that are called with the changes of another process. */
export class SnapshotHolders implements SnapshotsShape {
  /** Last change before anything was read. */
  readonly since: number
  readonly #holders: Array<Holder> = []
  readonly #tables = new Map<string, TableChanges>()
  #mark = 0

  constructor(since: number) {
    this.since = since
  }

  readonly register: SnapshotsShape["register"] = (tables, reload) =>
    Effect.sync(() => void this.#holders.push({ tables, reload }))

  readonly changedSince: SnapshotsShape["changedSince"] = (table, mark) => {
    const changes = this.#tables.get(table)
    if (changes === undefined) return null
    if (changes.wholeAt > mark) return { mark: this.#mark, rows: "all" }
    const rows = new Set<string>()
    for (const [id, at] of changes.rowsAt) if (at > mark) rows.add(id)
    return rows.size === 0 ? null : { mark: this.#mark, rows }
  }

  #note(changes: ReadonlyMap<string, ChangedRows>): void {
    this.#mark += 1
    for (const [table, rows] of changes) {
      const known = this.#tables.get(table) ?? { wholeAt: 0, rowsAt: new Map() }
      this.#tables.set(table, known)
      if (rows === "all" || known.rowsAt.size + rows.size > mostRows) {
        known.wholeAt = this.#mark
        known.rowsAt.clear()
      } else for (const id of rows) known.rowsAt.set(id, this.#mark)
    }
  }

  /** Reads again what has changed; a holder that fails does not keep the others from it. */
  reload(changes: ReadonlyMap<string, ChangedRows>): Effect.Effect<void> {
    this.#note(changes)
    return Effect.forEach(
      this.#holders,
      ({ reload, tables }) => {
        const found = tables.flatMap((table) => changes.get(table) ?? [])
        if (found.length === 0) return Effect.void
        const rows: ChangedRows = found.includes("all")
          ? "all"
          : new Set(found.flatMap((ids) => (ids === "all" ? [] : Array.from(ids))))
        return Effect.catchAll(reload(rows), (error) =>
          Effect.logError(`Changed configuration could not be read: ${error.message}`)
        )
      },
      { discard: true }
    )
  }

  /** Reads everything again: which changes there were is not known. */
  reloadAll(): Effect.Effect<void> {
    const everything = new Map<string, ChangedRows>()
    for (const { tables } of this.#holders) for (const table of tables) everything.set(table, "all")
    for (const table of this.#tables.keys()) everything.set(table, "all")
    return this.reload(everything)
  }
}
