/**
 * Copies all rows of one store into an empty one of the other engine, table by table in the order of their keys. A copy that was cut off goes on behind
 * the last row that arrived. Counts and checksums of both sides are compared at the end. No gateway runs on either of them meanwhile.
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { isPostgres } from "./Engine.ts"

/** The target has rows that no copy has brought, or other ones than the source in the end. */
export class TransferRefused extends Data.TaggedError("TransferRefused")<{ readonly message: string }> {}

interface TableShape {
  readonly name: string
  readonly columns: ReadonlyArray<string>
  /** Columns of the primary key. */
  readonly key: ReadonlyArray<string>
}

export interface TableCopied {
  readonly table: string
  readonly rows: number
  /** SHA-256 of the rows in the order of their keys, hex. */
  readonly checksum: string
}

type Value = string | number | null
type Row = Readonly<Record<string, Value>>

/** Rows of one statement; their values stay below the number of parameters that SQLite takes. */
const rowsOfPart = 400

/** Row of `meta` in a target while a copy is on its way. */
const marker = "transfer"

/**
 * The index of the search is made anew by the gateway, which finds that it is empty; changes of the configuration are written by triggers; the
 * limits of a cluster are made from the usage log where they have no rows.
 */
const isLeftOut = (name: string): boolean =>
  /^(?:sqlite_|memory_index|schema_migrations$|config_changes$|cluster_(?:nodes|claims|told)$|limit_(?:windows|holders|leases|sessions)$)/.test(
    name
  )

/** Tables by the catalogue of SQLite; those that others refer to come first. */
const shapesOf = (sqlite: SqlClient.SqlClient): Effect.Effect<ReadonlyArray<TableShape>, SqlError> =>
  Effect.map(
    sqlite.unsafe<{ readonly name: string; readonly column: string; readonly pk: number }>(
      `SELECT t.name AS name, c.name AS column, c.pk AS pk FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
        WHERE t.type = 'table' ORDER BY t.name = 'inspector_records', t.name, c.cid`
    ).withoutTransform,
    (rows) => {
      const byName = new Map<string, Array<{ readonly column: string; readonly pk: number }>>()
      for (const row of rows) byName.set(row.name, [...(byName.get(row.name) ?? []), row])
      return Array.from(byName, ([name, columns]) => ({
        name,
        columns: columns.map(({ column }) => column),
        key: columns
          .filter(({ pk }) => pk > 0)
          .toSorted((one, other) => one.pk - other.pk)
          .map(({ column }) => column)
      })).filter(({ name }) => !isLeftOut(name))
    }
  )

const placesOf = (count: number): string => `(${Array.from({ length: count }, () => "?").join(", ")})`

const rowsAfter = (
  sql: SqlClient.SqlClient,
  { columns, key, name }: TableShape,
  after: ReadonlyArray<Value> | null
): Effect.Effect<ReadonlyArray<Row>, SqlError> => {
  const behind = after === null ? "" : `WHERE (${key.join(", ")}) > ${placesOf(key.length)}`
  return sql.unsafe<Row>(
    `SELECT ${columns.join(", ")} FROM ${name} ${behind} ORDER BY ${key.join(", ")} LIMIT ${rowsOfPart}`,
    after ?? []
  ).withoutTransform
}

const keyOf = ({ key }: TableShape, row: Row): ReadonlyArray<Value> => key.map((column) => row[column] ?? null)

const lastKey = (sql: SqlClient.SqlClient, shape: TableShape): Effect.Effect<ReadonlyArray<Value> | null, SqlError> =>
  Effect.map(
    sql.unsafe<Row>(
      `SELECT ${shape.key.join(", ")} FROM ${shape.name} ORDER BY ${shape.key.map((column) => `${column} DESC`).join(", ")} LIMIT 1`
    ).withoutTransform,
    ([row]) => (row === undefined ? null : keyOf(shape, row))
  )

/** Calls `use` with all rows from a key on, in parts. */
const eachPart = <E>(
  sql: SqlClient.SqlClient,
  shape: TableShape,
  from: ReadonlyArray<Value> | null,
  use: (rows: ReadonlyArray<Row>) => Effect.Effect<unknown, E>
): Effect.Effect<void, SqlError | E> =>
  Effect.gen(function* () {
    let after = from
    for (;;) {
      const rows = yield* rowsAfter(sql, shape, after)
      const last = rows.at(-1)
      if (last === undefined) return
      yield* use(rows)
      if (rows.length < rowsOfPart) return
      after = keyOf(shape, last)
    }
  })

const write = (to: SqlClient.SqlClient, { columns, key, name }: TableShape) => {
  const others = columns.filter((column) => !key.includes(column))
  // Rows that a new store begins with are those of the source afterwards.
  const sets = others.map((column) => `${column} = excluded.${column}`).join(", ")
  const known = `ON CONFLICT (${key.join(", ")}) DO ${others.length === 0 ? "NOTHING" : `UPDATE SET ${sets}`}`
  return (rows: ReadonlyArray<Row>) =>
    to.unsafe(
      `INSERT INTO ${name} (${columns.join(", ")}) VALUES ${rows.map(() => placesOf(columns.length)).join(", ")} ${known}`,
      rows.flatMap((row) => columns.map((column) => row[column] ?? null))
    )
}

const sumOf = (sql: SqlClient.SqlClient, shape: TableShape): Effect.Effect<TableCopied, SqlError> =>
  Effect.gen(function* () {
    const hash = createHash("sha256")
    let rows = 0
    yield* eachPart(sql, shape, null, (part) =>
      Effect.sync(() => {
        rows += part.length
        for (const row of part) hash.update(JSON.stringify(shape.columns.map((column) => row[column])))
      })
    )
    return { table: shape.name, rows, checksum: hash.digest("hex") }
  })

/** Numbers that the engine gives go on behind those that were copied. */
const renumber = (to: SqlClient.SqlClient, { key, name }: TableShape): Effect.Effect<void, SqlError> =>
  Effect.gen(function* () {
    const [column] = key
    if (!isPostgres(to) || key.length !== 1 || column === undefined) return
    const [row] = yield* to<{
      readonly sequence: string | null
    }>`SELECT pg_get_serial_sequence(${name}, ${column}) AS sequence`
    if (row === undefined || row.sequence === null) return
    yield* to.unsafe(`SELECT setval('${row.sequence}', MAX(${column})) FROM ${name} HAVING COUNT(*) > 0`)
  })

/** Tells whether the target is new, or a copy is on its way to it. */
export const mayBegin = (to: SqlClient.SqlClient): Effect.Effect<boolean, SqlError> =>
  Effect.map(
    to.unsafe<{ readonly marked: number; readonly used: number }>(
      `SELECT (SELECT COUNT(*) FROM meta WHERE key = '${marker}') AS marked,
        (SELECT COUNT(*) FROM meta) + (SELECT COUNT(*) FROM settings) + (SELECT COUNT(*) FROM api_keys) + (SELECT COUNT(*) FROM usage_log) AS used`
    ),
    ([row]) => row !== undefined && (row.marked > 0 || row.used === 0)
  )

/** Counts the rows of a store and their checksums, table by table. */
export const summary = (
  sql: SqlClient.SqlClient,
  sqlite: SqlClient.SqlClient
): Effect.Effect<ReadonlyArray<TableCopied>, SqlError> =>
  Effect.flatMap(shapesOf(sqlite), (shapes) =>
    Effect.map(
      Effect.forEach(shapes, (shape) => sumOf(sql, shape)),
      (all) => all.filter(({ rows }) => rows > 0)
    )
  )

/** Copies, or goes on with a copy; `copied` hears of each table that is whole. One of the two is SQLite. */
export const transfer = Effect.fn("Transfer.transfer")(function* (
  from: SqlClient.SqlClient,
  to: SqlClient.SqlClient,
  copied: (table: TableCopied) => Effect.Effect<void>
) {
  if (!(yield* mayBegin(to))) {
    return yield* new TransferRefused({ message: "The target has rows already: begin with an empty database." })
  }
  yield* to`INSERT INTO meta (key, value) VALUES (${marker}, 'begun') ON CONFLICT (key) DO NOTHING`
  const shapes = yield* shapesOf(isPostgres(from) ? to : from)
  // The table with the marker is the last, so that a copy that is cut off is known as one.
  const ordered = [...shapes.filter(({ name }) => name !== "meta"), ...shapes.filter(({ name }) => name === "meta")]
  const different: Array<string> = []
  for (const shape of ordered) {
    if (shape.name === "meta") yield* to`DELETE FROM meta WHERE key <> ${marker}`
    const isFresh = shape.name === "meta" || shape.name.endsWith("_summed")
    yield* eachPart(from, shape, isFresh ? null : yield* lastKey(to, shape), write(to, shape))
    yield* renumber(to, shape)
    if (shape.name === "meta") yield* to`DELETE FROM meta WHERE key = ${marker}`
    const [source, target] = [yield* sumOf(from, shape), yield* sumOf(to, shape)]
    if (source.rows !== target.rows || source.checksum !== target.checksum) different.push(shape.name)
    else yield* copied(target)
  }
  if (different.length > 0) {
    return yield* new TransferRefused({
      message: `The copy is not the same as the source in ${different.join(", ")}: was a gateway running?`
    })
  }
})
