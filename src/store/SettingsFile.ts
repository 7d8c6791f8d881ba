/** The settings file of the data folder (`.env`), as the running gateway changes it. */
import * as Effect from "effect/Effect"
import { chmodSync, copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { envFile } from "../platform/EnvText.ts"
import { onDisk, syncPath } from "./DataFolder.ts"
import type { StoreFailure } from "./Errors.ts"

/** Reads its text; null when there is none. */
export const read = (dataDir: string): Effect.Effect<string | null, StoreFailure> => {
  const file = envFile(dataDir)
  return onDisk(file, () => (existsSync(file) ? readFileSync(file, "utf8") : null))
}

/** Replaces it, whole or not at all, after a copy of the former one, whose path is returned; null when there was none. */
export const replace = (dataDir: string, text: string, nowMs: number): Effect.Effect<string | null, StoreFailure> => {
  const file = envFile(dataDir)
  const backupPath = `${file}.${new Date(nowMs).toISOString().replaceAll(/[-:.]/g, "")}.bak`
  return Effect.zipLeft(
    onDisk(file, () => {
      const isThere = existsSync(file)
      if (isThere) {
        copyFileSync(file, backupPath)
        chmodSync(backupPath, 0o600)
      }
      const fresh = `${file}.new`
      writeFileSync(fresh, text, { mode: 0o600 })
      chmodSync(fresh, 0o600)
      renameSync(fresh, file)
      return isThere ? backupPath : null
    }),
    syncPath(dirname(file))
  )
}
