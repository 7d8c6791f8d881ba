/**
 * The files of a plugin: only those in its own data folder. Paths are relative and without `..`; every folder on the way is checked to be in the
 * data folder by its real path, and the last step is opened without following a link. A plugin can make no links itself.
 */
import { constants } from "node:fs"
import { lstat, mkdir, open, readdir, realpath, rename, rm } from "node:fs/promises"
import { dirname, join, sep } from "node:path"
import * as Effect from "effect/Effect"
import { makeLane } from "../../../../kernel/Lane.ts"
import type { JsonObject } from "../../../../wire/json/Json.ts"
import { fileLimits } from "../Limits.ts"
import { HostRefusal, type HostResult, refusal } from "./HostCalls.ts"

type Operation = (args: JsonObject) => Effect.Effect<HostResult, HostRefusal>

export interface FileOperations {
  readonly "fs.readFile": Operation
  readonly "fs.readdir": Operation
  readonly "fs.stat": Operation
  readonly "fs.writeFile": Operation
  readonly "fs.mkdir": Operation
  readonly "fs.rm": Operation
}

/** Pattern of a file that is being written: readers and listings do not see it. */
const unfinished = /^\.writing-/

/** The steps of a path; null: it may not be used. */
export const stepsOf = (path: unknown): ReadonlyArray<string> | null => {
  if (typeof path !== "string" || path.length > fileLimits.pathChars) return null
  // A backslash and a colon mean something on some systems.
  // oxlint-disable-next-line no-control-regex -- a NUL ends a path
  if (/[\0\\:]/.test(path) || path.startsWith("/")) return null
  const steps = path.split("/").filter((step) => step !== "" && step !== ".")
  return steps.some((step) => step === ".." || unfinished.test(step) || step.length > 200) ? null : steps
}

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : "EIO"

const meanings: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EEXIST: "there is a file of that name",
  ENOTDIR: "it is no folder",
  EISDIR: "it is a folder",
  ENOTEMPTY: "the folder is not empty",
  ELOOP: "it is a link"
}

/** An error of the system, without the machine's paths. */
const problemOf = (error: unknown): HostRefusal => {
  if (error instanceof HostRefusal) return error
  const code = codeOf(error)
  return refusal(`${code}: ${meanings[code] ?? "it could not be done"}`, code)
}

const denied = () => refusal("EACCES: the path does not lead to a place in the plugin's data folder", "EACCES")

const rootOf = async (folder: string): Promise<string> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return realpath(folder)
}

/** The real path of a folder in the data folder. */
const folderOf = async (folder: string, steps: ReadonlyArray<string>): Promise<string> => {
  const base = await rootOf(folder)
  const real = await realpath(join(base, ...steps))
  if (real !== base && !real.startsWith(base + sep)) throw denied()
  return real
}

/** Finds the place of the last step, whose folder exists. It may be missing, but is no link. */
const placeOf = async (
  folder: string,
  path: unknown
): Promise<{ readonly place: string; readonly isRoot: boolean }> => {
  const steps = stepsOf(path)
  if (steps === null) throw denied()
  if (steps.length === 0) return { place: await folderOf(folder, []), isRoot: true }
  const place = join(await folderOf(folder, steps.slice(0, -1)), steps.at(-1) ?? "")
  const found = await lstat(place).catch(() => null)
  if (found !== null && !found.isFile() && !found.isDirectory()) throw denied()
  // A second name of the same file may be anywhere.
  if (found?.isFile() === true && found.nlink > 1) throw denied()
  return { place, isRoot: false }
}

/** Bytes and entries of the whole folder. */
const usedIn = async (folder: string): Promise<{ readonly bytes: number; readonly entries: number }> => {
  let bytes = 0
  let entries = 0
  const waiting = [await rootOf(folder)]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true })) {
      entries += 1
      if (entries > fileLimits.entries) return { bytes, entries }
      const path = join(at, entry.name)
      if (entry.isDirectory()) waiting.push(path)
      else bytes += (await lstat(path).catch(() => null))?.size ?? 0
    }
  }
  return { bytes, entries }
}

const withFile = async <A>(
  place: string,
  run: (handle: Awaited<ReturnType<typeof open>>) => Promise<A>
): Promise<A> => {
  const handle = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return await run(handle)
  } finally {
    await handle.close()
  }
}

const readFile = async (folder: string, { encoding, path }: JsonObject): Promise<string> => {
  const { place } = await placeOf(folder, path)
  return withFile(place, async (handle) => {
    const facts = await handle.stat()
    if (facts.isDirectory()) throw refusal("EISDIR: it is a folder", "EISDIR")
    if (!facts.isFile() || facts.nlink > 1) throw denied()
    if (facts.size > fileLimits.fileBytes) {
      throw refusal(`EFBIG: the file is larger than ${fileLimits.fileBytes} bytes, the limit`, "EFBIG")
    }
    const bytes = Buffer.alloc(facts.size)
    const { bytesRead } = await handle.read(bytes, 0, facts.size, 0)
    return bytes.subarray(0, bytesRead).toString(encoding === "base64" ? "base64" : "utf8")
  })
}

/** Writes beside it and then renames, so that a reader never sees half of it. */
const replace = async (place: string, bytes: Buffer): Promise<void> => {
  const fresh = join(dirname(place), `.writing-${process.pid}`)
  try {
    const handle = await open(
      fresh,
      constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW,
      0o600
    )
    try {
      await handle.writeFile(bytes)
    } finally {
      await handle.close()
    }
    await rename(fresh, place)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
}

const writeFile = async (folder: string, { data, encoding, path }: JsonObject): Promise<void> => {
  const { isRoot, place } = await placeOf(folder, path)
  if (isRoot) throw refusal("EISDIR: it is a folder", "EISDIR")
  if (typeof data !== "string") throw refusal("The data must be a text", "EINVAL", "TypeError")
  const bytes = Buffer.from(data, encoding === "base64" ? "base64" : "utf8")
  if (bytes.length > fileLimits.fileBytes) {
    throw refusal(`EFBIG: a file has ${fileLimits.fileBytes} bytes at most`, "EFBIG")
  }
  const before = await lstat(place).catch(() => null)
  if (before?.isDirectory() === true) throw refusal("EISDIR: it is a folder", "EISDIR")
  const now = await usedIn(folder)
  if (now.entries >= fileLimits.entries) throw refusal(`ENOSPC: more than ${fileLimits.entries} files`, "ENOSPC")
  if (now.bytes - (before?.size ?? 0) + bytes.length > fileLimits.folderBytes) {
    throw refusal(`ENOSPC: all files together have ${fileLimits.folderBytes} bytes at most`, "ENOSPC")
  }
  await replace(place, bytes)
}

/** Makes the folders on the way too, one after the other, so that each is checked. */
const makeFolder = async (folder: string, { path }: JsonObject): Promise<void> => {
  const steps = stepsOf(path)
  if (steps === null || steps.length > 32) throw denied()
  const { entries } = await usedIn(folder)
  if (entries + steps.length > fileLimits.entries)
    throw refusal(`ENOSPC: more than ${fileLimits.entries} files`, "ENOSPC")
  for (let count = 1; count <= steps.length; count += 1) {
    const { place } = await placeOf(folder, steps.slice(0, count).join("/"))
    await mkdir(place).catch(async (error: unknown) => {
      if (codeOf(error) !== "EEXIST" || !(await lstat(place)).isDirectory()) throw error
    })
  }
}

const remove = async (folder: string, { path, recursive }: JsonObject): Promise<void> => {
  const { isRoot, place } = await placeOf(folder, path)
  if (isRoot) throw denied()
  await lstat(place)
  await rm(place, { recursive: recursive === true })
}

const list = async (folder: string, { path }: JsonObject): Promise<ReadonlyArray<string>> => {
  const steps = stepsOf(path)
  if (steps === null) throw denied()
  const names = await readdir(await folderOf(folder, steps))
  return names.filter((name) => !unfinished.test(name)).slice(0, fileLimits.entries)
}

const stat = async (folder: string, { path }: JsonObject) => {
  const { place } = await placeOf(folder, path)
  const facts = await lstat(place)
  return { kind: facts.isDirectory() ? "directory" : "file", size: facts.size, mtimeMs: Math.round(facts.mtimeMs) }
}

export const makeFiles = (folder: string): FileOperations => {
  // Two writes at once would both find enough space.
  const writing = makeLane(1)

  const operation =
    (run: (folder: string, args: JsonObject) => Promise<HostResult["value"] | void>): Operation =>
    (args) =>
      Effect.tryPromise({ try: () => run(folder, args), catch: problemOf }).pipe(
        Effect.map((value): HostResult => ({ value: value ?? null, blob: null }))
      )
  const alone =
    (run: Operation): Operation =>
    (args) =>
      // An interrupted write would leave its half behind.
      writing.inTurn(Effect.uninterruptible(run(args)))

  return {
    "fs.readFile": operation(readFile),
    "fs.readdir": operation(list),
    "fs.stat": operation(stat),
    "fs.writeFile": alone(operation(writeFile)),
    "fs.mkdir": alone(operation(makeFolder)),
    "fs.rm": alone(operation(remove))
  }
}
