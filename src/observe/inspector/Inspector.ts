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
import { type Behind, type Intake, type IntakeServices, makeIntake } from "./Intake.ts"
import { InvalidHar, maxHarBytes, tooLargeHar } from "./exports/HarImport.ts"
import { recordsOfExchanges } from "./Imported.ts"
import { type Feed, type FeedSource, type FeedSubscriber, makeFeed } from "./Feed.ts"
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
import type { ContentPermission } from "../../contract/domain/ContentPermission.ts"
import {
  type Head,
  type Item,
  itemOf,
  noBodies,
  recordOf,
  type TrafficRecord
} from "../../contract/domain/TrafficRecord.ts"
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
    /** Finds the record of a request of the gateway by the request's id; null: it has none, or no longer. */
    readonly recordOf: (requestId: string) => string | null
    /** Oldest first, as they are now. */
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

/** The records in the ring, and those who are informed when they change. */
class Records {
  readonly ring: Ring
  readonly feed: Feed
  readonly #isMasked: boolean
  readonly #sessions: Pick<Sessions, "changed" | "recording">
  readonly #finished = new Set<FinishedListener>()
  #recorded = 0
  #bodiesLost = 0

  constructor(
    ring: Ring,
    sessions: Pick<Sessions, "changed" | "recording">,
    isMasked: boolean,
    makeFeedOf: (source: Omit<FeedSource, "behind">) => Feed
  ) {
    this.ring = ring
    this.#sessions = sessions
    this.#isMasked = isMasked
    this.feed = makeFeedOf({
      item: (id) => {
        const found = ring.get(id)
        return found === null ? null : this.shownItem(found.head)
      },
      items: () => newestHeads(ring, maxSnapshotItems).map((head) => this.shownItem(head)),
      // An attempt that turns out to have failed makes the one after it a retry.
      beside: (id) => ring.retries.last(id)
    })
  }

  /** An item goes to lists and the feed, which show no secret whatever is kept. */
  shownItem(head: Head): Item {
    const item = { ...itemOf(head), ...this.ring.retries.of(head.id) }
    return this.#isMasked ? item : { ...item, path: maskUrl(item.path) }
  }

  readonly put: IntakeServices["put"] = (head, bodies, sent = null) => {
    const { feed, ring } = this
    const before = ring.get(head.id)
    const entry = ring.set(head, bodies === undefined ? undefined : { ...(before?.bodies ?? noBodies), ...bodies })
    if (entry === null) return
    feed.changed(head.id, before === null)
    this.#sessions.changed(entry)
    if (head.status === "in-flight" || (before !== null && before.head.status !== "in-flight")) return
    this.#recorded += 1
    if (head.bodyEvicted) this.#bodiesLost += 1
    for (const each of this.#finished) each.read(entry, sent)
  }

  readonly putLate: IntakeServices["putLate"] = (late, report) => {
    const entry = this.ring.setLate(late)
    if (entry === null) return
    this.#recorded += 1
    this.feed.changed(late.id, true)
    if (this.#sessions.recording() !== null) this.#sessions.changed(entry)
    for (const each of this.#finished) each.judged(late.id, report)
  }

  readonly attempts = (id: string): ReadonlyArray<Item> =>
    this.ring.retries.together(id).flatMap((each) => {
      const entry = this.ring.get(each)
      return entry === null ? [] : [this.shownItem(entry.head)]
    })

  readonly onFinished = (listener: FinishedListener): (() => void) => {
    this.#finished.add(listener)
    return () => void this.#finished.delete(listener)
  }

  clear(): void {
    this.ring.clear()
    this.feed.cleared()
  }

  load() {
    const { bytes, size } = this.ring
    return { entries: size, bytes, recorded: this.#recorded, bodiesLost: this.#bodiesLost }
  }
}

/** Others have their turn. */
const pause = ({ soon }: typeof Timers.Timers.Service): Effect.Effect<void> =>
  Effect.promise(() => new Promise<void>((done) => soon(done)))

/** Finds which records hold the text of a filter. */
const makeMatcher = (ring: Ring, timers: typeof Timers.Timers.Service) => {
  const textMatches = Effect.fnUntraced(function* (text: string) {
    const part = text.toLowerCase()
    const found = new Set<number>()
    let searched = 0
    for (const entry of ring.newest()) {
      if (holdsText(entry, part)) found.add(entry.seq)
      searched += (entry.bodies.requestBody?.length ?? 0) + (entry.bodies.responseBody?.length ?? 0)
      if (searched < searchedAtOnce) continue
      searched = 0
      yield* pause(timers)
    }
    return (entry: RingEntry): boolean => found.has(entry.seq)
  })
  return ({ q = "" }: RecordFilter): Effect.Effect<(entry: RingEntry) => boolean> =>
    q === "" ? Effect.succeed(() => true) : textMatches(q)
}

/** Makes what is read of the records, and their annotation. */
const makeReads = (records: Records, sessions: Sessions, isMasked: boolean) =>
  Effect.gen(function* () {
    const { feed, ring } = records
    const matcher = makeMatcher(ring, yield* Timers.Timers)

    const list = Effect.fn("Inspector.list")(function* (
      filter: RecordFilter,
      { areFolded = false, cursor, hasGroups = false, limit }: ListPage
    ) {
      const before = cursor === undefined ? Number.POSITIVE_INFINITY : yield* readCursor(cursor)
      const matches = yield* matcher(filter)
      const { entries, nextCursor, total } = pageOf(ring, filter, { areFolded, before, limit }, matches)
      const page = { requests: entries.map(({ head }) => records.shownItem(head)), total, nextCursor }
      return hasGroups ? { ...page, groups: contextsOf(ring, filter, matches) } : page
    })

    const found = (id: string): Effect.Effect<RingEntry, RecordNotFound> => {
      const entry = ring.get(id)
      return entry === null ? new RecordNotFound({ id }) : Effect.succeed(entry)
    }

    const get = (id: string, showSecrets = false): Effect.Effect<TrafficRecord, RecordNotFound> =>
      Effect.map(found(id), ({ bodies, head }) => {
        const record = { ...recordOf(head, bodies), ...ring.retries.of(head.id) }
        return isMasked || showSecrets ? record : maskRecord(record)
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

    return { list, get, exported, annotate }
  })

/** Makes the import of archives: each becomes a session. */
const makeHarImport = (settings: InspectorSettings, sessions: Sessions, thread: () => WorkThread) =>
  Effect.gen(function* () {
    const timers = yield* Timers.Timers
    const ids = yield* IdGen.IdGen
    const prices = yield* PriceBook
    return Effect.fn("Inspector.importHar")(function* (bytes: Uint8Array, name: string | null) {
      if (bytes.byteLength > maxHarBytes) return yield* tooLargeHar
      const report = yield* Effect.promise(() => thread().run({ kind: "har", bytes }))
      if (report === null) {
        return yield* new InvalidHar({ reason: "too_large", message: "The file takes too long to read." })
      }
      if ("problem" in report) return yield* new InvalidHar(report.problem)
      const records = yield* Effect.promise(() =>
        recordsOfExchanges(report.exchanges, {
          settings,
          thread: thread(),
          newId: () => ids.next(timers.nowMs()),
          priceOf: (provider, model) => prices.price(provider, model)
        })
      )
      return yield* sessions.add(name, records)
    })
  })

const settingsOf = (options: InspectorSettings | undefined) =>
  Effect.gen(function* () {
    if (options !== undefined) return options
    const { environment } = yield* AppConfig.AppConfig
    const { problems, settings } = readSettings(environment)
    for (const problem of problems) yield* Effect.logWarning(problem)
    return settings
  })

/** Finds records by the request of the gateway that they are of. */
const makeRequestIndex = (capacity: number, isKept: (id: string) => boolean) => {
  const byRequest = new LruMap<string, string>({ capacity })
  return {
    /** Facts come from what was captured: they may be nonsense. */
    note: (id: string, facts: Pick<RecordUpdate, "gatewayRequestId"> | null): void => {
      const requestId = facts?.gatewayRequestId
      if (id !== "" && requestId !== null && requestId !== undefined) byRequest.set(requestId, id)
    },
    recordOf: (requestId: string): string | null => {
      const id = byRequest.peek(requestId)
      return id !== undefined && isKept(id) ? id : null
    }
  }
}

export const makeWith = ({ settings: options, threadFile }: InspectorOptions = {}) =>
  Effect.gen(function* () {
    const timers = yield* Timers.Timers
    const ids = yield* IdGen.IdGen
    const prices = yield* PriceBook
    const repo = yield* SessionRepo.InspectorSessionRepo
    const settings = yield* settingsOf(options)
    const isMasked = settings.maskSecrets

    const ring = new Ring({ maxEntries: settings.bufferEntries, maxBytes: settings.bufferBytes })
    const sessions = yield* makeSessions({ repo, timers, ids, entry: (id) => ring.get(id), isMasked })
    let startedThread: WorkThread | null = null
    const thread = (): WorkThread =>
      (startedThread ??=
        threadFile === undefined ? makeWorkThread(timers) : makeWorkThread(timers, undefined, threadFile))

    const records = new Records(ring, sessions, isMasked, (source) =>
      makeFeed(timers, { ...source, behind: () => intake.behind() })
    )
    const { feed } = records
    const intake: Intake = makeIntake({
      working: feed.working,
      settings,
      timers,
      thread,
      newId: () => ids.next(timers.nowMs()),
      sessionId: sessions.recording,
      priceOf: prices.price,
      known: (id) => ring.get(id)?.head ?? null,
      reserve: (id) => ring.reserve(id),
      put: records.put,
      putLate: records.putLate
    })

    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        intake.close()
        feed.close()
        startedThread?.close()
      })
    )

    const waitForLast = (arrived: Effect.Effect<void>): Effect.Effect<void> =>
      Effect.asVoid(Effect.timeoutOption(arrived, lastRecordsWithin))
    const settled = Effect.promise(intake.settled)
    const requests = makeRequestIndex(settings.bufferEntries, (id) => ring.get(id) !== null)

    return Inspector.of({
      ...(yield* makeReads(records, sessions, isMasked)),
      settings,
      begin: (permission, start) => {
        const id = intake.begin(permission, start)
        requests.note(id, start)
        return id
      },
      update: (id, update) => {
        requests.note(id, update)
        intake.update(id, update)
      },
      finish: intake.finish,
      attribute: intake.attribute,
      settled,
      listed: (id) => waitForLast(Effect.promise(() => intake.listed(id))),
      entry: (id) => ring.get(id),
      recordOf: requests.recordOf,
      attempts: records.attempts,
      clear: Effect.sync(() => records.clear()),
      onFinished: records.onFinished,
      thread,
      subscribe: feed.subscribe,
      subscribers: feed.subscribers,
      // What was captured before the stop is in the session, if it is still on its way into the list too.
      sessions: { ...sessions, stop: (id) => Effect.zipRight(waitForLast(settled), sessions.stop(id)) },
      importHar: yield* makeHarImport(settings, sessions, thread),
      load: () => ({ ...records.load(), pendingBytes: intake.pendingBytes(), ...intake.behind() })
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
