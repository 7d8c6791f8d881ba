/**
 * Usage rows survive `kill -9` although they are inserted in batches: a row is in a file before `append` returns, and files left by an
 * ended process are inserted at the next start. A full disk or a broken database does not fail requests: rows wait in memory, at most
 * `mostPending` of them, and a warning is logged once a minute.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { unlinkSync } from "node:fs"
import { nanoUsdPerUsd, type UsageRow } from "../../domain/Usage.ts"
import { PerFacts } from "../../domain/UsageFacts.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { databaseFile, ensureFolder, journalFolder, onDisk } from "../DataFolder.ts"
import { DataLock } from "../DataLock.ts"
import { reasonOf, type StoreError, type StoreFailure } from "../Errors.ts"
import * as Segments from "./JournalSegments.ts"
import { syncLog } from "../engine/LateSync.ts"
import { UsageHook } from "./UsageHook.ts"
import { insert, type RowWithFacts, sharedFacts } from "./UsageInsert.ts"
import { UsageLines } from "./UsageLines.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"
import { forReader, waitingAtMost } from "../engine/WriteQueue.ts"

/** Counted since the start. */
export interface JournalTrouble {
  /** Rows kept in memory only, because the journal file could not be written. */
  readonly notOnFile: number
  /** Rows dropped because more than `mostPending` were waiting. */
  readonly dropped: number
  /** Reason for which rows cannot be written to the file or the table now; null when they can. */
  readonly problem: string | null
}

export class UsageJournal extends Context.Tag("gateway/store/usage/UsageJournal")<
  UsageJournal,
  {
    /** Hot: writes rows to the file, with one write, and queues them for the table. Never throws. */
    readonly append: (row: UsageRow, ...more: ReadonlyArray<UsageRow>) => void
    /**
     * Inserts the waiting rows, for readers that are to see every answered request. Rows that the table refuses stay in
     * the queue.
     */
    readonly catchUp: Effect.Effect<void>
    /** Inserts every waiting row into the table. When that fails the rows stay in the queue. */
    readonly flush: Effect.Effect<void, StoreError>
    /** Rows not yet in the table. */
    readonly pending: () => number
    readonly trouble: () => JournalTrouble
  }
>() {}

/** Rows that wait for the table; beyond it the oldest is dropped. */
export const mostPending = 100_000
/**
 * Rows go into the table when so many wait or the oldest has waited so long. A transaction costs as much as a hundred rows; beyond 500 its
 * share in the cost of a row is small, and more rows at once would block the event loop for milliseconds.
 */
export const batchRows = 500
export const flushAfterMs = 250
/** Time in ms that a stop waits for another process that holds the database; the rows are in the file. */
const flushWaitMs = 5_000
const retryEvery = "1 second"
const warnEveryMs = 60_000
/** A file takes rows for this long: opening and removing one costs more than the rows of a batch. */
const fileForMs = 1_000

/** Rows that are inserted together. */
interface Batch {
  readonly rows: ReadonlyArray<RowWithFacts>
  readonly isOnFile: boolean
  /** Files that end with these rows: all that is in them is in this batch and those before. Empty while the file goes on. */
  readonly segments: Array<string>
}

export const make = (
  segments: Segments.Segments,
  /** Completes when the commit would survive a power cut. */
  synced: Effect.Effect<void, NodeJS.ErrnoException>
): Effect.Effect<Context.Tag.Service<UsageJournal>, never, SqlClient.SqlClient | Scope.Scope> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const hook = yield* UsageHook
    const someWait = yield* Effect.makeLatch(false)
    const batchFull = yield* Effect.makeLatch(false)
    const oneAtATime = yield* Effect.makeSemaphore(1)

    const shared = new PerFacts(sharedFacts)
    const lines = new UsageLines()
    const clock = yield* Effect.clock
    let open: Array<RowWithFacts> = []
    /** True when the open rows are in the file. */
    let isOnFile = true
    /** The file that is written to now holds rows. */
    let isFileUsed = false
    let fileSinceMs = Number.NEGATIVE_INFINITY
    const closed: Array<Batch> = []
    /** The batch that is being inserted. */
    let onTheWay: Batch | null = null
    /** Files of which nothing waits for the table any more. */
    const inserted: Array<string> = []
    let pending = 0
    let notOnFile = 0
    let dropped = 0
    /** Problem of the latest write to the file, and of the latest batch for the table. */
    let fileProblem: string | null = null
    let tableProblem: string | null = null
    let wasTroubled = false
    let unwritten: { readonly row: UsageRow; readonly error: unknown } | null = null
    let unsynced: unknown = null
    let warnedAtMs = Number.NEGATIVE_INFINITY

    /** The path of the file that is written to now, which gets no more rows; null when it holds none. */
    const closeFile = (nowMs: number): string | null => {
      if (!isFileUsed) return null
      isFileUsed = false
      fileSinceMs = nowMs
      lines.begin()
      return segments.rotate()
    }

    const closeBatch = (endsFile: boolean): void => {
      if (open.length === 0) return
      const nowMs = clock.unsafeCurrentTimeMillis()
      // A clock that was set back must not keep a file forever.
      const isDue = endsFile || Math.abs(nowMs - fileSinceMs) >= fileForMs
      const segment = isDue ? closeFile(nowMs) : null
      closed.push({ rows: open, isOnFile, segments: segment === null ? [] : [segment] })
      open = []
      isOnFile = true
    }

    const dropOldest = (): void => {
      const oldest = closed.shift()
      if (oldest === undefined) return
      dropped += oldest.rows.length
      pending -= oldest.rows.length
      // Earlier rows of its files may be on their way to the table, or in it and not on disk yet.
      const waiting = onTheWay?.segments ?? inserted
      waiting.push(...oldest.segments)
    }

    /** Queues a row and gives its lines. */
    const take = (row: UsageRow): string => {
      const facts = shared.of(row)
      open.push({ row, facts })
      return lines.of(row, facts.line)
    }

    const append = (row: UsageRow, ...more: ReadonlyArray<UsageRow>): void => {
      const wasEmpty = open.length === 0
      let text = take(row)
      for (const other of more) text += `\n${take(other)}`
      isFileUsed = true
      try {
        segments.append(text)
        fileProblem = null
      } catch (error) {
        lines.begin()
        fileProblem = `Usage rows cannot be put on file: ${reasonOf(error)}`
        notOnFile += 1 + more.length
        isOnFile = false
        unwritten = { row, error }
      }
      pending += 1 + more.length
      if (wasEmpty) someWait.unsafeOpen()
      if (open.length < batchRows) return
      closeBatch(false)
      batchFull.unsafeOpen()
      if (pending > mostPending) dropOldest()
    }

    const insertOldest = Effect.suspend(() => {
      const batch = closed.shift()
      if (batch === undefined) return Effect.void
      onTheWay = batch
      return Effect.matchEffect(insert(sql, batch.rows, !batch.isOnFile, hook), {
        onSuccess: () =>
          Effect.sync(() => {
            onTheWay = null
            tableProblem = null
            // The rows are in the table, so an error of the file no longer matters.
            if (closed.length === 0 && open.length === 0) fileProblem = null
            pending -= batch.rows.length
            inserted.push(...batch.segments)
          }),
        onFailure: (error) =>
          Effect.zipRight(
            Effect.sync(() => {
              onTheWay = null
              tableProblem = `Usage rows cannot be brought into the database: ${error.message}`
              closed.unshift(batch)
            }),
            Effect.fail(error)
          )
      })
    })

    /**
     * Removes the files after a sync of the log. If that fails now, the files are kept until it succeeds; inserting
     * their rows again does no harm.
     */
    const giveUpFiles = Effect.suspend(() =>
      inserted.length === 0
        ? Effect.void
        : Effect.match(synced, {
            onFailure: (error) => {
              unsynced = error
            },
            onSuccess: () => {
              for (const segment of inserted.splice(0)) segments.remove(segment)
            }
          })
    )

    const insertAll = (endsFile: boolean) =>
      Effect.suspend(() => {
        someWait.unsafeClose()
        batchFull.unsafeClose()
        closeBatch(endsFile)
        return Effect.whileLoop({ while: () => closed.length > 0, body: () => insertOldest, step: () => {} })
      }).pipe(Effect.ensuring(giveUpFiles), oneAtATime.withPermits(1), Effect.uninterruptible)

    /** The file whose rows are all in the table while no new ones come. */
    const giveUpIdleFile = Effect.suspend(() => {
      const path = pending === 0 ? closeFile(clock.unsafeCurrentTimeMillis()) : null
      if (path !== null) inserted.push(path)
      return giveUpFiles
    }).pipe(oneAtATime.withPermits(1), Effect.uninterruptible)

    // Another process may hold the database: readers then get what is in the table.
    const catchUp = Effect.suspend(() => (pending === 0 ? Effect.void : Effect.ignore(forReader(insertAll(false)))))

    const flush = Effect.zipRight(insertAll(true), giveUpIdleFile)

    const warn = (message: string) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
        if (nowMs - warnedAtMs < warnEveryMs) return Effect.void
        warnedAtMs = nowMs
        return Effect.logError(message).pipe(Effect.annotateLogs({ pending, notOnFile, dropped }))
      })

    const warnUnwritten = Effect.suspend(() => {
      if (unsynced !== null) {
        const reason = reasonOf(unsynced)
        unsynced = null
        return warn(
          `The database's log could not be brought to disk: ${asSentence(reason)} Usage rows stay on file meanwhile.`
        )
      }
      if (unwritten === null) return Effect.void
      const { error, row } = unwritten
      unwritten = null
      return warn(
        `The usage row ${row.id} (${row.costNanoUsd / nanoUsdPerUsd} USD) could not be put on file: ${asSentence(reasonOf(error))}`
      )
    })

    const problem = (): string | null => tableProblem ?? fileProblem

    /** Logs when a problem begins and when it is over. */
    const logChange = Effect.suspend(() => {
      const now = problem()
      if ((now !== null) === wasTroubled) return Effect.void
      wasTroubled = now !== null
      const counts = { pending, notOnFile, dropped }
      return now === null
        ? Effect.annotateLogs(Effect.logInfo("Usage rows are written again."), counts)
        : Effect.annotateLogs(Effect.logError(`${now}. They wait in memory, ${mostPending} at most.`), counts)
    })

    const orWarn = (flushing: typeof flush) =>
      warnUnwritten.pipe(
        Effect.zipRight(
          Effect.tapError(flushing, (error) => warn(`Usage rows wait in memory: ${asSentence(error.message)}`))
        ),
        Effect.ensuring(logChange)
      )

    // Finalizers run in reverse: the loop below ends first, then the last rows are inserted.
    yield* Effect.addFinalizer(() => Effect.ignore(waitingAtMost(flushWaitMs)(orWarn(flush))))
    yield* someWait.await.pipe(
      Effect.zipRight(Effect.raceFirst(batchFull.await, Effect.sleep(flushAfterMs))),
      Effect.zipRight(Effect.retry(orWarn(insertAll(false)), Schedule.spaced(retryEvery))),
      Effect.forever,
      Effect.forkScoped
    )
    yield* Effect.forkScoped(Effect.repeat(giveUpIdleFile, Schedule.spaced(fileForMs)))
    return UsageJournal.of({
      append,
      catchUp,
      flush,
      pending: () => pending,
      trouble: () => ({ notOnFile, dropped, problem: problem() })
    })
  })

/** Rows of a file that are inserted together. */
const recoveredRows = 1_000

/** Inserts the rows that an ended process left in files. */
const recover = (folder: string): Effect.Effect<void, StoreFailure, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const hook = yield* UsageHook
    const shared = new PerFacts(sharedFacts)
    for (const path of yield* onDisk(folder, () => Segments.leftovers(folder))) {
      const { rows, tornLines } = yield* onDisk(path, () => Segments.read(path))
      const found = rows.map((row) => ({ row, facts: shared.of(row) }))
      for (let start = 0; start < found.length; start += recoveredRows) {
        yield* insert(sql, found.slice(start, start + recoveredRows), true, hook)
      }
      if (tornLines > 0) yield* Effect.logWarning(`${tornLines} unfinished usage row(s) in ${path} were left out.`)
      yield* onDisk(path, () => unlinkSync(path))
    }
  })

/** Needs the lock of the data folder: the journal of a running gateway must not be read as that of an ended one. */
export const layer: Layer.Layer<UsageJournal, StoreFailure, AppConfig | DataLock | SqlClient.SqlClient> = Layer.scoped(
  UsageJournal,
  Effect.gen(function* () {
    const { dataDir } = yield* AppConfig
    const lock = yield* DataLock
    const folder = journalFolder(dataDir)
    yield* ensureFolder(folder)
    yield* lock.exclusively(recover(folder))
    return yield* make(Segments.inFolder(folder), syncLog(databaseFile(dataDir)))
  })
)

/** Layer without files: rows are lost if the process dies before they are flushed. For tests. */
export const layerMemory: Layer.Layer<UsageJournal, never, SqlClient.SqlClient> = Layer.scoped(
  UsageJournal,
  make(Segments.none, Effect.void)
)
