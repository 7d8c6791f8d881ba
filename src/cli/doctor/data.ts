/** Checks of the data folder: the database, and whether what is encrypted in it can be read. The database is not changed. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { asSentence } from "../../kernel/text/Sentence.ts"
import * as AppConfig from "../../platform/AppConfig.ts"
import { accessProblem, firstProblem } from "../../platform/files/PathAccess.ts"
import { loadModule } from "../lazy.ts"
import { load } from "../local/localServices.ts"
import { counted } from "../output/Output.ts"
import * as Finding from "./Finding.ts"

/** The tools of the store that open nothing by themselves. */
const loadTools = loadModule(async () => ({
  ...(await import("../../store/DataFolder.ts")),
  ...(await import("../../store/Errors.ts")),
  ...(await import("../../store/engine/Handle.ts")),
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
  }).pipe(
    Effect.catchAll(({ message }) => Effect.succeed({ finding: Finding.skip(message), isCurrent: false })),
    Effect.catchAllDefect((defect) =>
      Effect.succeed({
        finding: Finding.fail(
          `The database in ${dataDir} cannot be looked at (${codeOf(defect)}).`,
          "The file was not changed."
        ),
        isCurrent: false
      })
    )
  )

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

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error)

/** Makes and removes a file in the data folder, or says why not. A folder that is not there is judged by the one it would be made in. */
const writing = (dataDir: string): Finding.Finding | null => {
  const ways = "Nothing was changed."
  const problem = accessProblem(dataDir)
  if (problem !== null)
    return Finding.fail(`The gateway cannot write to ${problem.path}: ${asSentence(problem.reason)}`, ways)
  const stat = statSync(dataDir, { throwIfNoEntry: false })
  if (stat === undefined) return null
  if (!stat.isDirectory()) {
    return Finding.fail(`${dataDir} is a file, and the data folder has to be there.`, "Move it away, or set DATA_DIR.")
  }
  const probe = join(dataDir, `.doctor-${process.pid}`)
  try {
    writeFileSync(probe, "", { flag: "wx", mode: 0o600 })
    return null
  } catch (error) {
    return Finding.fail(`The gateway cannot write to ${dataDir} (${codeOf(error)}).`, ways)
  } finally {
    rmSync(probe, { force: true })
  }
}

/** Files of these folders are read and removed by a start. */
const readAtStart = ["usage-journal", "reservations"]
const folders = [...readAtStart, "files", "batches", "uploads", "backups"]
/** Files of a folder that are looked at. */
const mostFiles = 1_000

/** Files and folders that a start reads and writes; the first that it may not is named. */
const usable = (dataDir: string): Finding.Finding | null => {
  const there = (names: ReadonlyArray<string>) =>
    names.map((name) => join(dataDir, name)).filter((path) => existsSync(path))
  const problem =
    firstProblem(there(["gateway.sqlite", "gateway.sqlite-wal", "gateway.sqlite-shm", "gateway.lock", ...folders])) ??
    firstProblem(there(["master.key", ".env"]), "read") ??
    firstProblem(
      there(readAtStart).flatMap((folder) =>
        readdirSync(folder)
          .slice(0, mostFiles)
          .map((name) => join(folder, name))
      )
    )
  return problem === null
    ? null
    : Finding.fail(`The gateway cannot write to ${problem.path}: ${asSentence(problem.reason)}`, "Nothing was changed.")
}

/** Describes why the data folder, or something in it, cannot be written; null when it can. */
export const unwritable = (dataDir: string): Finding.Finding | null => writing(dataDir) ?? usable(dataDir)

/** Opens the store as a start would, and every credential in it. Only for a database that a start would not change. */
export const storage = (config: AppConfig.AppConfigShape, state: DatabaseState): Effect.Effect<Finding.Finding> => {
  const problem = unwritable(config.dataDir)
  if (problem !== null) return Effect.succeed(problem)
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
