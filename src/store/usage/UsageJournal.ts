/**
 * Usage rows survive `kill -9` although they are inserted in batches: a row is in a file before `append` returns, and files left by an
 * ended process are inserted at the next start. A full disk or a broken database does not fail requests: rows wait in memory, at most
 * `mostPending` of them, and a warning is logged once a minute.
 */
import { unlinkSync } from "node:fs"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { makeLane } from "../../kernel/Lane.ts"
import { nanoUsdPerUsd, type UsageRow } from "../../domain/Usage.ts"
import { PerFacts } from "../../domain/UsageFacts.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { databaseFile, ensureFolder, journalFolder, onDisk } from "../DataFolder.ts"
import { DataLock } from "../DataLock.ts"
import { reasonOf, type StoreError, type StoreFailure } from "../Errors.ts"
import * as Segments from "./JournalSegments.ts"
import { syncLog } from "../engine/LateSync.ts"
import { UsageHook } from "./UsageHook.ts"
import { insert, sharedFacts } from "./UsageInsert.ts"
import { makeSignal } from "../../kernel/collections/Signal.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"
import { forReader, waitingAtMost } from "../engine/WriteQueue.ts"
import { WaitingRows, mostPending, fileForMs } from "./WaitingRows.ts"

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
    /** Calls `listener` with every row that is appended, by whomever, until the returned function is called. It must neither throw nor take long. */
    readonly listen: (listener: (row: UsageRow) => void) => () => void
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

export const flushAfterMs = 250
/** Time in ms that a stop waits for another process that holds the database; the rows are in the file. */
const flushWaitMs = 5_000
const retryEvery = "1 second"
const warnEveryMs = 60_000

/** Warns of what goes wrong: once a minute at most, and when a problem begins and ends. */
const makeWarnings = (rows: WaitingRows) => {
  let wasTroubled = false
  let warnedAtMs = Number.NEGATIVE_INFINITY

  const warn = (message: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      if (nowMs - warnedAtMs < warnEveryMs) return Effect.void
      warnedAtMs = nowMs
      return Effect.logError(message).pipe(Effect.annotateLogs(rows.counts))
    })

  const unwritten = Effect.suspend(() => {
    const found = rows.takeUnwritten()
    if (found === null) return Effect.void
    const { error, row } = found
    return warn(
      `The usage row ${row.id} (${row.costNanoUsd / nanoUsdPerUsd} USD) could not be put on file: ${asSentence(reasonOf(error))}`
    )
  })

  /** Logs when a problem begins and when it is over. */
  const change = Effect.suspend(() => {
    const now = rows.problem
    if ((now !== null) === wasTroubled) return Effect.void
    wasTroubled = now !== null
    return now === null
      ? Effect.annotateLogs(Effect.logInfo("Usage rows are written again."), rows.counts)
      : Effect.annotateLogs(Effect.logError(`${now}. They wait in memory, ${mostPending} at most.`), rows.counts)
  })

  return { change, unwritten, warn }
}

/** Moves rows to the table, and removes the files that are not needed then. */
const makeInserting = (
  rows: WaitingRows,
  {
    close,
    segments,
    synced
  }: {
    readonly segments: Segments.Segments
    readonly synced: Effect.Effect<void, NodeJS.ErrnoException>
    /** Called before all rows that wait are moved. */
    readonly close: () => void
  }
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const hook = yield* UsageHook
    const oneAtATime = makeLane(1)
    let unsynced: unknown = null

    const insertOldest = Effect.suspend(() => {
      const batch = rows.takeBatch()
      if (batch === null) return Effect.void
      return Effect.matchEffect(insert(sql, batch.rows, !batch.isOnFile, hook), {
        onSuccess: () => Effect.sync(() => rows.batchInserted(batch)),
        onFailure: (error) =>
          Effect.zipRight(
            Effect.sync(() => rows.batchFailed(batch, error.message)),
            Effect.fail(error)
          )
      })
    })

    /**
     * Removes the files after a sync of the log. If that fails now, the files are kept until it succeeds; inserting
     * their rows again does no harm.
     */
    const giveUpFiles = Effect.suspend(() =>
      rows.inserted.length === 0
        ? Effect.void
        : Effect.match(synced, {
            onFailure: (error) => {
              unsynced = error
            },
            onSuccess: () => {
              for (const segment of rows.inserted.splice(0)) segments.remove(segment)
            }
          })
    )

    const insertAll = (endsFile: boolean) =>
      Effect.suspend(() => {
        close()
        rows.closeBatch(endsFile)
        return Effect.whileLoop({ while: () => rows.hasBatches, body: () => insertOldest, step: () => {} })
      }).pipe(Effect.ensuring(giveUpFiles), oneAtATime.inTurn, Effect.uninterruptible)

    const giveUpIdleFile = Effect.suspend(() => {
      rows.closeIdleFile()
      return giveUpFiles
    }).pipe(oneAtATime.inTurn, Effect.uninterruptible)

    /** Takes the reason why the database's log could not be brought to disk; null: it could. */
    const takeUnsynced = (): string | null => {
      const reason = unsynced === null ? null : reasonOf(unsynced)
      unsynced = null
      return reason
    }

    return { giveUpIdleFile, insertAll, takeUnsynced }
  })

export const make = (
  segments: Segments.Segments,
  /** Completes when the commit would survive a power cut. */
  synced: Effect.Effect<void, NodeJS.ErrnoException>
): Effect.Effect<Context.Tag.Service<UsageJournal>, never, SqlClient.SqlClient | Scope.Scope> =>
  Effect.gen(function* () {
    const someWait = yield* Effect.makeLatch(false)
    const batchFull = yield* Effect.makeLatch(false)
    const rows = new WaitingRows({
      segments,
      clock: yield* Effect.clock,
      onFirst: () => void someWait.unsafeOpen(),
      onFull: () => void batchFull.unsafeOpen()
    })
    const { change, unwritten, warn } = makeWarnings(rows)
    const { giveUpIdleFile, insertAll, takeUnsynced } = yield* makeInserting(rows, {
      segments,
      synced,
      close: () => {
        someWait.unsafeClose()
        batchFull.unsafeClose()
      }
    })

    // Another process may hold the database: readers then get what is in the table.
    const catchUp = Effect.suspend(() =>
      rows.pending === 0 ? Effect.void : Effect.ignore(forReader(insertAll(false)))
    )

    const flush = Effect.zipRight(insertAll(true), giveUpIdleFile)

    const warnings = Effect.suspend(() => {
      const reason = takeUnsynced()
      return reason === null
        ? unwritten
        : warn(
            `The database's log could not be brought to disk: ${asSentence(reason)} Usage rows stay on file meanwhile.`
          )
    })

    const orWarn = (flushing: typeof flush) =>
      warnings.pipe(
        Effect.zipRight(
          Effect.tapError(flushing, (error) => warn(`Usage rows wait in memory: ${asSentence(error.message)}`))
        ),
        Effect.ensuring(change)
      )

    const appended = makeSignal<UsageRow>()
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
      append: (row, ...more) => {
        rows.append(row, more)
        appended.tell(row)
        for (const other of more) appended.tell(other)
      },
      listen: appended.listen,
      catchUp,
      flush,
      pending: () => rows.pending,
      trouble: () => {
        const { dropped, notOnFile } = rows.counts
        return { notOnFile, dropped, problem: rows.problem }
      }
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
