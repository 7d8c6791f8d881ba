/**
 * The client of a database of Postgres: the pool of the driver, with statements and values as the repositories know them. A transaction is
 * SERIALIZABLE and done again when another was in its way, so that what is read, checked and written holds as over SQLite, which has one
 * writer at a time. Its effect may therefore run more than once.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import * as Statement from "@effect/sql/Statement"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { camelToSnake, snakeToCamel } from "effect/String"
import { register } from "../Engine.ts"
import { addressIn, mayBeRetried, told } from "./Failures.ts"
import { forPostgres, storable } from "./Statements.ts"
import { types } from "./Types.ts"

export interface PostgresOptions {
  readonly url: Redacted.Redacted
  readonly maxConnections: number
  /** Time in ms after which a connection that is not made has failed. */
  readonly connectTimeoutMs: number
}

export const usualOptions = { maxConnections: 10, connectTimeoutMs: 5_000 }

/** Transactions that were in each other's way are done again after pauses that differ: first of about 2 ms, the longest of 100. */
const again = Schedule.exponential("2 millis", 1.6).pipe(
  Schedule.jittered,
  Schedule.either(Schedule.spaced("100 millis")),
  Schedule.intersect(Schedule.recurs(40))
)

/** Does it again when another transaction was in its way. */
export const untilSerialized = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(effect, { schedule: again, while: mayBeRetried })

const adapted = (connection: Connection, address: string): Connection => {
  const named = Effect.mapError(told(address))
  return {
    executeStream: (sql, params, transform) =>
      connection.executeStream(forPostgres(sql), params.map(storable), transform),
    execute: (sql, params, transform) => named(connection.execute(forPostgres(sql), params.map(storable), transform)),
    executeRaw: (sql, params) => named(connection.executeRaw(forPostgres(sql), params.map(storable))),
    executeValues: (sql, params) => named(connection.executeValues(forPostgres(sql), params.map(storable))),
    executeUnprepared: (sql, params, transform) =>
      named(connection.executeUnprepared(forPostgres(sql), params.map(storable), transform))
  }
}

type Reserve = Effect.Effect<Connection, SqlError, Scope.Scope>

const statement = (connection: Connection, text: string): Effect.Effect<void, SqlError> =>
  Effect.asVoid(connection.executeUnprepared(text, [], undefined))

/** A failure of COMMIT is one of the transaction, not a defect as in the library: there most conflicts are found. */
const outermost =
  (reserve: Reserve, begin: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    Effect.uninterruptibleMask(
      (restore) =>
        Effect.scoped(
          Effect.gen(function* () {
            const connection = yield* reserve
            yield* statement(connection, begin)
            const exit = yield* Effect.exit(
              restore(Effect.provideService(effect, SqlClient.TransactionConnection, [connection, 0] as const))
            )
            if (Exit.isSuccess(exit)) yield* statement(connection, "COMMIT")
            else yield* Effect.ignore(statement(connection, "ROLLBACK"))
            return yield* exit
          })
        ) as Effect.Effect<A, E | SqlError, R>
    )

/** A transaction within another is a savepoint. */
const within = SqlClient.makeWithTransaction({
  transactionTag: SqlClient.TransactionConnection,
  spanAttributes: [["db.system.name", "postgresql"]],
  acquireConnection: Effect.dieMessage("A savepoint without a transaction") as Effect.Effect<never, SqlError>,
  begin: () => Effect.void,
  savepoint: (connection, id) => statement(connection, `SAVEPOINT effect_sql_${id}`),
  commit: (connection) => statement(connection, "COMMIT"),
  rollback: (connection) => statement(connection, "ROLLBACK"),
  rollbackSavepoint: (connection, id) => statement(connection, `ROLLBACK TO SAVEPOINT effect_sql_${id}`)
})

const withTransaction = (reserve: Reserve): SqlClient.SqlClient["withTransaction"] => {
  const begun = outermost(reserve, "BEGIN ISOLATION LEVEL SERIALIZABLE")
  return (effect) =>
    Effect.flatMap(Effect.serviceOption(SqlClient.TransactionConnection), (outer) =>
      outer._tag === "Some" ? within(effect) : untilSerialized(begun(effect))
    )
}

const reserves = new WeakMap<SqlClient.SqlClient, Reserve>()

const begunBy =
  (begin: string) =>
  <A, E, R>(sql: SqlClient.SqlClient, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> => {
    const reserve = reserves.get(sql)
    return reserve === undefined ? Effect.dieMessage("Not a client of Postgres") : outermost(reserve, begin)(effect)
  }

/** Several reads of one moment. Statements in it must not write. */
export const withSnapshot = begunBy("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

/** A transaction whose statements each see what is committed by then: after a wait for a lock, what its holder has written. */
export const withPlainTransaction = begunBy("BEGIN ISOLATION LEVEL READ COMMITTED")

/**
 * As `withPlainTransaction`, for rows that all nodes wait for: a process that is stopped in the middle of it loses its connection after 2 s, and a
 * statement that waits for 5 s fails.
 */
export const withBriefTransaction = begunBy(
  "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = 2000; SET LOCAL statement_timeout = 5000"
)

/** Connects for the life of the scope. A server that is not there fails with a `DatabaseUnreachable` as the cause. */
export const connect = (options: PostgresOptions): Effect.Effect<SqlClient.SqlClient, SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    const address = addressIn(options.url)
    const driver = yield* PgClient.make({
      url: options.url,
      maxConnections: options.maxConnections,
      connectTimeout: options.connectTimeoutMs,
      applicationName: "gateway",
      types
    }).pipe(Effect.mapError(told(address)))
    const reserve: Reserve = Effect.map(Effect.mapError(driver.reserve, told(address)), (connection) =>
      adapted(connection, address)
    )
    const client = yield* SqlClient.make({
      acquirer: reserve,
      transactionAcquirer: reserve,
      compiler: PgClient.makeCompiler(camelToSnake),
      spanAttributes: [["db.system.name", "postgresql"]],
      transformRows: Statement.defaultTransforms(snakeToCamel).array
    })
    const made: SqlClient.SqlClient = Object.assign(client, { withTransaction: withTransaction(reserve) })
    reserves.set(made, reserve)
    register(made, {
      withSnapshot: (reads) => withSnapshot(made, reads),
      onConnection: (use) => untilSerialized(Effect.scoped(Effect.flatMap(reserve, use)))
    })
    return made
  }).pipe(Effect.provide(Reactivity.layer))
