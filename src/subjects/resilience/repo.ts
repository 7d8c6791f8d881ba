/** Circuit breakers that are not simply closed. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { MaybeWhole, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

const Row = Schema.Struct({
  provider: Text,
  phase: Schema.Literal("CLOSED", "DEGRADED", "OPEN", "HALF_OPEN"),
  failures: Whole,
  openedAtMs: MaybeWhole,
  failedProbes: Whole
})
export type StoredBreaker = typeof Row.Type

const encode = (row: typeof Row.Type) => Schema.encode(Row)(row)

export class BreakerRepo extends Context.Tag("gateway/subjects/resilience/BreakerRepo")<
  BreakerRepo,
  {
    readonly list: Effect.Effect<ReadonlyArray<StoredBreaker>, StoreError>
    readonly save: (breaker: StoredBreaker) => Effect.Effect<void, StoreError>
    readonly remove: (provider: string) => Effect.Effect<void, StoreError>
  }
>() {}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "breakers", Row)

  const save = Effect.fn("BreakerRepo.save")((breaker: StoredBreaker) =>
    encode(breaker).pipe(
      Effect.flatMap(
        (row) => sql`
          INSERT INTO breakers ${sql.insert(row)}
          ON CONFLICT (provider) DO UPDATE SET ${sql.update(row, ["provider"])}`
      ),
      Effect.asVoid,
      Effect.mapError(Table.named("BreakerRepo.save"))
    )
  )
  return BreakerRepo.of({
    list: table.select("BreakerRepo.list", sql`ORDER BY provider`),
    save,
    remove: (provider) => Effect.asVoid(table.remove("BreakerRepo.remove", sql`provider = ${provider}`))
  })
})

export const layer: Layer.Layer<BreakerRepo, never, SqlClient.SqlClient> = Layer.effect(BreakerRepo, make)
