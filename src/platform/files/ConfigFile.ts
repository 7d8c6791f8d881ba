/**
 * Configuration files of other programs, in the home folder of the user: read bounded and only where they may be written, written whole or not
 * at all, after a copy of the former text.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import {
  chmodSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { dirname, join, sep } from "node:path"
import { asSentence } from "../../kernel/text/Sentence.ts"

/** `problem` is a part of a sentence behind the path: "is read-only". */
export class ConfigFileRefused extends Data.TaggedError("ConfigFileRefused")<{
  readonly path: string
  readonly problem: string
}> {
  override get message(): string {
    return `${this.path} ${asSentence(this.problem)}`
  }
}

export interface ConfigFile {
  readonly path: string
  /** Path that it is written to: behind symbolic links. */
  readonly target: string
  /** Null: there is none. */
  readonly text: string | null
  readonly mode: number
}

/** No configuration is longer. */
export const maxConfigBytes = 1_048_576

/** Permissions of a file that holds a key. */
export const ownerOnly = 0o600
const ownerMayWrite = 0o200

const refused = (path: string, problem: string): ConfigFileRefused => new ConfigFileRefused({ path, problem })

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "error"

const reasons: Readonly<Record<string, string>> = {
  EACCES: "may not be read or written by this user",
  EPERM: "may not be changed by this user",
  EROFS: "is on a file system that cannot be written",
  ENOSPC: "cannot be written: the disk is full",
  EDQUOT: "cannot be written: the quota of the disk is used up",
  ENOTDIR: "cannot be there: a part of the path is no folder",
  EISDIR: "is a folder",
  ELOOP: "is a symbolic link that leads to itself"
}

const attempt = <A>(path: string, run: () => A): Effect.Effect<A, ConfigFileRefused> =>
  Effect.try({
    try: run,
    catch: (error) =>
      error instanceof ConfigFileRefused
        ? error
        : refused(path, reasons[codeOf(error)] ?? `failed with ${codeOf(error)}`)
  })

const isInside = (folder: string, path: string): boolean => path === folder || path.startsWith(folder + sep)

/** The nearest folder above a path that is there, behind symbolic links. */
const realParent = (path: string): string => {
  let folder = dirname(path)
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  return realpathSync(folder)
}

const foreign = (uid: number): boolean => process.getuid !== undefined && uid !== process.getuid()

const targetOf = (path: string, home: string): string => {
  const link = lstatSync(path, { throwIfNoEntry: false })
  if (link?.isSymbolicLink() && !existsSync(path)) throw refused(path, "is a symbolic link that leads nowhere")
  const target = link === undefined ? path : realpathSync(path)
  // A file that was asked for outside the home folder, such as by XDG_CONFIG_HOME, may be there.
  if (isInside(home, path)) {
    const real = link === undefined ? realParent(path) : target
    if (!isInside(realpathSync(home), real)) throw refused(path, "leads out of the home folder by a symbolic link")
  }
  return target
}

const decode = (path: string, bytes: Buffer): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw refused(path, "is no text in UTF-8")
  }
}

const readNow = (path: string, home: string): ConfigFile => {
  const target = targetOf(path, home)
  const stat = statSync(target, { throwIfNoEntry: false })
  if (stat === undefined) return { path, target, text: null, mode: ownerOnly }
  if (!stat.isFile()) throw refused(path, stat.isDirectory() ? "is a folder" : "is no ordinary file")
  if (foreign(stat.uid)) throw refused(path, "belongs to another user")
  if (stat.size > maxConfigBytes) throw refused(path, `is larger than ${maxConfigBytes} bytes`)
  if ((stat.mode & ownerMayWrite) === 0) throw refused(path, "is read-only")
  return { path, target, text: decode(path, readFileSync(target)), mode: stat.mode & 0o777 }
}

/** Reads a file. Symbolic links are followed within the home folder. */
export const read = (path: string, home: string): Effect.Effect<ConfigFile, ConfigFileRefused> =>
  attempt(path, () => readNow(path, home))

const place = (target: string, text: string, mode: number): void => {
  const fresh = join(dirname(target), `.${process.pid}.${Math.floor(performance.now())}.gateway-new`)
  try {
    writeFileSync(fresh, text, { mode, flag: "wx" })
    chmodSync(fresh, mode)
    const descriptor = openSync(fresh, "r")
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(fresh, target)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
}

const unchanged = (file: ConfigFile, home: string): void => {
  const now = readNow(file.path, home)
  if (now.text !== file.text || now.target !== file.target) throw refused(file.path, "was changed meanwhile")
}

/** Makes the path of the copy of a file, beside it. */
export const backupPathOf = (path: string, nowMs: number): string =>
  `${path}.${new Date(nowMs).toISOString().replaceAll(/[-:.]/g, "")}.gateway.bak`

/** Copies the file beside itself; null where there is none. */
export const backup = (file: ConfigFile, nowMs: number): Effect.Effect<string | null, ConfigFileRefused> =>
  attempt(file.path, () => {
    if (file.text === null) return null
    const to = backupPathOf(file.target, nowMs)
    copyFileSync(file.target, to)
    chmodSync(to, ownerOnly)
    return to
  })

const withoutEmpty = (folders: ReadonlyArray<string>): ReadonlyArray<string> =>
  folders
    .toSorted((a, b) => b.length - a.length)
    .filter((folder) => {
      try {
        rmdirSync(folder)
      } catch {
        // Not empty, or of another user.
      }
      return lstatSync(folder, { throwIfNoEntry: false }) !== undefined
    })

/** Makes a folder with those above it that are not there; those it has made, the outermost first. */
const makeFolder = (folder: string): ReadonlyArray<string> => {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return []
  const made = [folder]
  for (let each = folder; each !== first && dirname(each) !== each; each = dirname(each)) made.unshift(dirname(each))
  return made
}

/**
 * Replaces the text of a file that was read, unless it was changed since. `mode`: its permissions afterwards. Returns the folders that
 * were made for it, the outermost first.
 */
export const write = (
  file: ConfigFile,
  text: string,
  home: string,
  mode: number
): Effect.Effect<ReadonlyArray<string>, ConfigFileRefused> =>
  attempt(file.path, () => {
    unchanged(file, home)
    const made = makeFolder(dirname(file.target))
    try {
      place(file.target, text, mode)
    } catch (error) {
      withoutEmpty(made)
      throw error
    }
    return made
  })

/** Removes those of these folders that are empty, the innermost first; those that are still there. */
export const removeFolders = (folders: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>> =>
  Effect.sync(() => withoutEmpty(folders))

/** Removes a file that was read, unless it was changed since. */
export const remove = (file: ConfigFile, home: string): Effect.Effect<void, ConfigFileRefused> =>
  attempt(file.path, () => {
    unchanged(file, home)
    rmSync(file.target, { force: true })
  })
