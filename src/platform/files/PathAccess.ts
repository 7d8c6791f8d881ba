/** Describes for people why this process may not use a file or folder: the users concerned, and the remedy. */
import { accessSync, constants, existsSync, lstatSync, readFileSync, statSync, type Stats } from "node:fs"
import { dirname, resolve } from "node:path"

const maxUsersBytes = 1_048_576

/** The names of users as the system's list has them; a user of a container often is in none. */
const nameOf = (uid: number): string | null => {
  try {
    if (statSync("/etc/passwd").size > maxUsersBytes) return null
    for (const line of readFileSync("/etc/passwd", "utf8").split("\n")) {
      const [name, , id] = line.split(":", 3)
      if (id === String(uid) && name !== undefined && name !== "") return name
    }
  } catch {
    // No list: the number is all there is to say.
  }
  return null
}

/** Formats a user for a message, such as `www-data (id 33)`, or `the user with id 1000`. */
export const userWords = (uid: number): string => {
  const name = nameOf(uid)
  return name === null ? `the user with id ${uid}` : `${name} (id ${uid})`
}

const octal = (mode: number): string => `0${(mode & 0o777).toString(8).padStart(3, "0")}`

const may = (path: string, mode: number): NodeJS.ErrnoException | null => {
  try {
    accessSync(path, mode)
    return null
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** The deepest part of the path that can be seen: what is below a folder that may not be entered cannot. */
const seen = (path: string): { readonly path: string; readonly stat: Stats } | null => {
  let at = resolve(path)
  for (;;) {
    try {
      return { path: at, stat: statSync(at) }
    } catch {
      if (dirname(at) === at) return null
      at = dirname(at)
    }
  }
}

/** Quotes a path for a shell. */
const quoted = (path: string): string =>
  /^[\w./@:+,-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`

export interface AccessProblem {
  readonly path: string
  /** Continues "The gateway cannot write to <path>: ". No full stop at its end. */
  readonly reason: string
}

export type Wanted = "read" | "write"

const needed = (stat: Stats, wanted: Wanted): number =>
  constants.R_OK | (wanted === "write" ? constants.W_OK : 0) | (stat.isDirectory() ? constants.X_OK : 0)

const words = (path: string, stat: Stats, self: number): string => {
  const kind = stat.isDirectory() ? "it" : "the file"
  const fitting = stat.isDirectory() ? "u+rwx" : "u+rw"
  return stat.uid === self
    ? `${kind} belongs to ${userWords(self)}, the user of the gateway, but its mode ${octal(stat.mode)} does not let that user read and write it; run 'chmod ${fitting} ${quoted(path)}'`
    : `${kind} belongs to ${userWords(stat.uid)} with mode ${octal(stat.mode)}, and the gateway runs as ${userWords(self)}; start it as the former, run 'chown -R ${self} ${quoted(path)}', or set DATA_DIR to a folder of your own`
}

/**
 * Finds the reason for which a path that has to be read and written cannot be; null when it can, as far as the system says beforehand. A
 * path that is not there is judged by the folder in which it would be made.
 */
export const accessProblem = (path: string, wanted: Wanted = "write"): AccessProblem | null => {
  const found = seen(path)
  const self = process.geteuid?.()
  if (found === null || self === undefined) return null
  const { path: at, stat } = found
  const whole = resolve(path)
  if (at !== whole && !stat.isDirectory()) {
    return { path: at, reason: `it is a file, and a folder is needed there for ${path}; move it away, or set DATA_DIR` }
  }
  const error = may(at, needed(stat, wanted))
  if (error === null) return null
  if (error.code === "EROFS") {
    return {
      path: at,
      reason:
        "its file system is read-only; mount it for writing (in a container: a volume without ':ro'), or set DATA_DIR to a folder that can be written"
    }
  }
  return error.code === "EACCES" || error.code === "EPERM" ? { path: at, reason: words(at, stat, self) } : null
}

/** The first problem among several paths that belong together, such as a database with its log and its folder. */
export const firstProblem = (paths: ReadonlyArray<string>, wanted: Wanted = "write"): AccessProblem | null => {
  for (const path of paths) {
    const problem = accessProblem(path, wanted)
    if (problem !== null) return problem
  }
  return null
}

/** Checks whether there is something at the path. Throws the system's error where that cannot be seen. */
export const isThere = (path: string): boolean => {
  if (existsSync(path)) return true
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return false
    throw error
  }
}
