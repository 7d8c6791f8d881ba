/** Backups of this machine's data folder, where no gateway runs. */
import * as Effect from "effect/Effect"
import type { BackupView } from "../../subjects/backups/routes.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { loadConfig } from "../flags/EnvFile.ts"
import type { CliFailure } from "../Failure.ts"
import { load, type LocalModule, onFolder } from "./localServices.ts"
import { refusal } from "./refusals.ts"
import * as Output from "../output/Output.ts"

/** The configuration; refused where the database is no file of the data folder. */
const inFile = (what: string, Refused: LocalModule["BackedUpElsewhere"]) =>
  Effect.filterOrFail(
    AppConfig,
    ({ databaseUrl }) => databaseUrl === null,
    () => new Refused({ what })
  )

/** Reads names only; a gateway may be running. */
export const listBackups: Effect.Effect<{ readonly backups: ReadonlyArray<BackupView> }, CliFailure> = Effect.gen(
  function* () {
    const { dataDir } = yield* loadConfig
    const { backupView, backupsIn, describeStoreFailure } = yield* load
    const backups = yield* Effect.mapError(backupsIn(dataDir), (error) => refusal(error, describeStoreFailure))
    return { backups: backups.map(backupView) }
  }
)

export const createBackup = onFolder((room) =>
  Effect.gen(function* () {
    const { dataDir } = yield* inFile("A backup", room.BackedUpElsewhere)
    return { backup: room.backupView(yield* room.Restore.backUp(dataDir, "manual")) }
  })
)

/** Restores a backup, also where the database is so damaged that no gateway starts: then it is moved aside. */
export const restoreBackup = (id: string) =>
  onFolder((room) =>
    Effect.gen(function* () {
      const { dataDir } = yield* inFile("A restore", room.BackedUpElsewhere)
      const found = yield* room.findBackup(yield* room.backupsIn(dataDir), id)
      const staged = yield* room.Restore.stage(found, yield* room.Restore.stagingFolder)
      const swapped = room.Restore.swap(staged, "pre-restore")
      const before = yield* Effect.catchTag(swapped, "DatabaseCorrupt", () =>
        Effect.gen(function* () {
          const aside = yield* room.Restore.setAside(dataDir)
          yield* Output.note(`The damaged database was moved to ${aside}.`)
          return yield* swapped
        })
      )
      return { restored: true as const, preRestoreBackupId: before.id }
    }).pipe(Effect.scoped)
  )
