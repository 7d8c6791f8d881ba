/**
 * Rows of workers at the owner: they are written to the table, and whoever listens to requests here hears of them. A reader that is to see every
 * answered request waits for what workers have on file.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { UsageRow } from "../../contract/domain/Usage.ts"
import { Events } from "../../observe/Events.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import type { DataLock } from "../../store/DataLock.ts"
import { journalFolder, workerFolder } from "../../store/DataFolder.ts"
import { reasonOf, type StoreFailure } from "../../store/Errors.ts"
import * as Journal from "../../store/usage/UsageJournal.ts"
import { nameOf, type WorkerId, WorkerLinks } from "../state/link/WorkerLinks.ts"
import { makeRounds } from "../state/link/Rounds.ts"
import { done, topics } from "./SentRows.ts"

export class AdoptedRows extends Context.Tag("gateway/plane/workers/AdoptedRows")<
  AdoptedRows,
  {
    /** Calls `listener` with each row of a worker, once, before it is in the table. Rows wait until there is one. */
    readonly begin: (listener: (worker: WorkerId, row: UsageRow) => void) => Effect.Effect<void>
    /** Moves what an ended worker has left into the table. */
    readonly left: (worker: WorkerId) => Effect.Effect<void>
  }
>() {}

const make = Effect.gen(function* () {
  const { dataDir } = yield* AppConfig
  const journal = yield* Journal.UsageJournal
  const events = yield* Events
  const links = yield* WorkerLinks
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  const begun = yield* Effect.makeLatch(false)
  let isBegun = false
  let heard: (worker: WorkerId, row: UsageRow) => void = () => {}

  const { adopt, recover } = yield* Journal.makeAdopting<WorkerId>((worker, row) => {
    heard(worker, row)
    journal.tell(row)
    events.ended(row)
  })
  const move = (worker: WorkerId, rows: ReadonlyArray<UsageRow>) => Effect.zipRight(begun.await, adopt(worker, rows))
  const left = (worker: WorkerId) =>
    recover(worker, workerFolder(journalFolder(dataDir), nameOf(worker))).pipe(
      Effect.catchAll((error) =>
        Effect.logError(`Rows that worker ${nameOf(worker)} has left could not be read: ${reasonOf(error)}`)
      )
    )
  const { round: catchUp, stop } = makeRounds(links, topics.flush)
  const stops = [
    links.serve(topics.rows, (worker, body, answer) => {
      runFork(
        Effect.match(move(worker, body as ReadonlyArray<UsageRow>), {
          onSuccess: () => answer(done),
          onFailure: (error) => answer(reasonOf(error))
        })
      )
    }),
    stop
  ]
  yield* Effect.addFinalizer(() => Effect.sync(() => stops.forEach((each) => each())))
  // Nothing is waited for that waits itself until this process has its limits.
  const others = Effect.suspend(() => (isBegun ? Effect.asVoid(catchUp()) : Effect.void))
  const own = Journal.UsageJournal.of({
    ...journal,
    catchUp: Effect.zipRight(others, journal.catchUp),
    flush: Effect.zipRight(others, journal.flush)
  })
  const begin = (listener: (worker: WorkerId, row: UsageRow) => void) =>
    Effect.suspend(() => {
      heard = listener
      isBegun = true
      return Effect.asVoid(begun.open)
    })
  return Context.make(Journal.UsageJournal, own).pipe(Context.add(AdoptedRows, { begin, left }))
})

/** The owner's journal. */
export const layer: Layer.Layer<
  AdoptedRows | Journal.UsageJournal,
  StoreFailure,
  AppConfig | DataLock | Events | SqlClient.SqlClient | WorkerLinks
> = Layer.scopedContext(make).pipe(Layer.provide(Journal.layer))
