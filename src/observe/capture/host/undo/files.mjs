// @ts-check
// Writing files so that a process which is killed at any moment leaves the old content or the new one.
import {
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { isAlive } from "./owner.mjs"

/** Larger files are not edited. */
export const maxFileBytes = 16 * 1_048_576

/** @param {unknown} error */
export const codeOf = (error) => (error instanceof Error && "code" in error ? String(error.code) : "unknown")

/** @param {string} folder */
export const syncFolder = (folder) => {
  // Windows opens no folders.
  if (process.platform === "win32") return
  const descriptor = openSync(folder, constants.O_RDONLY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * @param {number} descriptor
 * @param {Buffer} bytes
 * @param {number} position
 */
const writeAll = (descriptor, bytes, position) => {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at, bytes.length - at, position + at)
}

/**
 * A file of ours: written, synced and put in place in one step.
 * @param {string} file
 * @param {string | Buffer} content
 * @param {number} [mode]
 */
export const replaceFile = (file, content, mode = 0o600) => {
  const fresh = join(dirname(file), `.${basename(file)}.new-${process.pid}`)
  const descriptor = openSync(fresh, "w", mode)
  try {
    fchmodSync(descriptor, mode)
    writeAll(descriptor, Buffer.from(content), 0)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(fresh, file)
  syncFolder(dirname(file))
}

/** @param {string} file */
export const readBounded = (file) => {
  const descriptor = openSync(file, "r")
  try {
    const stats = fstatSync(descriptor, { bigint: true })
    if (!stats.isFile()) throw new Error("is not a plain file")
    if (stats.size > maxFileBytes) throw new Error(`has more than ${maxFileBytes} bytes`)
    return { bytes: readFileSync(descriptor), stats }
  } finally {
    closeSync(descriptor)
  }
}

/** Finds the file to finish an interrupted write in place from. @param {string} rescueFolder @param {string} file */
const rescueFile = (rescueFolder, file) =>
  join(rescueFolder, `in-place-${Buffer.from(file).toString("base64url").slice(-150)}.json`)

/** @param {Buffer} one @param {Buffer} other */
const commonLength = (one, other) => {
  const most = Math.min(one.length, other.length)
  let at = 0
  while (at < most && one[at] === other[at]) at += 1
  return at
}

/** @param {string} file @param {Buffer} bytes @param {number} from */
const overwrite = (file, bytes, from) => {
  const descriptor = openSync(file, "r+")
  try {
    writeAll(descriptor, bytes.subarray(from), from)
    ftruncateSync(descriptor, bytes.length)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Checks whether `found` is what a write of `next` over `previous` left when it was interrupted: the beginning of the one, the rest of the
 * other.
 * @param {Buffer} found @param {Buffer} previous @param {Buffer} next
 */
const isHalfWritten = (found, previous, next) => {
  if (found.equals(previous) || found.equals(next)) return false
  const written = commonLength(found, next)
  // Bytes that both have in common may count to either; what is behind the written ones is the old rest.
  return written === found.length
    ? found.length >= previous.length
    : found.length === Math.max(previous.length, written) && found.subarray(written).equals(previous.subarray(written))
}

/**
 * Finishes what a killed process left half written. Called under the lock of `file`.
 * @param {string} rescueFolder
 * @param {string} file its real path
 */
export const finishInPlace = (rescueFolder, file) => {
  const rescue = rescueFile(rescueFolder, file)
  /** @type {string} */
  let text
  try {
    text = readFileSync(rescue, "utf8")
  } catch {
    return
  }
  try {
    const { previous, next } = JSON.parse(text)
    const after = Buffer.from(next, "base64")
    const { bytes } = readBounded(file)
    if (isHalfWritten(bytes, Buffer.from(previous, "base64"), after)) overwrite(file, after, 0)
  } finally {
    rmSync(rescue, { force: true })
  }
}

/**
 * @param {string} rescueFolder
 * @param {string} file
 * @param {Buffer} previous
 * @param {Buffer} next
 */
const writeInPlace = (rescueFolder, file, previous, next) => {
  const rescue = rescueFile(rescueFolder, file)
  replaceFile(rescue, JSON.stringify({ previous: previous.toString("base64"), next: next.toString("base64") }))
  // What is the same is not written again: an appended block leaves the rest untouched.
  overwrite(file, next, commonLength(previous, next))
  rmSync(rescue, { force: true })
}

/**
 * Codes of failures of a rename: a mount point (a container's /etc/hosts), a folder that is read-only or belongs to
 * another user.
 */
const renameRefusals = new Set(["EBUSY", "EXDEV", "EACCES", "EPERM", "EROFS"])

/** @param {string} file */
const temporaryPrefix = (file) => `.${basename(file)}.gateway-`

/** Removes what killed processes left beside a file. @param {string} file */
export const sweepTemporary = (file) => {
  const folder = dirname(file)
  const prefix = temporaryPrefix(file)
  try {
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(prefix)) continue
      const pid = Number(name.slice(prefix.length))
      if (pid === process.pid || !isAlive({ pid, startTime: null, bootId: null }))
        rmSync(join(folder, name), { force: true })
    }
  } catch {
    // A folder that cannot be read or written has none.
  }
}

/**
 * @param {string} file
 * @param {Buffer} next
 * @param {import("node:fs").BigIntStats} stats of the file that is replaced
 */
const renameOver = (file, next, stats) => {
  const fresh = join(dirname(file), `${temporaryPrefix(file)}${process.pid}`)
  const descriptor = openSync(fresh, "wx", 0o600)
  try {
    writeAll(descriptor, next, 0)
    fchmodSync(descriptor, Number(stats.mode) & 0o7777)
    fsyncSync(descriptor)
    closeSync(descriptor)
    const own = statSync(fresh, { bigint: true })
    if (own.uid !== stats.uid || own.gid !== stats.gid) chownSync(fresh, Number(stats.uid), Number(stats.gid))
    renameSync(fresh, file)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
  syncFolder(dirname(file))
}

/** @param {string} file @param {import("node:fs").BigIntStats} stats */
const isUnchanged = (file, stats) => {
  const now = statSync(file, { bigint: true })
  return (
    now.ino === stats.ino && now.size === stats.size && now.mtimeNs === stats.mtimeNs && now.ctimeNs === stats.ctimeNs
  )
}

const attempts = 8

/**
 * Edits a file that others edit too: reads it, and writes what `edit` makes of its bytes. Where it was changed meanwhile, it is read again.
 * Called under the lock of `file`. Throws what the system says, and what `edit` throws.
 * @param {string} path
 * @param {string} rescueFolder
 * @param {(bytes: Buffer) => Buffer | null} edit null: nothing to change
 * @returns {boolean} whether it was written
 */
export const editFile = (path, rescueFolder, edit) => {
  const file = realpathSync(path)
  sweepTemporary(file)
  finishInPlace(rescueFolder, file)
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const { bytes, stats } = readBounded(file)
    const next = edit(bytes)
    if (next === null || next.equals(bytes)) return false
    if (!isUnchanged(file, stats)) continue
    try {
      // A file with several names stays one file.
      if (stats.nlink > 1n) writeInPlace(rescueFolder, file, bytes, next)
      else renameOver(file, next, stats)
    } catch (error) {
      if (!renameRefusals.has(codeOf(error))) throw error
      writeInPlace(rescueFolder, file, bytes, next)
    }
    return true
  }
  throw new Error("is changed all the time by another program")
}

/**
 * Commands that put `fresh` in the place of a file that only root may change, in one step as `renameOver` does.
 * @param {string} path @param {string} fresh
 */
export const replacementCommands = (path, fresh) => {
  const file = realpathSync(path)
  const { gid, mode, uid } = statSync(file)
  const beside = join(dirname(file), `${temporaryPrefix(file)}${process.pid}`)
  const owner = ["-m", (mode & 0o7777).toString(8), "-o", String(uid), "-g", String(gid)]
  return [
    ["/usr/bin/install", ...owner, "--", fresh, beside],
    ["/bin/mv", "-f", "--", beside, file]
  ]
}

/** Checks whether there is something of this name, a dangling link included. @param {string} path */
export const exists = (path) => {
  try {
    lstatSync(path)
    return true
  } catch {
    return false
  }
}

/** The first bytes of a file, or null where it cannot be read. @param {string} file @param {number} most */
export const firstBytes = (file, most) => {
  try {
    const descriptor = openSync(file, "r")
    try {
      const bytes = Buffer.alloc(most)
      return bytes.subarray(0, readSync(descriptor, bytes))
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return null
  }
}
