/** The limits of keys in the owner of the data folder: its own accounts, and the leases of its workers. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { UsageRow } from "../../../contract/domain/Usage.ts"
import { Timers } from "../../../platform/Timers.ts"
import type { StoreError } from "../../../store/Errors.ts"
import type { OpenRequest } from "../../../store/usage/ReservationLines.ts"
import { UsageJournal } from "../../../store/usage/UsageJournal.ts"
import { MediaJobRepo } from "../../../subjects/mediaJobs/repo.ts"
import { SpendRepo } from "../../../subjects/usage/SpendRepo.ts"
import { type WorkerId, WorkerLinks } from "../../state/link/WorkerLinks.ts"
import * as KeyLimits from "../KeyLimits.ts"
import { type Booked, LedgerTruth } from "../LedgerTruth.ts"
import { recoveredRow } from "../Recovered.ts"
import { OwnerLedger } from "./OwnerLedger.ts"

export class WorkerLeases extends Context.Tag("gateway/plane/ledger/leased/WorkerLeases")<
  WorkerLeases,
  {
    /**
     * Workers of an earlier owner that may still run: nothing is granted before each has told what it holds, has ended, or has come to the end of
     * its leases. To be called before the first message of a worker.
     */
    readonly expect: (workers: ReadonlyArray<WorkerId>) => void
    /** Hot: a usage row of a worker's journal has come, after the limits were made from the usage log. */
    readonly hasRow: (worker: WorkerId, row: UsageRow) => void
    /**
     * The process of a worker has ended, and the rows of its journal have come: what its file of reservations has open gets a row as an estimate,
     * all of it is booked, and what it held comes back. `bookedIds`: requests of `open` that have a row.
     */
    readonly settleLeft: (
      worker: WorkerId,
      open: ReadonlyArray<OpenRequest>,
      bookedIds: ReadonlySet<string>
    ) => Effect.Effect<void, StoreError>
  }
>() {}

/** Cost of a request that was not ended: all that it had reserved. */
export const lostOf = ({ apiKeyId, calls, receivedMs, requestId }: OpenRequest): Booked => ({
  requestId,
  apiKeyId,
  receivedMs,
  isCounted: true,
  charges: calls.map(({ model, nanoUsd, provider, tokensIn, tokensOut }) => ({
    provider,
    model,
    nanoUsd,
    tokens: tokensIn + tokensOut
  }))
})

export const make = Effect.gen(function* () {
  const links = yield* WorkerLinks
  const truth = yield* LedgerTruth
  const timers = yield* Timers
  const spend = yield* SpendRepo
  const journal = yield* UsageJournal
  const jobs = yield* MediaJobRepo
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())

  const withRows = (ids: ReadonlyArray<string>, then: (found: ReadonlySet<string>) => void): void => {
    const found = Effect.zipRight(journal.flush, spend.booked(ids))
    runFork(
      Effect.matchEffect(found, {
        // They stay booked: more than was used is counted, never less.
        onFailure: (error) =>
          Effect.zipRight(
            Effect.logWarning(`Reports of workers could not be compared with their rows: ${error.message}`),
            Effect.sync(() => then(new Set()))
          ),
        onSuccess: (rows) => Effect.sync(() => then(rows))
      })
    )
  }
  const { after, monotonicMs, nowMs } = timers
  const ledger = yield* Effect.acquireRelease(
    Effect.sync(() => new OwnerLedger({ links, truth, nowMs, monotonicMs, after, withRows })),
    (opened) => Effect.sync(() => opened.close())
  )

  const settleLeft = Effect.fn("WorkerLeases.settleLeft")(function* (
    worker: WorkerId,
    open: ReadonlyArray<OpenRequest>,
    bookedIds: ReadonlySet<string>
  ) {
    // A job that a provider still has is gone on with: it reserves anew, and is booked when it is over.
    const running = new Set((yield* jobs.open).flatMap(({ requestId, ticket }) => (ticket === null ? [] : [requestId])))
    const lost = open.filter(({ requestId }) => !bookedIds.has(requestId) && !running.has(requestId))
    const [first, ...more] = lost.map((request) => recoveredRow(request, nowMs()))
    if (first !== undefined) journal.append(first, ...more)
    ledger.settleLeft(worker, lost.map(lostOf))
    yield* journal.flush
  })

  return WorkerLeases.of({
    expect: (workers) => ledger.expect(workers),
    hasRow: (worker, row) => ledger.hasRow(worker, row),
    settleLeft
  })
})

/** Layer of the leases over the accounts of this process, for `KeyLimits` beside them. */
export const layer: Layer.Layer<
  KeyLimits.KeyLimits | LedgerTruth | WorkerLeases,
  StoreError,
  Layer.Layer.Context<typeof KeyLimits.layerOwner> | WorkerLinks
> = Layer.scoped(WorkerLeases, make).pipe(Layer.provideMerge(KeyLimits.layerOwner))
