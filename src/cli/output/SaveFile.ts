/** Writing what was fetched: to a file, which appears when it is whole, or to standard output. */
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import type { Stats } from "node:fs"
import { access, constants, link, open, realpath, rename, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { BadArgument, type CliFailure, CommandFailed } from "../Failure.ts"
import { Stdout } from "./Stdout.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

/** Destination of bytes. */
export type Sink = (piece: Uint8Array) => Effect.Effect<void, CliFailure>

const cannotWrite = (path: string) => (error: unknown) =>
  new CommandFailed({
    message: `'${path}' cannot be written: ${asSentence(error instanceof Error ? error.message : String(error))}`,
    hint: "Check the folder, its permissions and the room on the disk."
  })

const onDisk = <A>(path: string, run: () => Promise<A>): Effect.Effect<A, CommandFailed> =>
  Effect.tryPromise({ try: run, catch: cannotWrite(path) })

const exists = (path: string) =>
  new BadArgument({
    message: `'${path}' is there already.`,
    hint: "Give another name with -o, or --force to replace it."
  })

const statOf = (path: string): Promise<Stats | null> => stat(path).catch(() => null)

/** Error codes of file systems without hard links. */
const noLinks: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "ENOSYS", "EOPNOTSUPP", "EMLINK"])

/** Gives the finished file its name; without `force` not where another has appeared meanwhile. */
const place = async (from: string, path: string, force: boolean): Promise<boolean> => {
  if (force) {
    await rename(from, path)
    return true
  }
  try {
    await link(from, path)
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : ""
    if (code === "EEXIST") return false
    if (!noLinks.has(code)) throw error
    await rename(from, path)
    return true
  }
  await rm(from, { force: true })
  return true
}

/** Devices and pipes are written to; they are no files that could be replaced. */
const toDevice = <A, E, R>(path: string, work: (sink: Sink) => Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    onDisk(path, () => open(path, "w")),
    (handle) => work((piece) => Effect.asVoid(onDisk(path, () => handle.writeFile(piece)))),
    (handle) => Effect.promise(() => handle.close().catch(() => {}))
  )

export interface Destination {
  /** `-` is standard output. */
  readonly path: string
  /** The name within `path` when that is a folder. */
  readonly name: string
  readonly force: boolean
}

/**
 * Finds the path of the file to write, with the one that is there; null for standard output. Fails where `save` would,
 * because of what is there already.
 */
const whereTo = ({ force, name, path: given }: Destination) =>
  Effect.gen(function* () {
    if (given === "-") return null
    const isFolder = yield* Effect.promise(async () => (await statOf(given))?.isDirectory() ?? false)
    const named = isFolder ? join(given, name) : given
    const there = yield* Effect.promise(() => statOf(named))
    if (there?.isDirectory() === true) return yield* new BadArgument({ message: `'${named}' is a folder.` })
    if (there?.isFile() === true && !force) return yield* exists(named)
    return { named, there }
  })

/** Checks, before something is paid for, that it could be saved. */
export const refuseUnwritable = (destination: Destination): Effect.Effect<void, CliFailure> =>
  Effect.flatMap(whereTo(destination), (where) =>
    where === null || where.there?.isFile() === false
      ? Effect.void
      : onDisk(where.named, () => access(dirname(where.named), constants.W_OK))
  )

/**
 * Does work that writes somewhere, and gives its result with the path of the file; null for standard output. A file is written under a
 * temporary name beside its own, and gets that when the work has succeeded. What is there already stays, unless `force`.
 */
export const save = <A, E, R>(
  destination: Destination,
  work: (sink: Sink) => Effect.Effect<A, E, R>
): Effect.Effect<readonly [A, string | null], E | CliFailure, R> =>
  Effect.gen(function* () {
    const { force } = destination
    const where = yield* whereTo(destination)
    if (where === null) {
      const stdout = yield* Stdout
      return [yield* work((piece) => stdout.write(piece)), null] as const
    }
    const { named, there } = where
    if (there !== null && !there.isFile()) return [yield* toDevice(named, work), named] as const
    // A link stays one: what it leads to is replaced.
    const path = there === null ? named : yield* onDisk(named, () => realpath(named))
    // Its own name, because another end may make that of the file too long.
    const temporary = join(dirname(path), `.${randomUUID()}.part`)
    const result = yield* Effect.acquireUseRelease(
      onDisk(path, () => open(temporary, "wx")),
      (handle) =>
        Effect.gen(function* () {
          const value = yield* work((piece) => Effect.asVoid(onDisk(path, () => handle.writeFile(piece))))
          yield* onDisk(path, () => handle.sync())
          if (!(yield* onDisk(path, () => place(temporary, path, force)))) return yield* exists(named)
          return value
        }),
      (handle) =>
        Effect.promise(async () => {
          await handle.close().catch(() => {})
          await rm(temporary, { force: true }).catch(() => {})
        })
    )
    return [result, named] as const
  })
