/**
 * The repository of records with an id: `list`, `get`, `insert`, `update` and `remove`, over a table and what differs between its rows and the
 * records. Encrypted columns are opened and sealed here.
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { AlreadyStored, StoreError } from "../Errors.ts"
import type { Column } from "./Columns.ts"
import type { WatchedTable } from "../Snapshots.ts"
import * as RememberedRows from "./RememberedRows.ts"
import * as Table from "./Table.ts"

interface WithId {
  readonly id: string
}

export interface Records<Stored, Written> {
  readonly list: Effect.Effect<ReadonlyArray<Stored>, StoreError>
  readonly get: (id: string) => Effect.Effect<Stored | null, StoreError>
  readonly insert: (record: Written) => Effect.Effect<void, StoreError | AlreadyStored>
  /** Replaces the record; false when there is no such id. */
  readonly update: (record: Written) => Effect.Effect<boolean, StoreError | AlreadyStored>
  readonly remove: (id: string) => Effect.Effect<boolean, StoreError>
}

export interface Mapping<Row, Stored, Written> {
  readonly read: (row: Row) => Stored
  /** `before` is the stored row that is replaced; null: there is none. */
  readonly write: (record: Written, before: Row | null) => Row
  /** The row does not depend on the one before. */
  readonly isPlain?: boolean
}

interface Options<Row, I, Stored> {
  /** Name of the repository, for spans and failures. */
  readonly name: string
  readonly table: string
  readonly row: Schema.Schema<Row, I>
  /** Order of the list; absent: the oldest first. */
  readonly order?: Fragment
  /** Keeps the listed records until one is written; the order is that of the list. */
  readonly remembered?: (one: Stored, other: Stored) => number
}

/** Makes the repository of records that are rows of another shape. */
export const mapped = <
  Row extends WithId,
  I extends Readonly<Record<string, Column>>,
  Stored extends WithId,
  Written extends WithId
>(
  sql: SqlClient.SqlClient,
  { name, order = sql`ORDER BY created_at_ms, id`, remembered, row, table: tableName }: Options<Row, I, Stored>,
  { isPlain = false, read, write }: Mapping<Row, Stored, Written>
): Records<Stored, Written> => {
  const table = Table.make(sql, tableName, row)
  const rowOf = (operation: string, id: string) => table.first(operation, sql`WHERE id = ${id}`)

  const all = Effect.map(table.select(`${name}.list`, order), (rows) => rows.map(read))
  const get = Effect.fn(`${name}.get`)((id: string) =>
    Effect.map(rowOf(`${name}.get`, id), (found) => (found === null ? null : read(found)))
  )
  const rows =
    remembered === undefined
      ? {
          list: all,
          writing:
            () =>
            <A, E>(work: Effect.Effect<A, E>) =>
              work
        }
      : RememberedRows.make({
          keyOf: (record: Stored) => record.id,
          all,
          one: get,
          order: remembered,
          watched: { table: tableName as WatchedTable, isKeyed: true }
        })

  const replace = (record: Written, before: Row | null) =>
    table.update(`${name}.update`, sql`id = ${record.id}`, write(record, before))

  return {
    list: Effect.withSpan(rows.list, `${name}.list`),
    get,
    insert: Effect.fn(`${name}.insert`)((record: Written) =>
      rows.writing(record.id)(Effect.suspend(() => table.insert(`${name}.insert`, write(record, null))))
    ),
    update: Effect.fn(`${name}.update`)((record: Written) =>
      rows.writing(record.id)(
        isPlain
          ? replace(record, null)
          : Effect.flatMap(rowOf(`${name}.update`, record.id), (before) =>
              before === null ? Effect.succeed(false) : replace(record, before)
            )
      )
    ),
    remove: Effect.fn(`${name}.remove`)((id: string) =>
      rows.writing(id)(table.remove(`${name}.remove`, sql`id = ${id}`))
    )
  }
}

/** Makes the repository of records that are their rows. */
export const make = <Row extends WithId, I extends Readonly<Record<string, Column>>>(
  sql: SqlClient.SqlClient,
  options: Options<Row, I, Row>
): Records<Row, Row> =>
  mapped<Row, I, Row, Row>(sql, options, { read: (row) => row, write: (record) => record, isPlain: true })

/** An encrypted column, as `sealedColumn` makes one. */
interface Sealable<A> {
  readonly open: (rowId: string, text: string | null) => { readonly value: A | null; readonly locked: boolean }
  readonly reseal: (rowId: string, value: A | null, stored: string | null) => string | null
}

/** A row with its encrypted columns opened; those that cannot be are null, and `locked` is true. */
export type Unsealed<Row, Values> = Omit<Row, keyof Values> & {
  readonly [Name in keyof Values]: Values[Name] | null
} & { readonly locked: boolean }

/** Opens the encrypted columns of a row, and seals them: what was locked and is not given stays as it is stored. */
export const sealed = <Row extends WithId, I, Values extends Readonly<Record<string, unknown>>>(
  _row: Schema.Schema<Row, I>,
  columns: { readonly [Name in keyof Values]: Sealable<Values[Name]> }
) => {
  const names = Object.keys(columns)
  // Each column is used with its own value only.
  const columnOf = (name: string) => columns[name] as unknown as Sealable<unknown>
  const textIn = (row: Row | null, name: string) =>
    row === null ? null : (row as unknown as Readonly<Record<string, string | null>>)[name]
  return {
    read: (row: Row): Unsealed<Row, Values> => {
      const opened = names.map((name) => [name, columnOf(name).open(row.id, textIn(row, name) ?? null)] as const)
      const values = Object.fromEntries(opened.map(([name, { value }]) => [name, value]))
      return { ...row, ...values, locked: opened.some(([, { locked }]) => locked) } as unknown as Unsealed<Row, Values>
    },
    write: (record: Omit<Unsealed<Row, Values>, "locked"> & WithId, before: Row | null): Row => {
      const values = record as unknown as Readonly<Record<string, unknown>>
      const texts = names.map((name) => [
        name,
        columnOf(name).reseal(record.id, values[name] ?? null, textIn(before, name) ?? null)
      ])
      return { ...record, ...Object.fromEntries(texts) } as unknown as Row
    }
  }
}
