/**
 * Bodies of files in their folder. A body is written under a temporary name and gets its own when it is on disk; only then comes its row.
 * So whatever has no row was never finished, and is removed when the gateway starts.
 */
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { createWriteStream, type WriteStream } from "node:fs"
import { mkdir, open, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { StoreError } from "../../store/Errors.ts"

const temporary = ".part"

/** Destination of a body. */
export interface BodySink {
  /** False: wait for `onDrain` before more is written. */
  readonly write: (chunk: Uint8Array) => boolean
  readonly onDrain: (listener: () => void) => void
  readonly onFailure: (listener: (cause: unknown) => void) => void
  /** Brings the body to disk under its own name. */
  readonly finish: Effect.Effect<{ readonly bytes: number; readonly sha256: string }, StoreError>
  /** Removes what was written. */
  readonly discard: Effect.Effect<void>
}

const onDisk = <A>(operation: string, run: () => Promise<A>): Effect.Effect<A, StoreError> =>
  Effect.tryPromise({ try: run, catch: (cause) => new StoreError({ operation, cause }) })

const closed = (stream: WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.closed) resolve()
    else stream.once("close", resolve).destroy()
  })

/** Closing brings the bytes to disk first. */
const ended = (stream: WriteStream): Promise<void> =>
  new Promise((resolve, reject) => {
    if (stream.errored !== null) return reject(stream.errored)
    stream.once("error", reject)
    stream.once("close", () => resolve())
    stream.end()
  })

/** Names are on disk when their folder is. */
const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, "r")
  await handle.sync().finally(() => handle.close())
}

export interface FileBodies {
  readonly begin: (id: string) => BodySink
  readonly open: (id: string) => Effect.Effect<Awaited<ReturnType<typeof open>>, StoreError>
  readonly remove: (id: string) => Effect.Effect<void>
  /** Ids of the bodies that are there, whole or not. */
  readonly ids: Effect.Effect<ReadonlyArray<string>, StoreError>
}

export const make = (folder: string): Effect.Effect<FileBodies, StoreError> =>
  Effect.gen(function* () {
    yield* onDisk("FileBodies.make", () => mkdir(folder, { recursive: true, mode: 0o700 }))

    const removed = (id: string): Promise<void> =>
      Promise.all([rm(join(folder, id), { force: true }), rm(join(folder, id + temporary), { force: true })]).then(
        () => undefined,
        // The next sweep tries again.
        () => undefined
      )

    const begin = (id: string): BodySink => {
      const path = join(folder, id)
      const out = createWriteStream(path + temporary, {
        flags: "wx",
        mode: 0o600,
        flush: true,
        highWaterMark: 1_048_576
      })
      const hash = createHash("sha256")
      let bytes = 0
      let failure: unknown = null
      let failed: (cause: unknown) => void = () => {}
      out.on("error", (cause) => {
        failure = cause
        failed(cause)
      })
      return {
        write: (chunk) => {
          bytes += chunk.length
          hash.update(chunk)
          return out.write(chunk)
        },
        onDrain: (listener) => void out.on("drain", listener),
        onFailure: (listener) => {
          failed = listener
          if (failure !== null) listener(failure)
        },
        finish: onDisk("FileBodies.finish", async () => {
          await ended(out)
          await rename(path + temporary, path)
          await syncFolder(folder)
          return { bytes, sha256: hash.digest("hex") }
        }),
        discard: Effect.promise(async () => {
          await closed(out)
          await removed(id)
        })
      }
    }

    return {
      begin,
      open: (id) => onDisk("FileBodies.open", () => open(join(folder, id), "r")),
      remove: (id) => Effect.promise(() => removed(id)),
      ids: Effect.map(
        onDisk("FileBodies.ids", () => readdir(folder)),
        (names) => [
          ...new Set(names.map((name) => (name.endsWith(temporary) ? name.slice(0, -temporary.length) : name)))
        ]
      )
    }
  })
