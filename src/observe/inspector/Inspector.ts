/**
 * The traffic inspector: takes captured traffic, keeps it masked in a bounded ring, and informs watchers. Capturing parts call `begin`,
 * `update` and `finish`, which only queue their facts; the work is done later. Nothing is made before it is needed: without captures there
 * is neither a timer nor a thread.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as AppConfig from "../../platform/AppConfig.ts"
import * as IdGen from "../../platform/IdGen.ts"
import * as Timers from "../../platform/Timers.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as SessionRepo from "../../subjects/inspector/repo.ts"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import { PriceBook } from "../usage/PriceBook.ts"
import type { ClientSocket } from "./Attribution.ts"
import type { CallFacts, RecordEnd, RecordStart, RecordUpdate } from "./CapturedFacts.ts"
import { type Behind, type Intake, makeIntake } from "./Intake.ts"
import { InvalidHar, maxHarBytes, tooLargeHar } from "./exports/HarImport.ts"
import { recordsOfExchanges } from "./Imported.ts"
import { type Feed, type FeedSubscriber, makeFeed } from "./Feed.ts"
import {
  type ContextGroup,
  contextsOf,
  holdsText,
  type InvalidCursor,
  pageOf,
  readCursor,
  type RecordFilter
} from "./Filters.ts"
import { maskUrl } from "./masking/Masking.ts"
import { maskRecord } from "./masking/MaskRecord.ts"
import type { ContentPermission } from "../../domain/ContentPermission.ts"
import { type Head, type Item, itemOf, noBodies, recordOf, type TrafficRecord } from "../../domain/TrafficRecord.ts"
import { Ring, type RingEntry } from "./Ring.ts"
import { makeSessions, type Session, type Sessions } from "./Sessions.ts"
import { type InspectorSettings, readSettings } from "./Settings.ts"
import type { ExchangeReport } from "./work/Exchange.ts"
import { makeWorkThread, type WorkThread } from "./work/WorkThread.ts"

export type { RecordEnd, RecordStart, RecordUpdate } from "./CapturedFacts.ts"

/** Error of a record that does not exist, or was rotated out. */
export class RecordNotFound extends Data.TaggedError("RecordNotFound")<{ readonly id: string }> {}

export { InvalidCursor } from "./Filters.ts"

export interface FinishedListener {
  /** `sent`: the call behind it; null: it is not known. */
  readonly read: (entry: RingEntry, sent: CallFacts | null) => void
  /** Hot: called when its prompt was judged with the rest of it. */
  readonly judged: (id: string, report: ExchangeReport) => void
}

export interface RecordList {
  readonly requests: ReadonlyArray<Item>
  readonly total: number
  readonly nextCursor: string | null
  /** Groups of all that match, where they were asked for. */
  readonly groups?: ReadonlyArray<ContextGroup>
}

export interface ListPage {
  readonly limit: number
  readonly cursor?: string
  /** Attempts of one prompt are one line, which the newest of them stands for. */
  readonly areFolded?: boolean
  readonly hasGroups?: boolean
}

/** A session that is stopped waits so long for records that are on their way: where more and more comes, they never have all arrived. */
const lastRecordsWithin = "1 second"

export class Inspector extends Context.Tag("gateway/observe/inspector/Inspector")<
  Inspector,
  {
    readonly settings: InspectorSettings
    /** Hot: an exchange has begun; its id. Never throws. Buffers are referenced and must not be changed any more. */
    readonly begin: (permission: ContentPermission, start: RecordStart) => string
    /** Hot: more is known of an exchange that has begun. An id that is not known is ignored. Never throws. */
    readonly update: (id: string, update: RecordUpdate) => void
    /** Hot: an exchange is over. An id that is not known is ignored. `sent`: the call behind it, where it is known. Never throws. */
    readonly finish: (id: string, end: RecordEnd, sent?: CallFacts | null) => void
    /** The process that a client's connection belongs to is looked up, and put into the record when it is found. Never throws. */
    readonly attribute: (id: string, socket: ClientSocket) => void
    /** Everything that was captured up to now is in the list. For tests and for callers that read their own call. */
    readonly settled: Effect.Effect<void>
    /** Waits until a record is in the list as it was reported up to now, or a second has passed. */
    readonly listed: (id: string) => Effect.Effect<void>
    readonly list: (filter: RecordFilter, page: ListPage) => Effect.Effect<RecordList, InvalidCursor>
    /** `showSecrets`: as it is kept; what was masked before stays masked. */
    readonly get: (id: string, showSecrets?: boolean) => Effect.Effect<TrafficRecord, RecordNotFound>
    /** Finds an entry as it is stored, for code that works on it. */
    readonly entry: (id: string) => RingEntry | null
    /** Oldest first, as they are now. */
    /** Finds the record of a request of the gateway by the request's id; null: it has none, or no longer. */
    readonly recordOf: (requestId: string) => string | null
    readonly exported: (filter: RecordFilter) => Effect.Effect<Iterable<TrafficRecord>>
    /** All attempts of the prompt of a record, oldest first, itself among them. */
    readonly attempts: (id: string) => ReadonlyArray<Item>
    readonly clear: Effect.Effect<void>
    readonly annotate: (id: string, annotation: string | null) => Effect.Effect<TrafficRecord, RecordNotFound>
    /** Calls back for each exchange that has ended, once it is in the ring, until the returned function is called. */
    readonly onFinished: (listener: FinishedListener) => () => void
    /** The thread for work on bodies; it is started by its first job. */
    readonly thread: () => WorkThread
    readonly subscribe: (subscriber: FeedSubscriber) => () => void
    readonly subscribers: () => number
    readonly sessions: Sessions
    /** A session of the exchanges of an archive. */
    readonly importHar: (bytes: Uint8Array, name: string | null) => Effect.Effect<Session, InvalidHar | StoreError>
    /** Bytes and records in the ring, bytes that wait to be worked on, and since the start exchanges that have ended and those that lost a body. */
    readonly load: () => Behind & {
      readonly entries: number
      readonly bytes: number
      readonly pendingBytes: number
      readonly recorded: number
      readonly bodiesLost: number
    }
  }
>() {}

/** Records in a snapshot of the feed, and the most in one page of the list. */
export const maxSnapshotItems = 1_000

const newestHeads = (ring: Ring, most: number): ReadonlyArray<Head> => {
  const heads: Array<Head> = []
  for (const { head } of ring.newest()) {
    if (heads.push(head) === most) break
  }
  return heads
}

/** Bytes of bodies that are searched for a text before others have their turn. */
const searchedAtOnce = 1_048_576

export interface InspectorOptions {
  /** The thread's file; absent: the program's own. */
  readonly threadFile?: URL
  readonly settings?: InspectorSettings
}

export const makeWith = ({ settings: given, threadFile }: InspectorOptions = {}) =>
  Effect.gen(function* () {
    const { environment } = yield* AppConfig.AppConfig
    const timers = yield* Timers.Timers
    const ids = yield* IdGen.IdGen
    const prices = yield* PriceBook
    const repo = yield* SessionRepo.InspectorSessionRepo
    const read = readSettings(environment)
    const settings = given ?? read.settings
    for (const problem of given === undefined ? read.problems : []) yield* Effect.logWarning(problem)

    const ring = new Ring({ maxEntries: settings.bufferEntries, maxBytes: settings.bufferBytes })
    let thread: WorkThread | null = null
    const workThread = (): WorkThread =>
      (thread ??= threadFile === undefined ? makeWorkThread(timers) : makeWorkThread(timers, undefined, threadFile))

    /** An item goes to lists and the feed, which show no secret whatever is kept. */
    const shownItem = (head: Head): Item => {
      const item = { ...itemOf(head), ...ring.retries.of(head.id) }
      return settings.maskSecrets ? item : { ...item, path: maskUrl(item.path) }
    }

    const feed: Feed = makeFeed(timers, {
      item: (id) => {
        const found = ring.get(id)
        return found === null ? null : shownItem(found.head)
      },
      items: () => newestHeads(ring, maxSnapshotItems).map(shownItem),
      // An attempt that turns out to have failed makes the one after it a retry.
      beside: (id) => ring.retries.last(id),
      behind: () => intake.behind()
    })

    const finished = new Set<FinishedListener>()
    let recorded = 0
    let bodiesLost = 0

    const sessions = yield* makeSessions({
      repo,
      timers,
      ids,
      entry: (id) => ring.get(id),
      isMasked: settings.maskSecrets
    })

    const intake: Intake = makeIntake({
      working: feed.working,
      settings,
      timers,
      thread: workThread,
      newId: () => ids.next(timers.nowMs()),
      sessionId: sessions.recording,
      priceOf: prices.price,
      known: (id) => ring.get(id)?.head ?? null,
      reserve: (id) => ring.reserve(id),
      put: (head, bodies, sent = null) => {
        const before = ring.get(head.id)
        const isNew = before === null
        const entry = ring.set(head, bodies === undefined ? undefined : { ...(before?.bodies ?? noBodies), ...bodies })
        if (entry === null) return
        feed.changed(head.id, isNew)
        sessions.changed(entry)
        if (head.status === "in-flight" || (before !== null && before.head.status !== "in-flight")) return
        recorded += 1
        if (head.bodyEvicted) bodiesLost += 1
        for (const each of finished) each.read(entry, sent)
      },
      putLate: (late, report) => {
        const entry = ring.setLate(late)
        if (entry === null) return
        recorded += 1
        feed.changed(late.id, true)
        if (sessions.recording() !== null) sessions.changed(entry)
        for (const each of finished) each.judged(late.id, report)
      }
    })

    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        intake.close()
        feed.close()
        thread?.close()
      })
    )

    const textMatches = Effect.fnUntraced(function* (filter: RecordFilter) {
      const part = filter.q?.toLowerCase() ?? ""
      const found = new Set<number>()
      let searched = 0
      for (const entry of ring.newest()) {
        if (holdsText(entry, part)) found.add(entry.seq)
        searched += (entry.bodies.requestBody?.length ?? 0) + (entry.bodies.responseBody?.length ?? 0)
        if (searched < searchedAtOnce) continue
        searched = 0
        // Others have their turn.
        yield* Effect.promise(() => new Promise<void>((done) => timers.soon(done)))
      }
      return (entry: RingEntry): boolean => found.has(entry.seq)
    })

    const matcher = (filter: RecordFilter): Effect.Effect<(entry: RingEntry) => boolean> =>
      filter.q === undefined || filter.q === "" ? Effect.succeed(() => true) : textMatches(filter)

    const list = Effect.fn("Inspector.list")(function* (
      filter: RecordFilter,
      { areFolded = false, cursor, hasGroups = false, limit }: ListPage
    ) {
      const before = cursor === undefined ? Number.POSITIVE_INFINITY : yield* readCursor(cursor)
      const matches = yield* matcher(filter)
      const { entries, nextCursor, total } = pageOf(ring, filter, { areFolded, before, limit }, matches)
      const page = { requests: entries.map(({ head }) => shownItem(head)), total, nextCursor }
      return hasGroups ? { ...page, groups: contextsOf(ring, filter, matches) } : page
    })

    const found = (id: string): Effect.Effect<RingEntry, RecordNotFound> => {
      const entry = ring.get(id)
      return entry === null ? new RecordNotFound({ id }) : Effect.succeed(entry)
    }

    const get = (id: string, showSecrets = false): Effect.Effect<TrafficRecord, RecordNotFound> =>
      Effect.map(found(id), ({ bodies, head }) => {
        const record = { ...recordOf(head, bodies), ...ring.retries.of(head.id) }
        return settings.maskSecrets || showSecrets ? record : maskRecord(record)
      })

    const exported = Effect.fn("Inspector.exported")(function* (filter: RecordFilter) {
      const matches = yield* matcher(filter)
      const { entries } = pageOf(ring, filter, { limit: Number.POSITIVE_INFINITY }, matches)
      const ids = entries.map(({ head }) => head.id).toReversed()
      return {
        // Read as they are written, so that bodies are text one at a time.
        *[Symbol.iterator]() {
          for (const id of ids) {
            const entry = ring.get(id)
            if (entry !== null) yield { ...recordOf(entry.head, entry.bodies), ...ring.retries.of(id) }
          }
        }
      }
    })

    const annotate = Effect.fn("Inspector.annotate")(function* (id: string, annotation: string | null) {
      const { head } = yield* found(id)
      const entry = ring.set({ ...head, annotation })
      if (entry === null) return yield* new RecordNotFound({ id })
      feed.changed(id, false)
      sessions.changed(entry)
      return yield* get(id)
    })

    const importHar = Effect.fn("Inspector.importHar")(function* (bytes: Uint8Array, name: string | null) {
      if (bytes.byteLength > maxHarBytes) return yield* tooLargeHar
      const report = yield* Effect.promise(() => workThread().run({ kind: "har", bytes }))
      if (report === null) {
        return yield* new InvalidHar({ reason: "too_large", message: "The file takes too long to read." })
      }
      if ("problem" in report) return yield* new InvalidHar(report.problem)
      const records = yield* Effect.promise(() =>
        recordsOfExchanges(report.exchanges, {
          settings,
          thread: workThread(),
          newId: () => ids.next(timers.nowMs()),
          priceOf: (provider, model) => prices.price(provider, model)
        })
      )
      return yield* sessions.add(name, records)
    })

    const settled = Effect.promise(intake.settled)
    const byRequest = new LruMap<string, string>({ capacity: settings.bufferEntries })
    const noteRequest = (id: string, requestId: string | null | undefined): void => {
      if (id !== "" && requestId !== null && requestId !== undefined) byRequest.set(requestId, id)
    }

    return Inspector.of({
      settings,
      begin: (permission, start) => {
        const id = intake.begin(permission, start)
        noteRequest(id, start.gatewayRequestId)
        return id
      },
      update: (id, update) => {
        noteRequest(id, update.gatewayRequestId)
        intake.update(id, update)
      },
      finish: intake.finish,
      attribute: intake.attribute,
      settled,
      listed: (id) =>
        Effect.asVoid(
          Effect.timeoutOption(
            Effect.promise(() => intake.listed(id)),
            lastRecordsWithin
          )
        ),
      list,
      get,
      entry: (id) => ring.get(id),
      recordOf: (requestId) => {
        const id = byRequest.peek(requestId)
        return id !== undefined && ring.get(id) !== null ? id : null
      },
      exported,
      attempts: (id) =>
        ring.retries.together(id).flatMap((each) => {
          const entry = ring.get(each)
          return entry === null ? [] : [shownItem(entry.head)]
        }),
      clear: Effect.sync(() => {
        ring.clear()
        feed.cleared()
      }),
      annotate,
      onFinished: (listener) => {
        finished.add(listener)
        return () => void finished.delete(listener)
      },
      thread: workThread,
      subscribe: feed.subscribe,
      subscribers: feed.subscribers,
      // What was captured before the stop is in the session, if it is still on its way into the list too.
      sessions: {
        ...sessions,
        stop: (id) => Effect.zipRight(Effect.timeoutOption(settled, lastRecordsWithin), sessions.stop(id))
      },
      importHar,
      load: () => ({
        entries: ring.size,
        bytes: ring.bytes,
        pendingBytes: intake.pendingBytes(),
        recorded,
        bodiesLost,
        ...intake.behind()
      })
    })
  })

export const layerWith = (options: InspectorOptions) => Layer.scoped(Inspector, makeWith(options))

export const layer: Layer.Layer<
  Inspector,
  never,
  AppConfig.AppConfig | Timers.Timers | IdGen.IdGen | PriceBook | SessionRepo.InspectorSessionRepo
> = layerWith({})

/** Checks whether a cursor can be read, for callers that check before they ask. */
export const isCursor = (cursor: string): boolean => Either.isRight(readCursor(cursor))
