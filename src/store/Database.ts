/**
 * The database of the engine that the configuration names: the file of SQLite in the data folder, or one on a server of Postgres, whose modules are
 * loaded for it alone (docs/cluster.md).
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AppConfig } from "../platform/AppConfig.ts"
import type { Timers } from "../platform/Timers.ts"
import * as Backup from "./Backup.ts"
import type { DataLock } from "./DataLock.ts"
import * as Sqlite from "./engine/ReadWorker.ts"
import type { StoreFailure } from "./Errors.ts"
import * as Sql from "./Sql.ts"

const ofServer = Effect.promise(() => import("./postgres/Layers.ts"))

const ofFile = Backup.layer.pipe(Layer.provideMerge(Sql.layer))

export const layer: Layer.Layer<SqlClient.SqlClient | Backup.Backup, StoreFailure, AppConfig | DataLock> =
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const { databaseUrl } = yield* AppConfig
      return databaseUrl === null ? ofFile : (yield* ofServer).database(databaseUrl)
    })
  )

type Reads = Layer.Layer<Sqlite.ReadWorker, never, AppConfig | Timers | SqlClient.SqlClient>

/** Long reads of it. */
export const reads: Reads = Layer.unwrapEffect(
  Effect.gen(function* () {
    const { databaseUrl } = yield* AppConfig
    const found: Reads = databaseUrl === null ? Sqlite.layer : (yield* ofServer).reads
    return found
  })
)
