/**
 * The ledger: what was reserved of a key's limits for each call, and what came of it. Entries are only ever added. Money is nano-USD (`nanoUsdParts`)
 * inside, USD outside (`/api/usage/ledger`).
 */
import * as Schema from "effect/Schema"
import { ModelPrice } from "../../subjects/pricing/entity.ts"

/**
 * `reserved`: the call runs. `settled`: booked at what the upstream reported. `voided`: the call cost nothing. `estimated`: the upstream
 * reported nothing, or the gateway ended in the middle of the call.
 */
export const ledgerStates = ["reserved", "settled", "voided", "estimated"] as const
export type LedgerState = (typeof ledgerStates)[number]

/** One call of a request that has ended. Times are epoch milliseconds. */
export const LedgerCall = Schema.Struct({
  /** Number from 1, in the order in which the calls of a request ended. */
  attempt: Schema.Number,
  provider: Schema.String,
  connectionId: Schema.String,
  model: Schema.String,
  state: Schema.Literal("settled", "voided", "estimated"),
  reservedNanoUsd: Schema.Number,
  settledNanoUsd: Schema.Number,
  price: Schema.NullOr(ModelPrice),
  createdAtMs: Schema.Number,
  settledAtMs: Schema.Number
})
export type LedgerCall = typeof LedgerCall.Type
