/** Compares the objects of a database with those that the gateway's own migrations make. Pure, except for making these. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { migrations, type Migrations } from "../migrations/index.ts"
import * as Sql from "../Sql.ts"

/** A table, index, view or trigger. `sql` is null for indexes that SQLite makes by itself. */
export interface SchemaObject {
  readonly type: string
  readonly name: string
  readonly tableName: string
  readonly sql: string | null
}

/** Selects the migrations up to a version. */
const upTo = (version: number): Migrations =>
  Object.fromEntries(Object.entries(migrations).filter(([name]) => Number.parseInt(name, 10) <= version))

/** The objects of a gateway's database of this schema version. */
export const objectsOf = (version: number): Effect.Effect<ReadonlyArray<SchemaObject>> =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql<SchemaObject>`SELECT type, name, tbl_name AS table_name, sql FROM sqlite_schema WHERE name NOT LIKE ${"sqlite\\_%"} ESCAPE ${"\\"}`
  ).pipe(Effect.provide(Sql.layerMemoryOf(upTo(version))), Effect.orDie)

const plain = (sql: string | null): string => (sql ?? "").replaceAll(/\s+/g, " ").trim()

const quoted = (name: string): string => `'${name.slice(0, 100)}'`

/**
 * The first difference in words; null when there is none. Every object counts: a trigger or view that a file brings with it would run with
 * the gateway's own statements.
 */
export const differenceOf = (
  found: ReadonlyArray<SchemaObject>,
  expected: ReadonlyArray<SchemaObject>
): string | null => {
  const byName = new Map(expected.map((object) => [object.name, object]))
  for (const { name, sql, tableName, type } of found) {
    const known = byName.get(name)
    if (known === undefined) return `it has the ${type.slice(0, 20)} ${quoted(name)}, which no gateway makes`
    byName.delete(name)
    if (known.type !== type || known.tableName !== tableName || plain(known.sql) !== plain(sql)) {
      return `its ${type.slice(0, 20)} ${quoted(name)} is not as a gateway makes it`
    }
  }
  const [missing] = byName.values()
  return missing === undefined ? null : `it lacks the ${missing.type} ${quoted(missing.name)}`
}
