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
  | `settings/${string}`

type Reload = (rows: ChangedRows) => Effect.Effect<void, StoreError>

interface Holder {
  readonly tables: ReadonlyArray<WatchedTable>
  readonly reload: Reload
}

export interface SnapshotsShape {
  /** Holders are read again in the order in which they have registered: what others are made of comes first. */
  readonly register: (tables: ReadonlyArray<WatchedTable>, reload: Reload) => Effect.Effect<void>
}

/** Holders are not called. */
const alone: SnapshotsShape = { register: () => Effect.void }

export class Snapshots extends Context.Reference<Snapshots>()("gateway/store/Snapshots", {
  defaultValue: () => alone
}) {}

/** Holders that are called with the changes of another process. */
export class SnapshotHolders implements SnapshotsShape {
  readonly #holders: Array<Holder> = []

  readonly register: SnapshotsShape["register"] = (tables, reload) =>
    Effect.sync(() => void this.#holders.push({ tables, reload }))

  /** Reads again what has changed; a holder that fails does not keep the others from it. */
  reload(changes: ReadonlyMap<string, ChangedRows>): Effect.Effect<void> {
    return Effect.forEach(
      this.#holders,
      ({ reload, tables }) => {
        const found = tables.flatMap((table) => changes.get(table) ?? [])
        if (found.length === 0) return Effect.void
        const rows: ChangedRows = found.includes("all")
          ? "all"
          : new Set(found.flatMap((ids) => (ids === "all" ? [] : [...ids])))
        return Effect.catchAll(reload(rows), (error) =>
          Effect.logError(`Changed configuration could not be read: ${error.message}`)
        )
      },
      { discard: true }
    )
  }

  /** Reads everything again: which changes there were is not known. */
  reloadAll(): Effect.Effect<void> {
    return this.reload(new Map(this.#holders.flatMap(({ tables }) => tables.map((table) => [table, "all"] as const))))
  }
}
