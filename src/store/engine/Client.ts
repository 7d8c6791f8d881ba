/**
 * The client of the main database over the driver's connection: statements and transactions wait for another process that holds the
 * database without blocking the thread (`WriteQueue`). A transaction takes the write lock when it begins, because one that has begun to
 * read cannot wait for it any more.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import * as Statement from "@effect/sql/Statement"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { camelToSnake, snakeToCamel } from "effect/String"
import { type Lane, makeLane } from "../../kernel/Lane.ts"
import { engineOf } from "./Engine.ts"
import * as WriteQueue from "./WriteQueue.ts"

/**
 * Checks whether a statement only reads. A read that is not recognised waits behind writes, which is slower and not
 * wrong.
 */
export const isRead = (statement: string): boolean =>
  /^\s*(?:SELECT|PRAGMA|EXPLAIN)\b/i.test(statement) ||
  (/^\s*WITH\b/i.test(statement) && !/\b(?:INSERT|UPDATE|DELETE|REPLACE)\b/i.test(statement))

/** The driver prepares a statement that is not cached before the effect runs; a locked schema would be a defect. */
const unprepared =
  (connection: Connection): Connection["executeUnprepared"] =>
  (sql, params, transform) =>
    Effect.suspend(() => {
      try {
        return connection.executeUnprepared(sql, params, transform)
      } catch (cause) {
        return Effect.fail(new SqlError({ cause, message: "Failed to prepare statement" }))
      }
    })

/** The connection as it is used outside of transactions. */
const waiting = (connection: Connection, queue: WriteQueue.WriteQueue, idle: Lane): Connection => {
  const guarded = <A>(sql: string, run: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    queue.isWaiting() && !isRead(sql)
      ? queue.wait(idle.inTurn(run))
      : Effect.catchAll(run, (error) => (WriteQueue.isBusy(error) ? queue.wait(idle.inTurn(run)) : Effect.fail(error)))
  const executeUnprepared = unprepared(connection)
  return {
    ...connection,
    execute: (sql, params, transform) => guarded(sql, connection.execute(sql, params, transform)),
    executeRaw: (sql, params) => guarded(sql, connection.executeRaw(sql, params)),
    executeValues: (sql, params) => guarded(sql, connection.executeValues(sql, params)),
    executeUnprepared: (sql, params, transform) => guarded(sql, executeUnprepared(sql, params, transform))
  }
}

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const statement = (connection: Connection, sql: string): Effect.Effect<void, SqlError> =>
  Effect.asVoid(connection.executeUnprepared(sql, [], undefined))

/** A transaction of the client, or a savepoint within one; `acquire` gives a connection and the scope that gives it back. */
const transaction = (
  acquire: Effect.Effect<readonly [Scope.CloseableScope, Connection], SqlError>,
  begin: (connection: Connection) => Effect.Effect<void, SqlError>
) =>
  SqlClient.makeWithTransaction({
    transactionTag: SqlClient.TransactionConnection,
    spanAttributes: [["db.system.name", "sqlite"]],
    acquireConnection: acquire,
    begin,
    savepoint: (connection, id) => statement(connection, `SAVEPOINT effect_sql_${id}`),
    commit: (connection) => statement(connection, "COMMIT"),
    rollback: (connection) => statement(connection, "ROLLBACK"),
    rollbackSavepoint: (connection, id) => statement(connection, `ROLLBACK TO SAVEPOINT effect_sql_${id}`)
  })

/**
 * Several reads of one moment. It takes no write lock, so that it does not wait for another process. Statements in it must not write.
 */
export const withSnapshot = <A, E, R>(
  sql: SqlClient.SqlClient,
  reads: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError, R> => {
  const other = engineOf(sql)
  if (other !== undefined) return other.withSnapshot(reads)
  const acquire = Effect.flatMap(Scope.make(), (scope) =>
    Effect.map(Scope.extend(sql.reserve, scope), (connection) => [scope, connection] as const)
  )
  return transaction(acquire, (connection) => statement(connection, "BEGIN"))(reads)
}

const withTransaction = (
  connection: Connection,
  queue: WriteQueue.WriteQueue,
  idle: Lane
): SqlClient.SqlClient["withTransaction"] => {
  /** Leaves the connection free when it finds the database locked: reads go on. */
  const tryToBegin = (restore: Restore) =>
    Effect.flatMap(idle.taken(restore), (free) =>
      Effect.as(
        Effect.tapErrorCause(statement(connection, "BEGIN IMMEDIATE"), () => free),
        free
      )
    )
  const begun = (restore: Restore) =>
    Effect.suspend(() => {
      const attempt = Effect.uninterruptible(tryToBegin(restore))
      const begin = queue.isWaiting()
        ? restore(queue.wait(attempt))
        : Effect.catchAll(attempt, (error) =>
            WriteQueue.isBusy(error) ? restore(queue.wait(attempt)) : Effect.fail(error)
          )
      return Effect.gen(function* () {
        const free = yield* begin
        const scope = yield* Scope.make()
        yield* Scope.addFinalizer(scope, free)
        return [scope, connection] as const
      })
    })
  return (effect) =>
    Effect.uninterruptibleMask((restore) => transaction(begun(restore), () => Effect.void)(restore(effect)))
}

const queues = new WeakMap<SqlClient.SqlClient, WriteQueue.WriteQueue>()

/** The stop of the service as the writes of a client see it. */
export const closingOf = (sql: SqlClient.SqlClient): WriteQueue.Closing | undefined => queues.get(sql)?.closing

/**
 * The stop of the service begins, and lets requests finish for so long. From then on writes wait for another process for some seconds
 * together, not each for its own bound.
 */
export const closing = (drainMs: number): Effect.Effect<void, never, SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => queues.get(sql)?.close(drainMs) ?? Effect.void)

/** The same when the layer closes. It belongs right below what ends the requests in progress. */
export const closingLayer: Layer.Layer<never, never, SqlClient.SqlClient> = Layer.scopedDiscard(
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.addFinalizer(() => Effect.provideService(closing(0), SqlClient.SqlClient, sql))
  )
)

const adapt = (driver: SqliteClient.SqliteClient): Effect.Effect<SqliteClient.SqliteClient, SqlError> =>
  Effect.gen(function* () {
    const taken = yield* Effect.scoped(driver.reserve)
    const connection: Connection = { ...taken, executeUnprepared: unprepared(taken) }
    const idle = makeLane(1)
    const queue = WriteQueue.make()
    const outside = waiting(connection, queue, idle)
    const now = Effect.succeed(outside)
    const client = yield* SqlClient.make({
      acquirer: Effect.suspend(() => (idle.isFree() ? now : idle.inTurn(now))),
      transactionAcquirer: Effect.uninterruptibleMask((restore) =>
        Effect.as(
          Effect.flatMap(idle.taken(restore), (free) =>
            Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizer(scope, free))
          ),
          connection
        )
      ),
      compiler: Statement.makeCompilerSqlite(camelToSnake),
      spanAttributes: [["db.system.name", "sqlite"]],
      transformRows: Statement.defaultTransforms(snakeToCamel).array
    })
    const adapted = Object.assign(client as SqliteClient.SqliteClient, {
      [SqliteClient.TypeId]: SqliteClient.TypeId as SqliteClient.TypeId,
      config: driver.config,
      export: driver.export,
      backup: driver.backup,
      loadExtension: driver.loadExtension,
      withTransaction: withTransaction(connection, queue, idle)
    })
    queues.set(adapted, queue)
    return adapted
  }).pipe(Effect.provide(Reactivity.layer))

/**
 * Opens a database for the life of the scope: a file, or a copy in memory of one that is given as bytes. A file that cannot be opened is a
 * defect with the driver's error.
 */
export const connect = (database: string | Uint8Array): Effect.Effect<SqliteClient.SqliteClient, never, Scope.Scope> =>
  SqliteClient.make({
    // The driver below takes bytes as well, which the type of this one does not say.
    filename: database as string,
    transformQueryNames: camelToSnake,
    transformResultNames: snakeToCamel
  }).pipe(Effect.flatMap(adapt), Effect.orDie, Effect.provide(Reactivity.layer))
