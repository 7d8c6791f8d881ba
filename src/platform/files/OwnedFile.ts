/** Files with secrets of the user: read once, from one descriptor, and only where other users can neither read nor write them. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs"

/** `problem` continues a sentence that begins with the file's name. */
export class OwnedFileRefused extends Data.TaggedError("OwnedFileRefused")<{
  readonly file: string
  readonly problem: string
  /** True when there is no such file. */
  readonly isMissing: boolean
}> {}

const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "unknown")

const othersMay = 0o077

const readNow = (file: string, maxBytes: number): string => {
  const refused = (problem: string, isMissing = false) => new OwnedFileRefused({ file, problem, isMissing })
  let descriptor: number
  try {
    // A pipe in its place must not hold the command up.
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    const code = codeOf(error)
    if (code === "ENOENT" || code === "ENOTDIR") throw refused("is not there", true)
    throw refused(code === "EACCES" ? "may not be read by this user" : `cannot be read (${code})`)
  }
  try {
    const { mode, size, uid } = fstatSync(descriptor)
    const self = process.getuid?.()
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw refused("is no plain file")
    if (self !== undefined && uid !== self) throw refused(`belongs to another user (id ${uid}, and you are ${self})`)
    if (self !== undefined && (mode & othersMay) !== 0) {
      throw refused(`is open to other users (mode 0${(mode & 0o777).toString(8)}): chmod 600 it first`)
    }
    if (size > maxBytes) throw refused(`is larger than ${maxBytes} bytes`)
    const bytes = Buffer.alloc(size)
    return bytes.toString("utf8", 0, readSync(descriptor, bytes))
  } finally {
    closeSync(descriptor)
  }
}

/** The text of a file of this user that others can neither read nor write. */
export const readOwned = (file: string, maxBytes: number): Effect.Effect<string, OwnedFileRefused> =>
  Effect.try({
    try: () => readNow(file, maxBytes),
    catch: (error) =>
      error instanceof OwnedFileRefused
        ? error
        : new OwnedFileRefused({ file, problem: `cannot be read (${codeOf(error)})`, isMissing: false })
  })
