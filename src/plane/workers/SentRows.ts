/**
 * The usage journal of a worker: a row is in a file of the worker's own before its client has the last byte, as in one process, and goes to the
 * owner, which alone writes the table. A file is removed when the owner has the rows of it on disk; what a worker leaves is read by the owner.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { makeSignal } from "../../kernel/collections/Signal.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { ensureFolder, journalFolder, workerFolder } from "../../store/DataFolder.ts"
import { StoreError, type StoreFailure } from "../../store/Errors.ts"
import * as Segments from "../../store/usage/JournalSegments.ts"
import { makeMoving, type MoveRows, UsageJournal } from "../../store/usage/UsageJournal.ts"
import { MovedRows } from "../state/ledger/MovedRows.ts"
import { OwnerLink } from "../state/link/OwnerLink.ts"
import { nameOf, type WorkerId } from "../state/link/WorkerLinks.ts"
import { takePart } from "../state/link/Rounds.ts"

/** Topics of rows. */
export const topics = {
  /** Rows for the table; the answer is `done` when they are on disk. */
  rows: "rows.move",
  /** A round: the owner wants everything that is on file. */
  flush: "rows.flush"
} as const

export const done = "done"

/** Fails with why the owner could not write the rows, which it answers as a text; else it is not there. */
const notTaken = (answer: unknown): StoreError =>
  new StoreError({
    operation: "UsageJournal.flush",
    cause: typeof answer === "string" ? answer : "the process with the database is not there"
  })

const moveTo =
  ({ ask }: Pick<typeof OwnerLink.Service, "ask">, moved: (requestIds: ReadonlyArray<string>) => void): MoveRows =>
  (rows) =>
    Effect.async<void, StoreError>((resume) => {
      const sent = rows.map(({ row }) => row)
      ask(topics.rows, sent, (answer) => {
        if (answer !== done) return resume(Effect.fail(notTaken(answer)))
        moved(sent.map(({ requestId }) => requestId))
        resume(Effect.void)
      })
    })

export const layer = (worker: WorkerId): Layer.Layer<MovedRows | UsageJournal, StoreFailure, AppConfig | OwnerLink> =>
  Layer.scopedContext(
    Effect.gen(function* () {
      const { dataDir } = yield* AppConfig
      const link = yield* OwnerLink
      const moved = makeSignal<ReadonlyArray<string>>()
      const folder = workerFolder(journalFolder(dataDir), nameOf(worker))
      yield* ensureFolder(folder)
      const journal = yield* makeMoving(Segments.inFolder(folder), Effect.void, moveTo(link, moved.tell))
      const runFork = Runtime.runFork(yield* Effect.runtime<never>())
      const unlisten = takePart(link, topics.flush, (then) => {
        runFork(
          Effect.zipRight(
            journal.catchUp,
            Effect.sync(() => then(null))
          )
        )
      })
      const unwatch = link.watch((isUp) => {
        // A new owner gets at once what none has taken.
        if (isUp) runFork(journal.catchUp)
      })
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          unlisten()
          unwatch()
        })
      )
      return Context.make(UsageJournal, journal).pipe(Context.add(MovedRows, { listen: moved.listen }))
    })
  )
