/**
 * Usage rows survive `kill -9` although they are inserted in batches: a row is in a file before `append` returns, and files left by an
 * ended process are inserted at the next start. A full disk or a broken database does not fail requests: rows wait in memory, at most
 * `mostPending` of them, and a warning is logged once a minute.
 */
import { existsSync, rmSync, unlinkSync } from "node:fs"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { makeLane } from "../../kernel/Lane.ts"
import { nanoUsdPerUsd, type UsageRow } from "../../contract/domain/Usage.ts"
import { PerFacts } from "../../contract/domain/UsageFacts.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { databaseFile, ensureFolder, journalFolder, leftByWorkers, onDisk } from "../DataFolder.ts"
import { DataLock } from "../DataLock.ts"
import { reasonOf, type StoreError, type StoreFailure } from "../Errors.ts"
import * as Segments from "./JournalSegments.ts"
import { WritingNode } from "../nodes/NodeName.ts"
import { syncLog } from "../engine/LateSync.ts"
import { UsageHook } from "./UsageHook.ts"
import { idsIn, insert, type RowWithFacts, sharedFacts } from "./UsageInsert.ts"
import { named } from "../engine/Table.ts"
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
    /** Tells the listeners of a row that another process has put on file. */
    readonly tell: (row: UsageRow) => void
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

/**
 * Moves rows to where they are kept, in the end the table: all or none. `isOnFile`: they would be found again after a crash. Rows may come again.
 */
export type MoveRows = (rows: ReadonlyArray<RowWithFacts>, isOnFile: boolean) => Effect.Effect<void, StoreError>

/** Moves rows into the table of this process's database. */
const intoTable: Effect.Effect<MoveRows, never, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const beside = { hook: yield* UsageHook, node: yield* WritingNode }
  return (rows, isOnFile) => insert(sql, rows, !isOnFile, beside)
})

/** Moves rows to the table, and removes the files that are not needed then. */
const makeInserting = (
  rows: WaitingRows,
  {
    close,
    move,
    segments,
    synced
  }: {
    readonly segments: Segments.Segments
    readonly synced: Effect.Effect<void, NodeJS.ErrnoException>
    readonly move: MoveRows
    /** Called before all rows that wait are moved. */
    readonly close: () => void
  }
) =>
  Effect.gen(function* () {
    const oneAtATime = makeLane(1)
    let unsynced: unknown = null

    const insertOldest = Effect.suspend(() => {
      const batch = rows.takeBatch()
      if (batch === null) return Effect.void
      return Effect.matchEffect(move(batch.rows, batch.isOnFile), {
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
  Effect.flatMap(intoTable, (move) => makeMoving(segments, synced, move))

/** A journal whose rows go where `move` brings them. */
export const makeMoving = (
  segments: Segments.Segments,
  synced: Effect.Effect<void, NodeJS.ErrnoException>,
  move: MoveRows
): Effect.Effect<Context.Tag.Service<UsageJournal>, never, Scope.Scope> =>
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
      move,
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
      tell: appended.tell,
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

/** Moves the rows that an ended process left in the files of a folder, and gives them. */
export const recover = (folder: string, move: MoveRows): Effect.Effect<ReadonlyArray<UsageRow>, StoreFailure> =>
  Effect.gen(function* () {
    const shared = new PerFacts(sharedFacts)
    const all: Array<UsageRow> = []
    for (const path of yield* onDisk(folder, () => Segments.leftovers(folder))) {
      const { rows, tornLines } = yield* onDisk(path, () => Segments.read(path))
      const found = rows.map((row) => ({ row, facts: shared.of(row) }))
      for (let start = 0; start < found.length; start += recoveredRows) {
        yield* move(found.slice(start, start + recoveredRows), false)
      }
      if (tornLines > 0) yield* Effect.logWarning(`${tornLines} unfinished usage row(s) in ${path} were left out.`)
      yield* onDisk(path, () => unlinkSync(path))
      all.push(...rows)
    }
    return all
  })

/** Moves what an ended worker left in its folder, and removes that. */
export const recoverWorker = (folder: string, move: MoveRows): Effect.Effect<ReadonlyArray<UsageRow>, StoreFailure> =>
  Effect.tap(recover(folder, move), () => onDisk(folder, () => rmSync(folder, { recursive: true, force: true })))

/** Rows of some that are not in the table yet. */
const newOf = (
  sql: SqlClient.SqlClient,
  rows: ReadonlyArray<UsageRow>
): Effect.Effect<ReadonlyArray<UsageRow>, StoreError> =>
  idsIn(
    sql,
    rows.map(({ id }) => id)
  ).pipe(
    Effect.map((known) => rows.filter(({ id }) => !known.has(id))),
    Effect.mapError(named("UsageJournal.adopt"))
  )

/** Moves rows of other processes into the table. `W`: such a process. */
export interface Adopting<W> {
  /** Done when they would survive a power cut. */
  readonly adopt: (of: W, rows: ReadonlyArray<UsageRow>) => Effect.Effect<void, StoreError | NodeJS.ErrnoException>
  /** Does the same with the rows that an ended worker left in its folder, and removes that; nothing where there is no such folder. */
  readonly recover: (of: W, folder: string) => Effect.Effect<void, StoreFailure>
}

/** `heard` is called once with each row that is not in the table, before it is, however often it comes. */
export const makeAdopting = <W>(
  heard: (of: W, row: UsageRow) => void
): Effect.Effect<Adopting<W>, never, AppConfig | SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const { dataDir } = yield* AppConfig
    const sql = yield* SqlClient.SqlClient
    const move = yield* intoTable
    const synced = syncLog(databaseFile(dataDir))
    const shared = new PerFacts(sharedFacts)
    const oneAtATime = makeLane(1)
    /** Rows that were heard and are not in the table: it could not be written to. They come again. */
    const waiting = new Set<string>()
    const hear = (of: W, rows: ReadonlyArray<UsageRow>): void => {
      for (const row of rows) {
        if (waiting.has(row.id)) continue
        waiting.add(row.id)
        heard(of, row)
      }
    }
    const moving =
      (of: W): MoveRows =>
      (rows, isOnFile) =>
        newOf(
          sql,
          rows.map(({ row }) => row)
        ).pipe(
          Effect.map((fresh) => hear(of, fresh)),
          Effect.zipRight(move(rows, isOnFile)),
          Effect.map(() => {
            for (const { row } of rows) waiting.delete(row.id)
          }),
          oneAtATime.inTurn
        )
    return {
      adopt: (of, rows) =>
        Effect.zipRight(
          moving(of)(
            rows.map((row) => ({ row, facts: shared.of(row) })),
            true
          ),
          synced
        ),
      recover: (of, folder) =>
        Effect.suspend(() => (existsSync(folder) ? Effect.asVoid(recoverWorker(folder, moving(of))) : Effect.void))
    }
  })

/** Needs the lock of the data folder: the journal of a running gateway must not be read as that of an ended one. */
export const layer: Layer.Layer<UsageJournal, StoreFailure, AppConfig | DataLock | SqlClient.SqlClient> = Layer.scoped(
  UsageJournal,
  Effect.gen(function* () {
    const { dataDir } = yield* AppConfig
    const lock = yield* DataLock
    const folder = journalFolder(dataDir)
    const move = yield* intoTable
    yield* ensureFolder(folder)
    yield* lock.exclusively(
      Effect.gen(function* () {
        yield* recover(folder, move)
        for (const of of yield* leftByWorkers(folder)) yield* recoverWorker(of, move)
      })
    )
    return yield* makeMoving(Segments.inFolder(folder), syncLog(databaseFile(dataDir)), move)
  })
)

/** Layer without files: rows are lost if the process dies before they are flushed. For tests. */
export const layerMemory: Layer.Layer<UsageJournal, never, SqlClient.SqlClient> = Layer.scoped(
  UsageJournal,
  make(Segments.none, Effect.void)
)
