/**
 * Rows of workers at the owner: they are written to the table, and whoever listens to requests here hears of them. A reader that is to see every
 * answered request waits for what workers have on file.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { UsageRow } from "../../domain/Usage.ts"
import { Events } from "../../observe/Events.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import type { DataLock } from "../../store/DataLock.ts"
import { journalFolder, workerFolder } from "../../store/DataFolder.ts"
import { reasonOf, type StoreFailure } from "../../store/Errors.ts"
import * as Journal from "../../store/usage/UsageJournal.ts"
import { nameOf, type WorkerId, WorkerLinks } from "../state/link/WorkerLinks.ts"
import { makeRounds } from "./Rounds.ts"
import { done, topics } from "./SentRows.ts"

/** Rows whose listeners were told, so that those that come again are not counted twice. */
const mostRemembered = 20_000

/** Ids of the last rows, the oldest of which are forgotten. */
class RecentIds {
  readonly #ids = new Set<string>()

  /** True for an id that is new. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false
    this.#ids.add(id)
    if (this.#ids.size > mostRemembered) {
      const [oldest] = this.#ids
      if (oldest !== undefined) this.#ids.delete(oldest)
    }
    return true
  }
}

export const make = Effect.gen(function* () {
  const { dataDir } = yield* AppConfig
  const journal = yield* Journal.UsageJournal
  const events = yield* Events
  const links = yield* WorkerLinks
  const adopt = yield* Journal.makeAdopting
  const recover = yield* Journal.makeRecovering
  const told = new RecentIds()
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())

  const tell = (rows: ReadonlyArray<UsageRow>): void => {
    for (const row of rows) {
      if (!told.add(row.id)) continue
      journal.tell(row)
      events.ended(row)
    }
  }
  const move = (rows: ReadonlyArray<UsageRow>) =>
    Effect.zipRight(
      Effect.sync(() => tell(rows)),
      adopt(rows)
    )
  const left = (worker: WorkerId) =>
    recover(workerFolder(journalFolder(dataDir), nameOf(worker))).pipe(
      Effect.tap((rows) => Effect.sync(() => tell(rows))),
      Effect.catchAll((error) =>
        Effect.logError(`Rows that worker ${nameOf(worker)} has left could not be read: ${reasonOf(error)}`)
      )
    )
  const { round: catchUp, stop } = makeRounds(links, topics.flush)
  const stops = [
    links.serve(topics.rows, (_, body, answer) => {
      runFork(
        Effect.match(move(body as ReadonlyArray<UsageRow>), {
          onSuccess: () => answer(done),
          onFailure: (error) => answer(reasonOf(error))
        })
      )
    }),
    links.onLeft((worker) => void runFork(left(worker))),
    stop
  ]
  yield* Effect.addFinalizer(() => Effect.sync(() => stops.forEach((each) => each())))
  return Journal.UsageJournal.of({
    ...journal,
    catchUp: Effect.zipRight(catchUp, journal.catchUp),
    flush: Effect.zipRight(catchUp, journal.flush)
  })
})

/** The owner's journal. */
export const layer: Layer.Layer<
  Journal.UsageJournal,
  StoreFailure,
  AppConfig | DataLock | Events | SqlClient.SqlClient | WorkerLinks
> = Layer.scoped(Journal.UsageJournal, make).pipe(Layer.provide(Journal.layer))
