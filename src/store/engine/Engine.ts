/**
 * Gives what each engine does in a way of its own, where SQL has no common word for it. A client of SQLite has none of its own here: `Client` and `LateSync` know it. The driver
 * of the other is loaded by the module that connects it, and by no other.
 */
import type { Connection } from "@effect/sql/SqlConnection"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import type * as Effect from "effect/Effect"

export interface Engine {
  /** Several reads of one moment. */
  readonly withSnapshot: <A, E, R>(reads: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError, R>
  /** Runs `use` on one connection; from the beginning again where another transaction was in its way. */
  readonly onConnection: <A, E>(use: (connection: Connection) => Effect.Effect<A, E>) => Effect.Effect<A, E | SqlError>
}

const engines = new WeakMap<SqlClient.SqlClient, Engine>()

export const register = (sql: SqlClient.SqlClient, engine: Engine): void => void engines.set(sql, engine)

/** Undefined for a client of SQLite. */
export const engineOf = (sql: SqlClient.SqlClient): Engine | undefined => engines.get(sql)

export const isPostgres = (sql: SqlClient.SqlClient): boolean =>
  sql.onDialectOrElse({ pg: () => true, orElse: () => false })

/** Picks the one of two things that is meant for the client's engine. */
export const byEngine = <A>(
  sql: SqlClient.SqlClient,
  { postgres, sqlite }: { readonly sqlite: A; readonly postgres: A }
): A => (isPostgres(sql) ? postgres : sqlite)

/** Selection of the elements of a list, for `IN`: one parameter, however many there are. */
export const listed = (sql: SqlClient.SqlClient, values: ReadonlyArray<string>): Fragment =>
  sql`SELECT value FROM json_each(${JSON.stringify(values)})`
