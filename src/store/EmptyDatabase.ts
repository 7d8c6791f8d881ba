/**
 * The database of a new data folder: a copy of the empty one that the build has made with this program's migrations. To run them takes a
 * sixth of a start. From the sources there is none, and the migrations run.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { brotliDecompressSync } from "node:zlib"
import { readHeader } from "./engine/DatabaseHeader.ts"

/** Path beside the chunks of the built program (`bin/emptyDatabase.mjs`), where it is compressed. */
const builtFile = join(dirname(dirname(fileURLToPath(import.meta.url))), "empty.sqlite")

/** Reads what the build made; null when there is none, or one of another schema version. */
const builtDatabase = (version: number, built: string): Uint8Array | null => {
  const packed = `${built}.br`
  if (!existsSync(built) && !existsSync(packed)) return null
  const bytes = existsSync(built) ? readFileSync(built) : brotliDecompressSync(readFileSync(packed))
  return readHeader(bytes)?.userVersion === version ? bytes : null
}

/** SQLite would replay a log that an older database has left there. */
const isUnused = (file: string): boolean => ["", "-wal", "-journal"].every((end) => !existsSync(`${file}${end}`))

/**
 * Writes the empty database to `file`, all of it or nothing. Returns false, with nothing done, where something is there already or the build
 * has none of this version. Throws what the system throws.
 */
export const writeEmptyDatabase = (file: string, version: number, built: string = builtFile): boolean => {
  const bytes = isUnused(file) ? builtDatabase(version, built) : null
  if (bytes === null) return false
  const fresh = `${file}.new`
  // Left by a start that was killed.
  rmSync(fresh, { force: true })
  const descriptor = openSync(fresh, "wx", 0o600)
  try {
    for (let at = 0; at < bytes.length; at += writeSync(descriptor, bytes, at));
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(fresh, file)
  return true
}
