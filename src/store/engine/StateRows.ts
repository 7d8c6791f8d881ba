/** A table of states by key, each as JSON text: parsing is left to the owner, so that an unreadable state does not affect others. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Text, Whole } from "./Columns.ts"
import type { StoreError } from "../Errors.ts"
import * as Table from "./Table.ts"

const Row = Schema.Struct({ key: Text, state: Text, updatedAtMs: Whole })
export type StateRow = typeof Row.Type

export interface StateRows {
  /** Least recently changed first. */
  readonly list: Effect.Effect<ReadonlyArray<StateRow>, StoreError>
  readonly save: (key: string, state: string) => Effect.Effect<void, StoreError>
  readonly remove: (key: string) => Effect.Effect<void, StoreError>
}

const encode = (row: typeof Row.Type) => Schema.encode(Row)(row)

/** `repo` names the repository in errors and spans. */
export const makeStateRows = (repo: string, tableName: string): Effect.Effect<StateRows, never, SqlClient.SqlClient> =>
  Effect.map(SqlClient.SqlClient, (sql) => {
    const table = Table.make(sql, tableName, Row)
    return {
      list: table.select(`${repo}.list`, sql`ORDER BY updated_at_ms, key`),
      save: Effect.fn(`${repo}.save`)((key: string, state: string) =>
        Clock.currentTimeMillis.pipe(
          Effect.flatMap((updatedAtMs) => encode({ key, state, updatedAtMs })),
          Effect.flatMap(
            (row) => sql`
              INSERT INTO ${sql(tableName)} ${sql.insert(row)}
              ON CONFLICT (key) DO UPDATE SET ${sql.update(row, ["key"])}`
          ),
          Effect.asVoid,
          Effect.mapError(Table.named(`${repo}.save`))
        )
      ),
      remove: (key) => Effect.asVoid(table.remove(`${repo}.remove`, sql`key = ${key}`))
    }
  })
