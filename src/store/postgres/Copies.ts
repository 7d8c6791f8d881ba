/** Copies the store of a data folder to a server of Postgres and back (`gateway store migrate`). No gateway runs on either of them meanwhile. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { Scope } from "effect/Scope"
import { AppConfig, type AppConfigShape } from "../../platform/AppConfig.ts"
import { databaseFile } from "../DataFolder.ts"
import * as DataLock from "../DataLock.ts"
import { usualOptions } from "../engine/postgres/Client.ts"
import { addressIn } from "../engine/postgres/Failures.ts"
import { mayBegin, summary, type TableCopied, transfer, TransferRefused } from "../engine/Transfer.ts"
import type { StoreFailure } from "../Errors.ts"
import { inspect } from "../Inspection.ts"
import { migrations, versionOf } from "../migrations/index.ts"
import * as Sql from "../Sql.ts"
import { open } from "./Database.ts"
import { failureOf, inspectServer } from "./ServerInspection.ts"

export { describeStoreFailure } from "../Errors.ts"

export type Engine = "sqlite" | "postgres"

export interface CopyOptions {
  /** The data folder, whose database is the one of SQLite. */
  readonly config: AppConfigShape
  readonly url: Redacted.Redacted
  readonly to: Engine
}

/** A copy that cannot be begun, or has not become the same. */
export class CopyRefused extends Data.TaggedError("CopyRefused")<{ readonly message: string }> {}

const supported = versionOf(migrations)

/** Holds the data folder as a gateway does: none starts on it meanwhile. */
const fileOf = (config: AppConfigShape): Effect.Effect<SqlClient.SqlClient, StoreFailure, Scope> =>
  Effect.map(
    Layer.build(
      Layer.fresh(Sql.layer).pipe(Layer.provide(DataLock.layer), Layer.provide(Layer.succeed(AppConfig, config)))
    ),
    (services) => Context.get(services, SqlClient.SqlClient)
  )

const serverOf = (url: Redacted.Redacted) => open({ ...usualOptions, url })

/** Copies all rows, or goes on with a copy that was cut off; `copied` hears of each table that is whole. */
export const copyStore = (
  { config, to, url }: CopyOptions,
  copied: (table: TableCopied) => Effect.Effect<void>
): Effect.Effect<void, StoreFailure | CopyRefused> =>
  Effect.gen(function* () {
    const file = yield* fileOf(config)
    const server = yield* serverOf(url)
    yield* to === "postgres" ? transfer(file, server, copied) : transfer(server, file, copied)
  }).pipe(
    Effect.scoped,
    Effect.mapError((error) => {
      if (error instanceof TransferRefused) return new CopyRefused({ message: error.message })
      return error._tag === "SqlError" ? failureOf(addressIn(url))(error) : error
    })
  )

const notCurrent = (where: string, version: number): CopyRefused =>
  new CopyRefused({
    message: `The database ${where} has schema version ${version}, and a copy is made of version ${supported}: start this gateway once on it, which brings it there.`
  })

/** Reads what would be copied, and whether the target would take it. Changes nothing. */
export const plannedCopy = ({
  config,
  to,
  url
}: CopyOptions): Effect.Effect<ReadonlyArray<TableCopied>, StoreFailure | CopyRefused> =>
  Effect.gen(function* () {
    const file = databaseFile(config.dataDir)
    const state = yield* inspectServer(url)
    if (state.problem !== null) return yield* new CopyRefused({ message: `${state.address}: ${state.problem}.` })
    const version = yield* inspect(file, supported)
    const taken = new CopyRefused({ message: "The target has rows already: begin with an empty database." })
    if (to === "postgres") {
      if (version !== supported) return yield* notCurrent(file, version)
      if (!state.takesCopy) return yield* taken
      const source = yield* fileOf(config)
      return yield* summary(source, source)
    }
    if (state.schemaVersion !== supported) return yield* notCurrent(state.address, state.schemaVersion)
    if (version > 0 && version !== supported) return yield* notCurrent(file, version)
    if (version > 0 && !(yield* mayBegin(yield* fileOf(config)))) return yield* taken
    // The catalogue of an empty one says which tables there are.
    const shapes = Context.get(yield* Layer.build(Layer.fresh(Sql.layerMemory)), SqlClient.SqlClient)
    return yield* summary(yield* serverOf(url), shapes)
  }).pipe(
    Effect.scoped,
    Effect.mapError((error) => (error._tag === "SqlError" ? failureOf(addressIn(url))(error) : error))
  )
