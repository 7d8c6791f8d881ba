/**
 * Books the cost of workers' requests at the owner: rows of their journals are told to the ledger, and what an ended worker has left open is booked as an
 * estimate once its rows are read.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { rmSync } from "node:fs"
import { AppConfig } from "../../platform/AppConfig.ts"
import { reservationFolder, RunningWorkers, workerFolder } from "../../store/DataFolder.ts"
import { reasonOf } from "../../store/Errors.ts"
import { leftIn } from "../../store/usage/Reservations.ts"
import { SpendRepo } from "../../subjects/usage/SpendRepo.ts"
import { WorkerLeases } from "../ledger/leased/WorkerLeases.ts"
import { nameOf, type WorkerId, WorkerLinks } from "../state/link/WorkerLinks.ts"
import { AdoptedRows } from "./AdoptedRows.ts"

/** The worker of a name. */
const workerOf = (name: string): WorkerId => {
  const [place = 0, life = 0] = name.split(".").map(Number)
  return { place, life }
}

/** Workers that run already are waited for before anything is granted. To be built right with the leases. */
export const expectingLayer: Layer.Layer<never, never, WorkerLeases> = Layer.effectDiscard(
  Effect.gen(function* () {
    const running = yield* RunningWorkers
    ;(yield* WorkerLeases).expect(running.map(workerOf))
  })
)

/** Lets workers in. To be built when everything that takes their messages is. */
export const beginLayer: Layer.Layer<never, never, WorkerLinks> = Layer.effectDiscard(
  Effect.map(WorkerLinks, ({ begin }) => begin())
)

const make = Effect.gen(function* () {
  const { dataDir } = yield* AppConfig
  const rows = yield* AdoptedRows
  const leases = yield* WorkerLeases
  const spend = yield* SpendRepo
  const { onLeft } = yield* WorkerLinks
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())

  const left = Effect.fn("WorkerAccounts.left")(
    function* (worker: WorkerId) {
      yield* rows.left(worker)
      const folder = workerFolder(reservationFolder(dataDir), nameOf(worker))
      const open = yield* leftIn(folder)
      const booked = yield* spend.booked(open.map(({ requestId }) => requestId))
      yield* leases.settleLeft(worker, open, booked)
      rmSync(folder, { recursive: true, force: true })
    },
    (settling, worker) =>
      Effect.catchAll(settling, (error) =>
        Effect.logError(`What worker ${nameOf(worker)} has left could not be booked: ${reasonOf(error)}`)
      )
  )
  const stop = onLeft((worker) => void runFork(left(worker)))
  yield* Effect.addFinalizer(() => Effect.sync(stop))
  yield* rows.begin((worker, row) => leases.hasRow(worker, row))
})

export const layer: Layer.Layer<never, never, AdoptedRows | AppConfig | SpendRepo | WorkerLeases | WorkerLinks> =
  Layer.scopedDiscard(make)
