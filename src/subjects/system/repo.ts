/** The health of connections from the environment, which have no row of their own. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { ConnectionHealth } from "../connections/entity.ts"
import { MaybeText, Text } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"
import { Health } from "../connections/repo.ts"

export interface EnvHealth extends ConnectionHealth {
  /** Fingerprint of the credential it was observed with; null when unknown. */
  readonly credential: string | null
}

export class EnvHealthRepo extends Context.Tag("gateway/subjects/system/EnvHealthRepo")<
  EnvHealthRepo,
  {
    /** Lists by connection id. */
    readonly list: Effect.Effect<ReadonlyMap<string, EnvHealth>, StoreError>
    readonly save: (id: string, health: EnvHealth) => Effect.Effect<void, StoreError>
  }
>() {}

const Row = Schema.Struct({ id: Text, ...Health.fields, credential: MaybeText })
const encode = (row: typeof Row.Type) => Schema.encode(Row)(row)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "env_connection_health", Row)

  const list = Effect.map(
    table.select("EnvHealthRepo.list", sql`ORDER BY id`),
    (rows) => new Map(rows.map(({ id, ...health }) => [id, health]))
  )
  const save = Effect.fn("EnvHealthRepo.save")((id: string, health: EnvHealth) =>
    encode({ id, ...health }).pipe(
      Effect.flatMap(
        (row) => sql`
          INSERT INTO env_connection_health ${sql.insert(row)}
          ON CONFLICT (id) DO UPDATE SET ${sql.update(row, ["id"])}`
      ),
      Effect.asVoid,
      Effect.mapError(Table.named("EnvHealthRepo.save"))
    )
  )
  return EnvHealthRepo.of({ list, save })
})

export const layer: Layer.Layer<EnvHealthRepo, never, SqlClient.SqlClient> = Layer.effect(EnvHealthRepo, make)
