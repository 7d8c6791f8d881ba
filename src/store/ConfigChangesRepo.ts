/** Reads which rows of the configuration were changed (migration 51), by whatever process. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import type { StoreError } from "./Errors.ts"
import type { ChangedRows } from "./Snapshots.ts"
import * as Table from "./engine/Table.ts"

/** Changes since a place in the list. */
export interface ConfigChanges {
  /** The place to go on from. */
  readonly seq: number
  /** By table; null: more than is still kept. */
  readonly changes: ReadonlyMap<string, ChangedRows> | null
}

/** Rows named one by one; of more a table is read again as a whole. */
const mostNamed = 200

interface Row {
  readonly seq: number
  readonly name: string
  readonly id: string | null
}

/** Puts changes together. Pure. */
export const gathered = (rows: ReadonlyArray<Row>, since: number): ConfigChanges => {
  const [first] = rows
  const last = rows.at(-1)
  if (first === undefined || last === undefined) return { seq: since, changes: new Map() }
  if (first.seq > since + 1) return { seq: last.seq, changes: null }
  const changes = new Map<string, Set<string>>()
  const whole = new Set<string>()
  for (const { id, name } of rows) {
    const ids = changes.get(name) ?? new Set()
    changes.set(name, ids)
    if (id === null) whole.add(name)
    else ids.add(id)
  }
  return {
    seq: last.seq,
    changes: new Map([...changes].map(([name, ids]) => [name, whole.has(name) || ids.size > mostNamed ? "all" : ids]))
  }
}

export const make = Effect.map(SqlClient.SqlClient, (sql) => ({
  /** A number that is another one when another connection has changed the database. Costs no read of it. */
  dataVersion: sql.unsafe<{ readonly dataVersion: number }>("PRAGMA data_version").pipe(
    Effect.map(([row]) => row?.dataVersion ?? 0),
    Effect.mapError(Table.named("ConfigChangesRepo.dataVersion"))
  ) as Effect.Effect<number, StoreError>,
  last: sql<{ readonly seq: number | null }>`SELECT MAX(seq) AS seq FROM config_changes`.pipe(
    Effect.map(([row]) => row?.seq ?? 0),
    Effect.mapError(Table.named("ConfigChangesRepo.last"))
  ) as Effect.Effect<number, StoreError>,
  since: (seq: number): Effect.Effect<ConfigChanges, StoreError> =>
    sql<Row>`SELECT seq, name, id FROM config_changes WHERE seq > ${seq} ORDER BY seq`.pipe(
      Effect.map((rows) => gathered(rows, seq)),
      Effect.mapError(Table.named("ConfigChangesRepo.since"))
    )
}))
