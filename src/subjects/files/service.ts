/** Uploaded files of API keys: their rows and bodies together, quotas, and the removal of what has expired. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { claimed } from "../../plane/state/Claims.ts"
import type { Principal } from "../keys/entity.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { filesFolder } from "../../store/DataFolder.ts"
import type { StoreError } from "../../store/Errors.ts"
import { FileRepo, type FileRow } from "./repo.ts"
import * as FileBodies from "./FileBodies.ts"
import type { ListQuery } from "./rules.ts"

/** No file of this id is the caller's. */
export class FileNotFound extends Data.TaggedError("FileNotFound")<{ readonly id: string }> {}

/** The files of the caller would have more bytes together than they may. */
export class FileQuotaExceeded extends Data.TaggedError("FileQuotaExceeded")<{ readonly quotaBytes: number }> {}

/** A file on its way. Ended by `finish` or `discard`, of which the first counts. */
export interface Upload {
  /** False: wait for `onDrain`. Null: the quota is used up; nothing was written. */
  readonly write: (chunk: Uint8Array) => boolean | null
  readonly onDrain: (listener: () => void) => void
  readonly onFailure: (listener: (cause: unknown) => void) => void
  readonly finish: (about: {
    readonly filename: string
    readonly purpose: string
    readonly keptMs: number | null
  }) => Effect.Effect<FileRow, StoreError | FileQuotaExceeded>
  readonly discard: Effect.Effect<void>
}

/** Returns the owner of the files that a caller sees: a key sees its own, all callers without a key see the same. */
export const ownerOf = (principal: Principal): string => (principal._tag === "Key" ? principal.key.id : "")

/** A file that is open for reading. */
export interface OpenFile {
  readonly row: FileRow
  readonly handle: Effect.Effect.Success<ReturnType<FileBodies.FileBodies["open"]>>
}

export class Files extends Context.Tag("gateway/subjects/files/Files")<
  Files,
  {
    /** Returns the number of bytes that the caller may still upload. */
    readonly room: (owner: string) => Effect.Effect<number, StoreError>
    /**
     * Begins an upload. `roomBytes`: the result of `room`; infinite: regardless of the quota, which it counts for.
     * `id`: where it has to be known before.
     */
    readonly begin: (owner: string, roomBytes: number, id?: string) => Upload
    readonly newId: (nowMs: number) => string
    readonly quotaBytes: () => number
    readonly list: (
      owner: string,
      query: ListQuery
    ) => Effect.Effect<{ readonly files: ReadonlyArray<FileRow>; readonly hasMore: boolean }, StoreError>
    readonly find: (owner: string, id: string) => Effect.Effect<FileRow, StoreError | FileNotFound>
    readonly remove: (owner: string, id: string) => Effect.Effect<void, StoreError | FileNotFound>
    /** The file, open for reading; the caller closes the handle. */
    readonly open: (owner: string, id: string) => Effect.Effect<OpenFile, StoreError | FileNotFound>
    /** Removes what has expired, bodies without a row, and rows without a body; not when all bodies are missing. */
    readonly sweep: Effect.Effect<void, StoreError>
  }
>() {}

const sweepEvery = "10 minutes"

const services = Effect.all({ config: AppConfig, ids: IdGen, repo: FileRepo, settings: GatewaySettings })
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly clock: Clock.Clock
  readonly bodies: FileBodies.FileBodies
  /** Files on their way, which have no row yet. */
  readonly underWay: Set<string>
  /** Bytes of them, by owner. */
  readonly arriving: Map<string, number>
}

const quotaBytes = ({ settings }: Deps): number => settings.current().files.quotaBytesPerKey

const quotaExceeded = (deps: Deps) => new FileQuotaExceeded({ quotaBytes: quotaBytes(deps) })

const count = ({ arriving }: Deps, owner: string, bytes: number): void => {
  const now = (arriving.get(owner) ?? 0) + bytes
  if (now === 0) arriving.delete(owner)
  else arriving.set(owner, now)
}

const room = Effect.fn("Files.room")(function* (deps: Deps, owner: string) {
  const used = yield* deps.repo.used(owner, yield* Clock.currentTimeMillis)
  return Math.max(0, quotaBytes(deps) - used - (deps.arriving.get(owner) ?? 0))
})

const newId = ({ ids }: Deps, nowMs: number): string => `file-${ids.next(nowMs).replaceAll("-", "")}`

const begin = (deps: Deps, owner: string, roomBytes: number, givenId?: string): Upload => {
  const createdAtMs = deps.clock.unsafeCurrentTimeMillis()
  const id = givenId ?? newId(deps, createdAtMs)
  const mostBytes = (): number => (roomBytes === Infinity ? Number.MAX_SAFE_INTEGER : quotaBytes(deps))
  const body = deps.bodies.begin(id)
  deps.underWay.add(id)
  let bytes = 0
  let isOver = false
  const over = Effect.sync(() => {
    deps.underWay.delete(id)
    count(deps, owner, -bytes)
  })
  const drop = Effect.zipRight(body.discard, over)
  return {
    write: (chunk) => {
      if (bytes + chunk.length > roomBytes) return null
      bytes += chunk.length
      count(deps, owner, chunk.length)
      return body.write(chunk)
    },
    onDrain: body.onDrain,
    onFailure: body.onFailure,
    finish: Effect.fn("Files.finish")(
      function* ({ filename, keptMs, purpose }) {
        isOver = true
        const written = yield* body.finish
        const row: FileRow = {
          id,
          owner,
          filename,
          purpose,
          ...written,
          createdAtMs,
          expiresAtMs: keptMs === null ? null : createdAtMs + keptMs
        }
        if (!(yield* deps.repo.insert(row, mostBytes()))) return yield* quotaExceeded(deps)
        yield* over
        return row
      },
      Effect.tapError(() => drop),
      Effect.uninterruptible
    ),
    discard: Effect.suspend(() => {
      if (isOver) return Effect.void
      isOver = true
      return drop
    })
  }
}

const find = Effect.fn("Files.find")(function* ({ repo }: Deps, owner: string, id: string) {
  const row = yield* repo.find(owner, id, yield* Clock.currentTimeMillis)
  return row ?? (yield* new FileNotFound({ id }))
})

const sweep = ({ bodies, repo, underWay }: Deps) =>
  Effect.gen(function* () {
    yield* repo.removeExpired(yield* Clock.currentTimeMillis)
    // In this order, because uploads go on meanwhile: what is missing on one side was looked for there after the other side had it.
    const before = yield* repo.ids
    const present = new Set(yield* bodies.ids)
    const busy = new Set(underWay)
    const known = new Set(yield* repo.ids)
    // A disk that is not mounted has no bodies at all: nothing is removed on its account.
    if (before.length > 0 && !before.some((id) => present.has(id))) {
      yield* Effect.logError(
        `None of the ${before.length} uploaded files has its body in the data folder's 'files'. Nothing was removed: is a disk missing there?`
      )
      return
    }
    const orphans = [...present].filter((id) => !known.has(id) && !busy.has(id))
    yield* Effect.forEach(orphans, bodies.remove, { discard: true })
    const bodiless = before.filter((id) => known.has(id) && !present.has(id))
    if (bodiless.length === 0) return
    yield* repo.removeAll(bodiless)
    yield* Effect.logWarning(`${bodiless.length} uploaded files have no body on disk any more and were removed.`)
  })

export const make = Effect.gen(function* () {
  const all = yield* services
  const clock = yield* Effect.clock
  const bodies = yield* FileBodies.make(filesFolder(all.config.dataDir))
  const underWay = new Set<string>()
  const arriving = new Map<string, number>()
  const deps: Deps = { ...all, arriving, clock, bodies, underWay }

  return Files.of({
    room: (owner) => room(deps, owner),
    begin: (owner, roomBytes, givenId) => begin(deps, owner, roomBytes, givenId),
    newId: (nowMs) => newId(deps, nowMs),
    quotaBytes: () => quotaBytes(deps),
    find: (owner, id) => find(deps, owner, id),
    list: Effect.fn("Files.list")(function* (owner, query) {
      const nowMs = yield* Clock.currentTimeMillis
      const rows = yield* all.repo.page({ ...query, owner, limit: query.limit + 1, nowMs })
      return { files: rows.slice(0, query.limit), hasMore: rows.length > query.limit }
    }),
    // The row goes first: a crash in between leaves a body without a row, which the next start removes.
    remove: Effect.fn("Files.remove")(function* (owner, id) {
      if (!(yield* all.repo.remove(owner, id))) return yield* new FileNotFound({ id })
      yield* bodies.remove(id)
    }, Effect.uninterruptible),
    open: Effect.fn("Files.open")(function* (owner, id) {
      const row = yield* find(deps, owner, id)
      return { row, handle: yield* bodies.open(id) }
    }),
    sweep: sweep(deps)
  })
})

const swept = Effect.gen(function* () {
  const files = yield* make
  yield* files.sweep
  const again = files.sweep.pipe(
    Effect.catchAll((error) => Effect.logError("Uploaded files could not be swept", error))
  )
  yield* Effect.forkScoped(claimed("files", Effect.schedule(again, Schedule.spaced(sweepEvery))))
  return files
})

export const layer: Layer.Layer<Files, StoreError, AppConfig | FileRepo | GatewaySettings | IdGen> = Layer.scoped(
  Files,
  swept
)
