/** Facts about a server of Postgres that decide whether the gateway can use it: its version, and what stands between. */
import type { Connection } from "@effect/sql/SqlConnection"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { StoreError } from "../../Errors.ts"

/** Oldest version of the server that works. */
export const leastVersion = 15

export interface ServerFacts {
  /** The major version. */
  readonly version: number
  /** True behind a pooler that gives each transaction another connection: locks, LISTEN and settings of a session are lost there, and nothing says so. */
  readonly isPooledByTransaction: boolean
  /** The role may make tables in the schema. */
  readonly mayCreate: boolean
  /** The schema that tables are in; null: there is none of the search path. */
  readonly schema: string | null
}

const pidOf = (connection: Connection): Effect.Effect<number, SqlError> =>
  Effect.map(connection.execute("SELECT pg_backend_pid() AS pid", [], undefined), ([row]) =>
    Number((row as { readonly pid: number } | undefined)?.pid)
  )

/**
 * Two connections of ours are two processes of the server, and each stays the same. A pooler by transaction gives the process of the one that has
 * nothing to do to the other.
 */
const isPooled = (sql: SqlClient.SqlClient): Effect.Effect<boolean, SqlError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const [one, other] = yield* Effect.all([sql.reserve, sql.reserve])
      const before = yield* pidOf(one)
      yield* other.executeUnprepared("BEGIN", [], undefined)
      const within = yield* pidOf(other)
      const after = yield* pidOf(one)
      yield* other.executeUnprepared("ROLLBACK", [], undefined)
      return within === before || after !== before
    })
  )

export const factsOf = (sql: SqlClient.SqlClient): Effect.Effect<ServerFacts, SqlError> =>
  Effect.gen(function* () {
    const [row] = yield* sql.unsafe<{
      readonly number: number
      readonly schema: string | null
      readonly may: number | null
    }>(
      `SELECT CAST(current_setting('server_version_num') AS BIGINT) AS number, current_schema() AS schema,
        has_schema_privilege(current_schema(), 'CREATE') AS may`
    )
    return {
      version: Math.floor((row?.number ?? 0) / 10_000),
      isPooledByTransaction: yield* isPooled(sql),
      mayCreate: row?.may === 1,
      schema: row?.schema ?? null
    }
  })

/** Finds what keeps the gateway from a server, as a sentence without its end; null: nothing. Pure. */
export const problemOf = ({ isPooledByTransaction, mayCreate, schema, version }: ServerFacts): string | null => {
  if (version < leastVersion) return `the server is Postgres ${version}, and ${leastVersion} is the oldest that works`
  if (isPooledByTransaction) {
    return "it is a pooler in transaction mode, behind which locks and LISTEN of a session are lost; give the address of the server itself, or a pool in session mode"
  }
  if (schema === null) return "none of the schemas in the role's search path exists"
  return mayCreate ? null : `the role may not make tables in the schema '${schema}'; grant it CREATE there`
}

export const refuseUnusable = (sql: SqlClient.SqlClient, address: string): Effect.Effect<void, SqlError | StoreError> =>
  Effect.flatMap(factsOf(sql), (facts) => {
    const problem = problemOf(facts)
    return problem === null
      ? Effect.void
      : new StoreError({ operation: `Opening ${address}`, cause: new Error(problem) })
  })
