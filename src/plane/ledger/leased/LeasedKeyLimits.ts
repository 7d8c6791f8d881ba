/** Layer of `KeyLimits` for a worker: by leases of the owner of the data folder, without a database. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Timers } from "../../../platform/Timers.ts"
import { StoreError } from "../../../store/Errors.ts"
import { MovedRows } from "../../state/ledger/MovedRows.ts"
import { OwnerLink } from "../../state/link/OwnerLink.ts"
import { KeyLimits } from "../KeyLimits.ts"
import { WorkerLedger } from "./WorkerLedger.ts"

/** Management runs in the owner, which has the limits and what is used of them. */
const ofOwner = (operation: string): Effect.Effect<never, StoreError> =>
  Effect.fail(
    new StoreError({ operation, cause: new Error("Limits of keys are changed by the owner of the data folder.") })
  )

export const make = Effect.gen(function* () {
  const link = yield* OwnerLink
  const moved = yield* MovedRows
  const { after, monotonicMs, nowMs } = yield* Timers
  const ledger = yield* Effect.acquireRelease(
    Effect.sync(() => new WorkerLedger({ link, moved, nowMs, monotonicMs, after })),
    (opened) => Effect.sync(() => opened.close())
  )
  return KeyLimits.of({
    admit: (key, request) => ledger.admit(key, request),
    pauseMs: (key) => ledger.pauseMs(key),
    refuse: (_, obstacle) => ledger.refuse(obstacle),
    settle: (commitment, charges) => void commitment.settle(charges),
    mayCount: (apiKeyId) => ledger.mayCount(apiKeyId),
    book: (booked) => ledger.book(booked),
    standings: () => [],
    gather: () => Effect.void,
    commitments: (apiKeyId) => ledger.commitments(apiKeyId),
    budgets: () => [],
    tokenLimits: () => [],
    putBudget: () => ofOwner("KeyLimits.putBudget"),
    removeBudget: () => ofOwner("KeyLimits.removeBudget"),
    putTokenLimit: () => ofOwner("KeyLimits.putTokenLimit"),
    removeTokenLimit: () => ofOwner("KeyLimits.removeTokenLimit"),
    keyChanged: () => ofOwner("KeyLimits.keyChanged"),
    limitsChanged: () => ofOwner("KeyLimits.limitsChanged"),
    forgetKey: () => ofOwner("KeyLimits.forgetKey"),
    ownersChanged: ofOwner("KeyLimits.ownersChanged"),
    ownerStandings: () => []
  })
})

export const layer: Layer.Layer<KeyLimits, never, MovedRows | OwnerLink | Timers> = Layer.scoped(KeyLimits, make)
