/** Checks of the data folder: the database, and whether what is encrypted in it can be read. The database is not changed. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { statSync } from "node:fs"
import * as AppConfig from "../../platform/AppConfig.ts"
import { loadRoom } from "../lazy.ts"
import { load } from "../local/room.ts"
import { counted } from "../output/Output.ts"
import * as Finding from "./Finding.ts"

/** The tools of the store that open nothing by themselves. */
const loadTools = loadRoom(async () => ({
  ...(await import("../../store/DataFolder.ts")),
  ...(await import("../../store/Errors.ts")),
  ...(await import("../../store/Handle.ts")),
  ...(await import("../../store/Inspection.ts")),
  ...(await import("../../store/migrations/index.ts"))
}))

const restore = "Put a copy from the folder 'backups' in its place, or move the file away to start empty."
const busyTimeoutMs = 1000

/** State of the database; `isCurrent`: a start would not change it. */
export interface DatabaseState {
  readonly finding: Finding.Finding
  readonly isCurrent: boolean
}

/** Reads the schema version and checks every page, through a read-only handle. */
export const database = (dataDir: string): Effect.Effect<DatabaseState> =>
  Effect.gen(function* () {
    const store = yield* loadTools
    const file = store.databaseFile(dataDir)
    if (statSync(file, { throwIfNoEntry: false }) === undefined) {
      return {
        finding: Finding.ok(`There is no database in ${dataDir} yet; the first start makes it`),
        isCurrent: false
      }
    }
    const supported = store.versionOf(store.migrations)
    return yield* Effect.gen(function* () {
      const version = yield* store.inspect(file, supported)
      const verdict = yield* store.open(file, { readonly: true, busyTimeoutMs }).pipe(
        Effect.tryMap({
          try: (handle) => String(handle.prepare("PRAGMA integrity_check(1)").pluck().get()),
          catch: (error) => error
        }),
        Effect.scoped,
        Effect.catchAll(store.refusedAt(file))
      )
      if (verdict !== "ok")
        return { finding: Finding.fail(`${file} is damaged: ${verdict}`, restore), isCurrent: false }
      return version < supported
        ? {
            finding: Finding.ok(`${file} is whole; the next start brings it to schema version ${supported}`),
            isCurrent: false
          }
        : { finding: Finding.ok(`${file} is whole, schema version ${version}`), isCurrent: true }
    }).pipe(
      Effect.catchAll((failure) =>
        Effect.succeed({
          finding: Finding.fail(store.describeStoreFailure(failure), "The file was not changed."),
          isCurrent: false
        })
      )
    )
  }).pipe(Effect.catchAll(({ message }) => Effect.succeed({ finding: Finding.skip(message), isCurrent: false })))

const credentials = (
  connections: ReadonlyArray<{ readonly name: string; readonly locked: boolean }>
): Finding.Finding => {
  const locked = connections.filter((connection) => connection.locked)
  return locked.length === 0
    ? Finding.ok(`The database can be written, and ${counted(connections.length, "connection")} can be read`)
    : Finding.fail(
        `The credentials of ${locked.length} of ${counted(connections.length, "connection")} cannot be decrypted.`,
        `Give them new keys: ${locked.map(({ name }) => name).join(", ")}.`
      )
}

/** Opens the store as a start would, and every credential in it. Only for a database that a start would not change. */
export const storage = (config: AppConfig.AppConfigShape, state: DatabaseState): Effect.Effect<Finding.Finding> => {
  if (state.finding.status !== "ok") return Effect.succeed(Finding.skip("The database must be usable first"))
  if (!state.isCurrent) return Effect.succeed(Finding.ok("Nothing is encrypted with the present schema yet"))
  return Effect.gen(function* () {
    const room = yield* load
    return yield* Effect.flatMap(room.ConnectionRepo, (repo) => repo.list).pipe(
      Effect.provide(Layer.provide(room.storeLayer, Layer.succeed(AppConfig.AppConfig, config))),
      Effect.map(credentials),
      Effect.catchAll((failure) =>
        Effect.succeed(Finding.fail(room.describeStoreFailure(failure), "Nothing was changed."))
      )
    )
  }).pipe(Effect.catchAll(({ message }) => Effect.succeed(Finding.skip(message))))
}
