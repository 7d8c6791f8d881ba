/** Names of what the store keeps under the data folder, and the making of the folder itself. */
import * as Effect from "effect/Effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { refusedAt, type StoreFailure } from "./Errors.ts"

export const databaseFile = (dataDir: string): string => join(dataDir, "gateway.sqlite")
export const lockFile = (dataDir: string): string => join(dataDir, "gateway.lock")
export const masterKeyFile = (dataDir: string): string => join(dataDir, "master.key")
export const backupFolder = (dataDir: string): string => join(dataDir, "backups")
export const journalFolder = (dataDir: string): string => join(dataDir, "usage-journal")

/** Runs file-system calls on `path`; what the system refuses becomes a `StoreFailure`, anything else is a bug. */
export const onDisk = <A>(path: string, run: () => A): Effect.Effect<A, StoreFailure> =>
  Effect.try({ try: run, catch: (error) => error }).pipe(Effect.catchAll(refusedAt(path)))

/** Makes a folder only its owner can enter. An existing folder keeps its mode. */
export const ensureFolder = (folder: string): Effect.Effect<void, StoreFailure> =>
  onDisk(folder, () => void mkdirSync(folder, { recursive: true, mode: 0o700 }))
