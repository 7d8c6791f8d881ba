/** Long reads over Postgres (`ReadWorker`): on connections of the pool, few at once, so that requests of the rest find one. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../../../kernel/Lane.ts"
import { reasonOf } from "../../Errors.ts"
import { type ReadLimits, ReadRefused, type ReadRow, ReadWorker, usualLimits } from "../ReadWorker.ts"
import { withSnapshot } from "./Client.ts"

/** Reads that run at once. */
const mostAtOnce = 2

export const makeWith = (
  sql: SqlClient.SqlClient,
  { maxRows, maxWaiting, timeoutMs }: Pick<ReadLimits, "maxRows" | "maxWaiting" | "timeoutMs">
): typeof ReadWorker.Service => {
  const lane = makeLane(mostAtOnce)
  const refused = (reason: ReadRefused["reason"], message: string) => new ReadRefused({ reason, message })
  const rowsOf = (text: string, parameters: ReadonlyArray<string | number | null>) =>
    sql.unsafe<ReadRow>(text, parameters).withoutTransform.pipe(
      Effect.filterOrFail(
        (rows) => rows.length <= maxRows,
        () => refused("failed", `The read has more than ${maxRows} rows.`)
      )
    )
  return ReadWorker.of({
    read: (statements) =>
      Effect.suspend(() => {
        if (lane.waiting() >= maxWaiting) {
          return Effect.fail(refused("busy", "Too many long reads are waiting; try again in a moment."))
        }
        const reading = withSnapshot(
          sql,
          Effect.forEach(statements, (each) => rowsOf(each.postgres ?? each.sql, each.parameters))
        ).pipe(
          Effect.timeoutFail({
            duration: timeoutMs,
            onTimeout: () => refused("timeout", `The read took longer than ${timeoutMs / 1000} seconds.`)
          }),
          Effect.mapError((error) => (error._tag === "SqlError" ? refused("failed", reasonOf(error)) : error))
        )
        return lane.inTurn(reading)
      })
  })
}

export const layer: Layer.Layer<ReadWorker, never, SqlClient.SqlClient> = Layer.effect(
  ReadWorker,
  Effect.map(SqlClient.SqlClient, (sql) => makeWith(sql, usualLimits))
)
