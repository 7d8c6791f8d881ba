/**
 * Decisions kept in the store: for a while, a part of them where the settings say so (`/api/settings`, `decisions`). A request only
 * puts a reference in line; records are put together and written in the background, a batch in half a second, so that
 * they cost little however many requests there are. What finds the line full is not kept, and counted.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { claimed } from "../../../plane/state/Claims.ts"
import { SharedDatabase } from "../../../plane/state/SharedDatabase.ts"
import { makeLane } from "../../../kernel/Lane.ts"
import type { DecisionRecord } from "../../../subjects/routing/entity.ts"
import { GatewaySettings } from "../../../subjects/flags/StoredFlags.ts"
import { makeSeededRandom } from "../../../kernel/SeededRandom.ts"
import type { StoreError } from "../../../store/Errors.ts"
import { DecisionRepo, type DecisionRow } from "../../../subjects/routing/repo.ts"
import { recordIn, textOf } from "./CompactDecision.ts"
import { type DecisionEntry, linesOf } from "./DecisionRecords.ts"

export class DecisionArchive extends Context.Tag("gateway/plane/routing/records/DecisionArchive")<
  DecisionArchive,
  {
    /** Hot: puts a decision in line, when it is to be kept. */
    readonly offer: (entry: DecisionEntry) => void
    /** Null when none is kept. */
    readonly find: (requestId: string) => Effect.Effect<DecisionRecord | null, StoreError>
    /** Waits until everything in the queue is in the store, or could not be written (which is logged and counted). */
    readonly flush: Effect.Effect<void>
    /**
     * Returns the number, since the start, of decisions not stored because the queue was full, or because the store
     * refused them.
     */
    readonly dropped: () => number
  }
>() {}

/** Most decisions in the queue, and most lines of them together. */
export const mostWaiting = 2_000
export const mostWaitingLines = 50_000

/** Most decisions written together, and most lines of them; at least one decision. */
export const batchRows = 100
export const batchLines = 10_000
/** Lines that are put together without a turn for others. */
const turnLines = 256
const maxBatchChars = 262_144
const writeEvery = "500 millis"
const pruneEvery = "5 minutes"
const warnEveryMs = 60_000
const dayMs = 86_400_000

/** The same answer for the same request. */
export const isSampled = (requestId: string, rate: number): boolean =>
  rate >= 1 || (rate > 0 && makeSeededRandom(Hash.string(requestId)).next() < rate)

const findIn = (repo: typeof DecisionRepo.Service) =>
  Effect.fn("DecisionArchive.find")(function* (requestId: string) {
    const text = yield* repo.get(requestId)
    if (text === null) return null
    const record = recordIn(text)
    if (record === null) yield* Effect.logWarning(`The kept decision of ${requestId} cannot be read.`)
    return record
  })

export const make = Effect.gen(function* () {
  const repo = yield* DecisionRepo
  const settings = yield* GatewaySettings
  const node = (yield* SharedDatabase)?.node ?? null
  const someWait = yield* Effect.makeLatch(false)
  const oneAtATime = makeLane(1)
  const waiting: Array<DecisionEntry> = []
  let waitingLines = 0
  let dropped = 0
  let warnedAtMs = Number.NEGATIVE_INFINITY

  const offer = (entry: DecisionEntry): void => {
    const { maxRows, sampleRate } = settings.current().decisions
    if (maxRows === 0 || !isSampled(entry.requestId, sampleRate)) return
    const lines = linesOf(entry)
    const isFull = waiting.length >= mostWaiting || (waiting.length > 0 && waitingLines + lines > mostWaitingLines)
    if (isFull) {
      dropped += 1
      return
    }
    waiting.push(entry)
    waitingLines += lines
    someWait.unsafeOpen()
  }

  const warn = (what: string, error: StoreError) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      if (nowMs - warnedAtMs < warnEveryMs) return Effect.void
      warnedAtMs = nowMs
      return Effect.annotateLogs(Effect.logWarning(`${what}: ${error.message}`), { dropped })
    })

  const insert = (rows: ReadonlyArray<DecisionRow>): Effect.Effect<void> =>
    Effect.catchAll(repo.insert(rows), (error) => {
      dropped += rows.length
      return warn("Routing decisions could not be kept", error)
    })

  /** Others have their turn after so many lines. */
  const write = (entries: ReadonlyArray<DecisionEntry>): Effect.Effect<void> =>
    Effect.gen(function* () {
      const atMs = yield* Clock.currentTimeMillis
      let rows: Array<DecisionRow> = []
      let chars = 0
      let lines = 0
      for (const entry of entries) {
        const record = textOf(entry, node)
        rows.push({ requestId: entry.requestId, atMs, record })
        chars += record.length
        if (chars >= maxBatchChars) {
          yield* insert(rows)
          rows = []
          chars = 0
        }
        lines += linesOf(entry)
        if (lines < turnLines) continue
        yield* Effect.yieldNow()
        lines = 0
      }
      if (rows.length > 0) yield* insert(rows)
    })

  const takeOldest = (): ReadonlyArray<DecisionEntry> => {
    let lines = 0
    const limit = waiting.findIndex((entry, index) => index >= batchRows || (lines += linesOf(entry)) > batchLines)
    const entries = waiting.splice(0, limit < 0 ? waiting.length : Math.max(1, limit))
    for (const entry of entries) waitingLines -= linesOf(entry)
    return entries
  }

  const writeOldest = Effect.suspend(() => {
    const entries = takeOldest()
    if (waiting.length === 0) someWait.unsafeClose()
    return write(entries)
  }).pipe(oneAtATime.inTurn, Effect.uninterruptible)

  const flush = Effect.whileLoop({ while: () => waiting.length > 0, body: () => writeOldest, step: () => {} })

  const prune = Effect.gen(function* () {
    const { maxRows, retentionDays } = settings.current().decisions
    const sinceMs = (yield* Clock.currentTimeMillis) - retentionDays * dayMs
    while ((yield* repo.prune({ sinceMs, maxRows })) > 0) yield* Effect.yieldNow()
  }).pipe(Effect.catchAll((error) => warn("Old routing decisions could not be removed", error)))

  // Finalizers run in reverse: the loops end first, then what is in line is written.
  yield* Effect.addFinalizer(() => flush)
  yield* someWait.await.pipe(
    Effect.zipRight(Effect.sleep(writeEvery)),
    Effect.zipRight(writeOldest),
    Effect.forever,
    Effect.forkScoped
  )
  yield* Effect.forkScoped(claimed("decision-retention", Effect.repeat(prune, Schedule.spaced(pruneEvery))))

  return DecisionArchive.of({ offer, find: findIn(repo), flush, dropped: () => dropped })
})

export const layer: Layer.Layer<DecisionArchive, never, DecisionRepo | GatewaySettings> = Layer.scoped(
  DecisionArchive,
  make
)
