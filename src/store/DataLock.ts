/**
 * Two gateways must never serve one data folder: each would read the other's usage journal and migrate the schema the other is using.
 * The lock is SQLite's own file lock on a small separate database, so that the system releases it when a process is killed, while
 * programs that only read or write single rows of the main database keep working.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { chmodSync, closeSync, openSync } from "node:fs"
import { AppConfig } from "../platform/AppConfig.ts"
import { lockFile, onDisk, ownFolder } from "./DataFolder.ts"
import { codeOf, GatewayRunning, refusedAt, type StoreFailure } from "./Errors.ts"
import * as Handle from "./engine/Handle.ts"

export class DataLock extends Context.Tag("gateway/store/DataLock")<
  DataLock,
  {
    /** Runs work that needs the data folder for itself, such as a migration. */
    readonly exclusively: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StoreFailure, R>
  }
>() {}

/** Long enough for a command that changes or migrates the folder, short enough for a person who started a second gateway by mistake. */
const waitMs = 2_000

const acquire = (dataDir: string): Effect.Effect<void, StoreFailure, Scope.Scope> => {
  const file = lockFile(dataDir)
  return Effect.gen(function* () {
    yield* onDisk(file, () => {
      closeSync(openSync(file, "a", 0o600))
      chmodSync(file, 0o600)
    })
    const handle = yield* Handle.open(file, { readonly: false, busyTimeoutMs: waitMs })
    yield* Effect.try({ try: () => handle.exec("BEGIN EXCLUSIVE"), catch: (error) => error })
  }).pipe(
    Effect.catchAll((error) =>
      codeOf(error)?.startsWith("SQLITE_BUSY")
        ? Effect.fail(new GatewayRunning({ lockFile: file }))
        : refusedAt(file)(error)
    )
  )
}

/** Layer that holds the lock for its life: for `serve`. */
export const layer: Layer.Layer<DataLock, StoreFailure, AppConfig> = Layer.scoped(
  DataLock,
  Effect.gen(function* () {
    const { dataDir } = yield* AppConfig
    yield* ownFolder(dataDir)
    yield* acquire(dataDir)
    return DataLock.of({ exclusively: (work) => work })
  })
)

/** Layer that takes the lock only while it is needed: for commands that open the store beside a running gateway. */
export const layerOnDemand: Layer.Layer<DataLock, StoreFailure, AppConfig> = Layer.effect(
  DataLock,
  Effect.gen(function* () {
    const { dataDir } = yield* AppConfig
    yield* ownFolder(dataDir)
    return DataLock.of({
      exclusively: (work) => Effect.scoped(Effect.zipRight(acquire(dataDir), work))
    })
  })
)
