/** Looks at a database of Postgres without changing it: what `gateway doctor` says of it, and what a copy finds there. */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { DatabaseUnreachable, reasonOf, type StoreFailure, StoreError } from "../Errors.ts"
import { factsOf, problemOf, type ServerFacts } from "../engine/postgres/Checks.ts"
import { connect, usualOptions } from "../engine/postgres/Client.ts"
import { addressIn } from "../engine/postgres/Failures.ts"
import { mayBegin } from "../engine/Transfer.ts"

export interface ServerState {
  /** Host, port and name of the database. */
  readonly address: string
  readonly facts: ServerFacts
  /** Reason for which the gateway cannot use it, as a sentence without its end; null: none. */
  readonly problem: string | null
  /** 0: the schema has no tables of a gateway. */
  readonly schemaVersion: number
  /** True where a copy may be brought to it: it is empty, or a copy is on its way. */
  readonly takesCopy: boolean
  /** The middle one of some round trips, in ms. */
  readonly roundTripMs: number
  /** Gateways that were seen on it in the last 20 s. */
  readonly running: number
}

const roundTrips = 7

const roundTrip = (sql: SqlClient.SqlClient): Effect.Effect<number, SqlError> =>
  Effect.gen(function* () {
    const began = yield* Clock.currentTimeNanos
    yield* sql.unsafe("SELECT 1 AS one")
    return Number((yield* Clock.currentTimeNanos) - began) / 1e6
  })

const versionOf = (sql: SqlClient.SqlClient): Effect.Effect<number, SqlError> =>
  Effect.gen(function* () {
    const [found] = yield* sql.unsafe<{ readonly name: string | null }>(
      "SELECT CAST(to_regclass('schema_migrations') AS TEXT) AS name"
    )
    if (found === undefined || found.name === null) return 0
    const [row] = yield* sql.unsafe<{ readonly version: number | null }>(
      "SELECT MAX(migration_id) AS version FROM schema_migrations"
    )
    return row?.version ?? 0
  })

/** Counts gateways that run. */
const runningOf = (sql: SqlClient.SqlClient): Effect.Effect<number, SqlError> =>
  Effect.gen(function* () {
    const [found] = yield* sql.unsafe<{ readonly name: string | null }>(
      "SELECT CAST(to_regclass('cluster_nodes') AS TEXT) AS name"
    )
    if (found === undefined || found.name === null) return 0
    const [row] = yield* sql.unsafe<{ readonly count: number }>(
      "SELECT COUNT(*) AS count FROM cluster_nodes WHERE seen_at_ms > EXTRACT(EPOCH FROM clock_timestamp()) * 1000 - 20000"
    )
    return Number(row?.count ?? 0)
  })

/** Maps an error of the driver to a failure of the store. */
export const failureOf =
  (address: string) =>
  (error: SqlError): StoreFailure =>
    error.cause instanceof DatabaseUnreachable
      ? error.cause
      : new StoreError({ operation: `Opening ${address}`, cause: new Error(reasonOf(error)) })

export const inspectServer = (url: Redacted.Redacted): Effect.Effect<ServerState, StoreFailure> => {
  const address = addressIn(url)
  return Effect.gen(function* () {
    const sql = yield* connect({ ...usualOptions, url, maxConnections: 2 })
    const facts = yield* factsOf(sql)
    const schemaVersion = facts.schema === null ? 0 : yield* versionOf(sql)
    const times = yield* Effect.forEach(Array.from({ length: roundTrips }), () => roundTrip(sql))
    return {
      address,
      facts,
      problem: problemOf(facts),
      schemaVersion,
      takesCopy: schemaVersion === 0 || (yield* mayBegin(sql)),
      roundTripMs: times.toSorted((one, other) => one - other)[Math.floor(roundTrips / 2)] ?? 0,
      running: facts.schema === null ? 0 : yield* runningOf(sql)
    }
  }).pipe(Effect.scoped, Effect.mapError(failureOf(address)))
}
