/** Backups of the database: made, listed, exported, restored and imported (`docs/backups.md`). */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Lifecycle, type RestartRefused } from "../../platform/Lifecycle.ts"
import { version } from "../../platform/Version.ts"
import { announced, Events } from "../../observe/Events.ts"
import * as Store from "../../store/Backup.ts"
import { BackedUpElsewhere, describeStoreFailure, type StoreFailure } from "../../store/Errors.ts"
import { migrations, versionOf } from "../../store/migrations/index.ts"
import { ApiKeyRepo } from "../keys/repo.ts"
import { ComboRepo } from "../combos/repo.ts"
import { ConnectionRepo } from "../connections/repo.ts"
import type { RestoreRefused } from "../../store/restore/Refusal.ts"
import * as Restore from "../../store/restore/Restore.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import { type ArchiveFile, archiveOf, piecesOf } from "./BackupArchive.ts"
import { EntityNotFound, OperationFailed } from "../Errors.ts"

export interface RestoreHooks {
  /** Runs when the database is good and the service is about to restart: the request that asked is not waited for. */
  readonly beforeRestart: Effect.Effect<void>
}

/** A file for a client; it is there as long as the scope. */
export interface Outgoing {
  readonly name: string
  readonly sizeBytes: number
  readonly pieces: () => AsyncIterable<Buffer>
}

export class Backups extends Context.Tag("gateway/subjects/backups/Backups")<
  Backups,
  {
    /** Newest first. */
    readonly list: Effect.Effect<ReadonlyArray<Store.BackupFile>, OperationFailed>
    readonly create: Effect.Effect<Store.BackupFile, OperationFailed>
    /** Returns the backup of what was there before. */
    readonly restore: (
      id: string,
      hooks: RestoreHooks
    ) => Effect.Effect<Store.BackupFile, OperationFailed | EntityNotFound | RestoreRefused | RestartRefused>
    /** Restores as `restore`, from a file that `receive` writes to the path it is given. */
    readonly importFrom: <E>(
      receive: (file: string) => Effect.Effect<void, E>,
      hooks: RestoreHooks
    ) => Effect.Effect<Store.BackupFile, E | OperationFailed | RestoreRefused | RestartRefused>
    /** A copy of the database as it is now. */
    readonly download: Effect.Effect<Outgoing, OperationFailed, Scope.Scope>
    /** A tar file with that copy, a manifest, and lists for people. Not compressed. */
    readonly archive: Effect.Effect<Omit<Outgoing, "sizeBytes">, OperationFailed, Scope.Scope>
  }
>() {}

const failed = (failure: StoreFailure): OperationFailed =>
  new OperationFailed({ code: "backup_failed", message: describeStoreFailure(failure) })

const storeTags = [
  "GatewayRunning",
  "DatabaseLocked",
  "SchemaNewer",
  "DatabaseCorrupt",
  "DataUnwritable",
  "MigrationFailed",
  "DriverMissing",
  "WrongKey",
  "DatabaseUnreachable",
  "BackedUpElsewhere",
  "StoreError"
] as const satisfies ReadonlyArray<StoreFailure["_tag"]>

const isStoreFailure = (error: { readonly _tag: string }): error is StoreFailure =>
  storeTags.some((tag) => tag === error._tag)

/** The id of a backup that may be named by its file, as the folder `backups` shows it, also with a path. */
export const idOfName = (name: string): string => name.slice(name.lastIndexOf("/") + 1).replace(/\.sqlite$/, "")

/** The backup of an id or of the name of its file. */
export const findIn = (
  backups: ReadonlyArray<Store.BackupFile>,
  name: string
): Effect.Effect<Store.BackupFile, EntityNotFound> => {
  const id = idOfName(name)
  const backup = backups.find((one) => one.id === id)
  return backup === undefined
    ? new EntityNotFound({ entity: "backup", id: name.slice(0, 100), field: "backupId" })
    : Effect.succeed(backup)
}

const stampOf = (ms: number): string => new Date(ms).toISOString().replaceAll(/[-:]|\.\d+/g, "")

const schemaVersion = versionOf(migrations)

const json = (name: string, value: unknown): ArchiveFile => ({ name, text: `${JSON.stringify(value, null, 2)}\n` })

/** Lists the configuration for people: without credentials, and without data that identifies a key. */
const listsOf = Effect.gen(function* () {
  const connections = yield* ConnectionRepo
  const combos = yield* ComboRepo
  const keys = yield* ApiKeyRepo
  return Effect.gen(function* () {
    const providers = (yield* connections.list).map((one) => ({
      id: one.id,
      provider: one.provider,
      name: one.name,
      authType: one.authType,
      baseUrl: one.baseUrl,
      models: one.models,
      priority: one.priority,
      isActive: one.isActive
    }))
    const apiKeys = (yield* keys.list).map(({ createdAtMs, expiresAtMs, id, isActive, name, scopes }) => ({
      id,
      name,
      scopes,
      isActive,
      createdAtMs,
      expiresAtMs
    }))
    return [json("providers.json", providers), json("combos.json", yield* combos.list), json("api-keys.json", apiKeys)]
  }).pipe(Effect.mapError(failed))
})

export const make = Effect.gen(function* () {
  const backup = yield* Store.Backup
  const events = yield* Events
  const secrets = yield* Secrets
  const lists = yield* listsOf
  const config = yield* AppConfig
  const lifecycle = yield* Lifecycle
  const withConfig = Effect.provideService(AppConfig, config)

  yield* Effect.ignoreLogged(Store.removeUnfinished(config.dataDir))
  yield* Effect.ignoreLogged(Restore.removeLeftovers(config.dataDir))

  const list = Effect.mapError(backup.list, failed)

  /** Refuses where the database is no file of the data folder. */
  const inFile = (what: string): Effect.Effect<void, OperationFailed> =>
    config.databaseUrl === null ? Effect.void : Effect.fail(failed(new BackedUpElsewhere({ what })))

  const put = (staged: Restore.Staged, reason: string, { beforeRestart }: RestoreHooks) =>
    // From here on the restart happens whether or not the client waits for it, and needs the staged file.
    Effect.uninterruptible(
      Effect.zipRight(
        beforeRestart,
        lifecycle.between(withConfig(Restore.swap(staged, reason)), (before) =>
          Effect.catchAll(withConfig(Restore.putBack(before)), (failure) =>
            Effect.logError(describeStoreFailure(failure))
          )
        )
      )
    )

  const explained = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.mapError(
      effect,
      (error) => (isStoreFailure(error) ? failed(error) : error) as Exclude<E, StoreFailure> | OperationFailed
    )

  return Backups.of({
    list,
    create: Effect.mapError(announced(events, { kind: "backup", id: "manual" }, backup.make("manual")), failed),
    restore: Effect.fn("Backups.restore")(function* (id: string, hooks: RestoreHooks) {
      yield* inFile("A restore")
      const found = yield* findIn(yield* list, id)
      return yield* Effect.gen(function* () {
        const folder = yield* Restore.stagingFolder
        return yield* put(yield* Restore.stage(found, folder), Store.reasons.preRestore, hooks)
      }).pipe(Effect.scoped, withConfig, explained)
    }),
    importFrom: <E>(receive: (file: string) => Effect.Effect<void, E>, hooks: RestoreHooks) =>
      Effect.gen(function* () {
        yield* inFile("An import")
        const folder = yield* Effect.mapError(withConfig(Restore.stagingFolder), failed)
        yield* receive(Restore.stagedFile(folder))
        return yield* explained(
          Effect.flatMap(withConfig(Restore.prepare(folder)), (staged) => put(staged, Store.reasons.preImport, hooks))
        )
      }).pipe(Effect.scoped),
    download: Effect.gen(function* () {
      const copy = yield* Effect.mapError(backup.download, failed)
      const name = `gateway-${stampOf(yield* Clock.currentTimeMillis)}.sqlite`
      return { name, sizeBytes: copy.sizeBytes, pieces: () => piecesOf(copy) }
    }),
    archive: Effect.gen(function* () {
      const copy = yield* Effect.mapError(backup.download, failed)
      const exportedAtMs = yield* Clock.currentTimeMillis
      const facts = {
        gatewayVersion: version,
        schemaVersion: schemaVersion,
        exportedAtMs,
        keyId: secrets.keyId,
        keyFile: config.encryptionKey === null ? "master.key" : null
      }
      const pieces = yield* archiveOf(copy, facts, yield* lists)
      return { name: `gateway-${stampOf(exportedAtMs)}.tar.gz`, pieces: () => pieces }
    })
  })
})

export const layer: Layer.Layer<
  Backups,
  never,
  ApiKeyRepo | AppConfig | ComboRepo | ConnectionRepo | Events | Lifecycle | Secrets | Store.Backup
> = Layer.effect(Backups, make)
