/**
 * The files of the usage journal: lines (`UsageLines`), appended with a plain write, which survives when the process is killed. A
 * segment takes rows until it is closed and is removed once they are in the table. Synchronous, because the request path writes here.
 */
import { closeSync, openSync, readdirSync, readFileSync, unlinkSync, writeSync } from "node:fs"
import { basename, join } from "node:path"
import { type ReadLines, readLines } from "./UsageLines.ts"

export interface Segments {
  /** Writes lines to the open segment. Throws when the system refuses; they then do not count as written. */
  readonly append: (lines: string) => void
  /** Closes the open segment and returns its path; null when there is none. The next line begins another. */
  readonly rotate: () => string | null
  /** Removes a closed segment. If that fails it is read again at the next start, which does no harm. */
  readonly remove: (path: string) => void
}

const extension = ".jsonl"

const quietly = (run: () => void): void => {
  try {
    run()
  } catch {
    // Best effort: the rows are safe even if closing or removing fails.
  }
}

/** The number in the name of a segment. */
export const numberOf = (path: string): number => Number.parseInt(basename(path), 10)

/** Segments in a folder that has none with a number above `opened`. */
export const inFolder = (folder: string, opened = 0): Segments => {
  let last = opened
  let current: { readonly path: string; readonly descriptor: number } | null = null
  let torn = false

  const begin = () => {
    const path = join(folder, `${String(last + 1).padStart(10, "0")}${extension}`)
    const descriptor = openSync(path, "ax", 0o600)
    last += 1
    torn = false
    return { path, descriptor }
  }

  return {
    append: (lines) => {
      current ??= begin()
      // After a partial write, a line break keeps the rest of that line apart from these.
      const text = torn ? `\n${lines}\n` : `${lines}\n`
      torn = true
      if (writeSync(current.descriptor, text) !== Buffer.byteLength(text))
        throw new Error("only part of it was written")
      torn = false
    },
    rotate: () => {
      if (current === null) return null
      const { descriptor, path } = current
      current = null
      quietly(() => closeSync(descriptor))
      return path
    },
    remove: (path) => quietly(() => unlinkSync(path))
  }
}

/** No files: what is not yet in the table is lost with the process. For tests. */
export const none: Segments = { append: () => {}, rotate: () => null, remove: () => {} }

/** Paths of the segments that an ended process left in `folder`, oldest first. */
export const leftovers = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder)
    .filter((name) => name.endsWith(extension))
    .sort()
    .map((name) => join(folder, name))

/** The rows of a segment. */
export const read = (path: string): ReadLines =>
  readLines(
    readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "")
  )
