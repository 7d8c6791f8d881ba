/**
 * Recorded sessions: what is captured while one records is written to the database as it comes, in batches, so that a crash costs less than a
 * second of it. One records at a time; what it has when it is stopped, it keeps.
 */
import * as Chunk from "effect/Chunk"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import { makeLane } from "../../kernel/Lane.ts"
import type { IdGen } from "../../platform/IdGen.ts"
import type { Timer, Timers } from "../../platform/Timers.ts"
import type { StoreError } from "../../store/Errors.ts"
import { isBusy } from "../../store/engine/WriteQueue.ts"
import type { InspectorSessionRepo, StoredRecord, StoredSession } from "../../subjects/inspector/repo.ts"
import { maskRecord } from "./masking/MaskRecord.ts"
import { recordOf, type TrafficRecord } from "../../contract/domain/TrafficRecord.ts"
import type { RingEntry } from "./Ring.ts"

export interface SessionLimits {
  readonly maxRequests: number
  /** Most bytes of all records of a session, before they are encrypted. */
  readonly maxBytes: number
}

export const usualSessionLimits: SessionLimits = { maxRequests: 5_000, maxBytes: 256 * 1_048_576 }

/** A change is on file this long after it was made. */
const writeAfterMs = 400
/** Most bytes of records in one transaction: the database answers no other query meanwhile. */
const maxBatchBytes = 8 * 1_048_576
const recordsPerPage = 50

export class SessionNotFound extends Data.TaggedError("SessionNotFound")<{ readonly id: string }> {}
/** Another session is recording. */
export class SessionRecording extends Data.TaggedError("SessionRecording")<{ readonly id: string | null }> {}
/** Error of a session that does not record. */
export class SessionNotRecording extends Data.TaggedError("SessionNotRecording")<{ readonly id: string }> {}

/** Session as the API shows it. */
export interface Session {
  readonly id: string
  readonly name: string | null
  readonly state: StoredSession["state"]
  readonly startedAt: string
  readonly endedAt: string | null
  readonly requestCount: number
  readonly profile: string
  /** True when it would have been larger than a session may be. */
  readonly truncated: boolean
}

export const sessionOf = (stored: StoredSession): Session => ({
  id: stored.id,
  name: stored.name,
  state: stored.state,
  startedAt: new Date(stored.startedAtMs).toISOString(),
  endedAt: stored.endedAtMs === null ? null : new Date(stored.endedAtMs).toISOString(),
  requestCount: stored.requestCount,
  profile: stored.profile,
  truncated: stored.truncated
})

export interface Sessions {
  /** Hot: id of the session that records; null: none does. */
  readonly recording: () => string | null
  /** Hot: a record was added or has changed. */
  readonly changed: (entry: RingEntry) => void
  readonly start: (name: string | null) => Effect.Effect<Session, SessionRecording | StoreError>
  readonly stop: (id: string) => Effect.Effect<Session, SessionNotFound | SessionNotRecording | StoreError>
  readonly rename: (id: string, name: string | null) => Effect.Effect<Session, SessionNotFound | StoreError>
  readonly list: Effect.Effect<ReadonlyArray<Session>, StoreError>
  readonly get: (id: string) => Effect.Effect<Session, SessionNotFound | StoreError>
  /** One page, oldest first: those behind `after`; `next` null: it was the last. */
  readonly page: (
    id: string,
    after: number
  ) => Effect.Effect<{ readonly records: ReadonlyArray<TrafficRecord>; readonly next: number | null }, StoreError>
  /** All of them, oldest first, a page at a time: for exports. */
  readonly records: (id: string) => Stream.Stream<TrafficRecord, StoreError>
  readonly remove: (id: string) => Effect.Effect<void, SessionNotFound | StoreError>
  /** A session of records that come from elsewhere. */
  readonly add: (name: string | null, records: ReadonlyArray<TrafficRecord>) => Effect.Effect<Session, StoreError>
  /** Writes what is not yet on file. */
  readonly flush: Effect.Effect<void, StoreError>
}

export interface SessionServices {
  readonly repo: typeof InspectorSessionRepo.Service
  readonly timers: typeof Timers.Service
  readonly ids: typeof IdGen.Service
  /** Null: it has left the ring. */
  readonly entry: (id: string) => RingEntry | null
  /** True when the secrets of the records in the ring are masked. */
  readonly isMasked: boolean
}

interface Recording {
  session: StoredSession
  /** Bytes of each record that is on file. */
  readonly sizes: Map<string, number>
  readonly dirty: Set<string>
}

interface Batch {
  readonly records: ReadonlyArray<StoredRecord>
  readonly session: StoredSession
  /** The sizes that its records had on file; undefined: they were not. */
  readonly before: ReadonlyMap<string, number | undefined>
}

const contentOf = (record: TrafficRecord): string => JSON.stringify(record)

/** Parses a record that this module has written, encrypted since. */
const recordIn = (content: string): TrafficRecord => JSON.parse(content)

/** Puts records back that were not written; they are written with the next ones. */
const putBack = ({ dirty, sizes }: Recording, before: Batch["before"]): void => {
  for (const [id, size] of before) {
    dirty.add(id)
    if (size === undefined) sizes.delete(id)
    else sizes.set(id, size)
  }
}

/** Collects the records that fit into one transaction and into the session. */
const batchOf = (
  { entry, isMasked }: SessionServices,
  { maxBytes, maxRequests }: SessionLimits,
  recording: Recording
): Batch => {
  const records: Array<StoredRecord> = []
  const before = new Map<string, number | undefined>()
  let { bytes, truncated } = recording.session
  let batchBytes = 0
  for (const id of recording.dirty) {
    if (batchBytes >= maxBatchBytes) break
    recording.dirty.delete(id)
    const found = entry(id)
    if (found === null) continue
    const record = recordOf(found.head, found.bodies)
    const content = contentOf(isMasked ? record : maskRecord(record))
    const size = Buffer.byteLength(content)
    const known = recording.sizes.get(id)
    const isFull = known === undefined && recording.sizes.size >= maxRequests
    if (isFull || bytes + size - (known ?? 0) > maxBytes) {
      truncated = true
      continue
    }
    before.set(id, known)
    recording.sizes.set(id, size)
    bytes += size - (known ?? 0)
    batchBytes += size
    records.push({ recordId: id, seq: found.seq, content })
  }
  return {
    before,
    records,
    session: { ...recording.session, bytes, truncated, requestCount: recording.sizes.size }
  }
}

/** Writes what the session that records has got. */
const makeWriting = (services: SessionServices, limits: SessionLimits) =>
  Effect.gen(function* () {
    const { repo, timers } = services
    const fork = Runtime.runFork(yield* Effect.runtime())
    const oneAtATime = makeLane(1).inTurn
    const active: { current: Recording | null } = { current: null }
    let timer: Timer | null = null

    const writeAll = Effect.gen(function* () {
      const recording = active.current
      if (recording === null) return
      while (recording.dirty.size > 0) {
        const { before, records, session } = batchOf(services, limits, recording)
        if (records.length > 0 || session.truncated !== recording.session.truncated) {
          yield* Effect.tapError(repo.save(session, records, timers.nowMs()), () =>
            Effect.sync(() => putBack(recording, before))
          )
        }
        recording.session = session
        yield* Effect.yieldNow()
      }
    })
    const flush = oneAtATime(writeAll)

    const schedule = (): void => {
      timer ??= timers.after(writeAfterMs, () => {
        timer = null
        fork(
          Effect.catchAll(flush, (error) =>
            Effect.logError("A session of the traffic inspector was not written.", error).pipe(
              Effect.zipRight(Effect.sync(() => (isBusy(error) ? schedule() : undefined)))
            )
          )
        )
      })
    }

    const stopTimer = (): void => {
      timer?.cancel()
      timer = null
    }

    return { flush, active, oneAtATime, schedule, stopTimer, writeAll }
  })

type Writing = Effect.Effect.Success<ReturnType<typeof makeWriting>>

/** Begins, ends and changes sessions, one change at a time. */
const makeChanges = ({ ids, repo, timers }: SessionServices, { active, oneAtATime, stopTimer, writeAll }: Writing) => {
  const start = Effect.fn("Sessions.start")((name: string | null) =>
    Effect.gen(function* () {
      if (active.current !== null) return yield* new SessionRecording({ id: active.current.session.id })
      const startedAtMs = timers.nowMs()
      const session: StoredSession = {
        id: ids.next(startedAtMs),
        name,
        state: "recording",
        profile: "all",
        startedAtMs,
        endedAtMs: null,
        requestCount: 0,
        bytes: 0,
        truncated: false
      }
      if (!(yield* repo.insert(session))) return yield* new SessionRecording({ id: null })
      active.current = { session, sizes: new Map(), dirty: new Set() }
      return sessionOf(session)
    }).pipe(oneAtATime)
  )

  const stored = Effect.fnUntraced(function* (id: string) {
    if (active.current?.session.id === id) return active.current.session
    const found = yield* repo.get(id)
    return found ?? (yield* new SessionNotFound({ id }))
  })

  const stop = Effect.fn("Sessions.stop")((id: string) =>
    Effect.gen(function* () {
      const recording = active.current
      if (recording === null || recording.session.id !== id) {
        yield* stored(id)
        return yield* new SessionNotRecording({ id })
      }
      stopTimer()
      yield* writeAll
      const session: StoredSession = { ...recording.session, state: "saved", endedAtMs: timers.nowMs() }
      yield* repo.update(session)
      active.current = null
      return sessionOf(session)
    }).pipe(oneAtATime)
  )

  const rename = Effect.fn("Sessions.rename")((id: string, name: string | null) =>
    Effect.gen(function* () {
      const session = { ...(yield* stored(id)), name }
      yield* repo.update(session)
      if (active.current?.session.id === id) active.current.session = session
      return sessionOf(session)
    }).pipe(oneAtATime)
  )

  const remove = Effect.fn("Sessions.remove")((id: string) =>
    Effect.gen(function* () {
      if (active.current?.session.id === id) {
        stopTimer()
        active.current = null
      }
      if (!(yield* repo.remove(id))) yield* new SessionNotFound({ id })
    }).pipe(oneAtATime)
  )

  return { remove, rename, start, stop, stored }
}

const makeAdd = ({ ids, repo, timers }: SessionServices, { maxBytes, maxRequests }: SessionLimits) =>
  Effect.fn("Sessions.add")(function* (name: string | null, records: ReadonlyArray<TrafficRecord>) {
    const nowMs = timers.nowMs()
    const id = ids.next(nowMs)
    let bytes = 0
    let requestCount = 0
    let truncated = records.length > maxRequests
    const session = (): StoredSession => ({
      id,
      name,
      state: "saved",
      profile: "all",
      startedAtMs: nowMs,
      endedAtMs: nowMs,
      requestCount,
      bytes,
      truncated
    })
    yield* repo.insert(session())
    let batch: Array<StoredRecord> = []
    let batchBytes = 0
    const write = Effect.suspend(() => {
      const saved = batch
      batch = []
      batchBytes = 0
      return Effect.zipRight(repo.save(session(), saved, nowMs), Effect.yieldNow())
    })
    for (const [at, record] of records.slice(0, maxRequests).entries()) {
      const content = contentOf({ ...record, sessionId: id })
      const size = Buffer.byteLength(content)
      if (bytes + size > maxBytes) {
        truncated = true
        break
      }
      batch.push({ recordId: record.id, seq: at + 1, content })
      batchBytes += size
      bytes += size
      requestCount += 1
      if (batchBytes >= maxBatchBytes) yield* write
    }
    yield* write
    return sessionOf(session())
  })

export const makeSessions = (services: SessionServices, limits: SessionLimits = usualSessionLimits) =>
  Effect.gen(function* () {
    const { repo } = services
    const writing = yield* makeWriting(services, limits)
    const { flush, active, schedule, stopTimer } = writing
    const { remove, rename, start, stop, stored } = makeChanges(services, writing)

    yield* Effect.catchAll(repo.interrupt, (error) =>
      Effect.logWarning("Sessions of the traffic inspector that a crash ended could not be closed.", error)
    )

    const page: Sessions["page"] = (id, after) =>
      Effect.map(repo.records(id, after, recordsPerPage), ({ last, records }) => ({
        records: records.map(({ content }) => recordIn(content)),
        next: last
      }))

    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        stopTimer()
        return active.current === null ? Effect.void : Effect.ignoreLogged(Effect.zipRight(flush, repo.interrupt))
      })
    )

    const sessions: Sessions = {
      recording: () => active.current?.session.id ?? null,
      changed: ({ head }) => {
        if (active.current === null || head.sessionId !== active.current.session.id) return
        active.current.dirty.add(head.id)
        schedule()
      },
      start,
      stop,
      rename,
      list: Effect.map(repo.list, (all) =>
        all.map((session) =>
          sessionOf(
            active.current !== null && session.id === active.current.session.id ? active.current.session : session
          )
        )
      ),
      get: (id) => Effect.map(stored(id), sessionOf),
      page,
      records: (id) =>
        Stream.paginateChunkEffect(0, (after) =>
          Effect.map(page(id, after), ({ next, records }) => [Chunk.fromIterable(records), Option.fromNullable(next)])
        ),
      remove,
      add: makeAdd(services, limits),
      flush
    }
    return sessions
  })
