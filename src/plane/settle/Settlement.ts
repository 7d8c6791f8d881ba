/**
 * Settles a request: every request that was admitted leaves one usage row, one decision record and one telemetry event, whether it
 * was completed, failed or aborted. Synchronous; the row is in the journal before the client gets its last byte.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Mutable } from "effect/Types"
import { headerOf } from "../../subjects/auth/Credentials.ts"
import type { UsageRow } from "../../contract/domain/Usage.ts"
import type { Charge } from "../ledger/Commitment.ts"
import type { Reservation } from "../ledger/KeyAccount.ts"
import { KeyLimits } from "../ledger/KeyLimits.ts"
import * as Timers from "../../platform/Timers.ts"
import * as Catalog from "../providers/Catalog.ts"
import * as DecisionLog from "../routing/records/DecisionLog.ts"
import * as PriceBook from "../../observe/usage/PriceBook.ts"
import * as Telemetry from "../../observe/usage/Telemetry.ts"
import type { RequestSummary } from "../../observe/usage/telemetry/Summary.ts"
import { countsWhole, type Exchange, type Work } from "../request/Exchange.ts"
import type { Kept, UsageOutcome } from "../request/KeptAnswer.ts"
import { Acknowledgement } from "./Acknowledgement.ts"
import { type Bill, makeBill, type Pricing, type Served } from "./Bill.ts"
import { entryOf, undecidedEntry } from "./DecisionEntries.ts"
import { ledgerCalls } from "./LedgerCalls.ts"
import { type Entry, keptRow, refusedRow, rowOf, type Settled } from "./UsageRows.ts"

export class Settlement extends Context.Tag("gateway/plane/settle/Settlement")<
  Settlement,
  {
    /** Hot. `others`: what more was done for the same request (the panel of a fusion). */
    readonly bill: (work: Work, served: Served | null, others?: ReadonlyArray<Served>) => Bill
    /**
     * Hot: settles a request that got as far as a decision, then runs `answer`.
     */
    readonly settle: (settled: Settled, answer: () => void) => void
    /**
     * Settles a request that was refused before a decision, then runs `answer`. `unknownCaller`: it leaves a log line but no
     * row, so that callers without a key cannot fill the table.
     */
    readonly settleRefused: (
      exchange: Exchange,
      model: string,
      ending: UsageOutcome,
      unknownCaller: boolean,
      answer: () => void
    ) => void
    /** Settles a request that took no call of its own, then runs `answer`. It costs nothing. */
    readonly settleKept: (exchange: Exchange, kept: Kept, answer: () => void) => void
  }
>() {}

const none: ReadonlyArray<Served> = []
const noReservations: ReadonlyArray<Reservation> = []
const nothingReserved: Entry = { reservedNanoUsd: 0, calls: null }

const chargesOf = ({ items }: Bill): ReadonlyArray<Charge> =>
  items.map(({ costNanoUsd, target, tokens }) => ({
    provider: target.account.spec.id,
    model: target.model,
    nanoUsd: costNanoUsd,
    tokens: tokens.in + tokens.out
  }))

export const make = Effect.gen(function* () {
  const { acknowledge } = yield* Acknowledgement
  const catalog = yield* Catalog.Catalog
  const decisions = yield* DecisionLog.DecisionLog
  const prices = yield* PriceBook.PriceBook
  const telemetry = yield* Telemetry.Telemetry
  const limits = yield* KeyLimits
  const { monotonicMs, nowMs } = yield* Timers.Timers

  const pricing: Pricing = { prices, factsOf: ({ account, model }) => catalog.factsOf(account, model) }

  const recordUndecided = (exchange: Exchange, model: string, ending: UsageOutcome): void => {
    const entry = exchange.hooks === undefined ? null : undecidedEntry(exchange, model, ending)
    if (entry !== null) decisions.record(entry)
  }

  /**
   * Checks whether the target's model is one that its account lists, or that a combo names: then it may be a label of
   * metrics.
   */
  const isListed = (work: Work, { target: { account, model } }: Served): boolean =>
    work.resolution.combo !== null || catalog.modelsOf(account).includes(model)

  const listing = (work: Work, served: Served) => (): boolean => isListed(work, served)

  const observeUncalled = ({ headers, method, path }: Exchange, row: UsageRow): void =>
    telemetry.observe({ row, method, path, traceparent: headerOf(headers, "traceparent") })

  /** Hot: books the cost of a request whose key had no limits when it was let in, and may have some now. */
  const bookLate = (exchange: Exchange, bill: Bill): void => {
    const { principal, receivedMs, requestId } = exchange
    if (principal._tag !== "Key" || !limits.mayCount(principal.key.id)) return
    const isCounted = countsWhole(exchange)
    limits.book({ requestId, apiKeyId: principal.key.id, receivedMs, charges: chargesOf(bill), isCounted })
  }

  /** Hot: books the cost on the limits of the key, and returns the entry for the ledger. */
  const booked = ({ commitment, exchange, trail }: Work, bill: Bill): Entry => {
    const reserved = commitment?.reservations ?? noReservations
    if (commitment !== null) limits.settle(commitment, chargesOf(bill))
    else if (trail.attempts.length > 0) bookLate(exchange, bill)
    if (trail.attempts.length < 2 && reserved.length === 0) return nothingReserved
    let reservedNanoUsd = 0
    for (const { nanoUsd } of reserved) reservedNanoUsd += nanoUsd
    const calls = trail.attempts.length < 2 ? null : ledgerCalls(trail.attempts, bill.items, reserved, nowMs())
    return { reservedNanoUsd, calls }
  }

  return Settlement.of({
    bill: (work, served, others = none) => makeBill(pricing, work, served, others, monotonicMs()),
    settle: (settled, answer) => {
      const { bill, ending, served, work } = settled
      const { exchange } = work
      const row = rowOf(settled, booked(work, bill))
      acknowledge(row, answer, exchange)
      decisions.record(entryOf(work, served, ending.outcome))
      const summary: Mutable<RequestSummary> = {
        row,
        method: exchange.method,
        path: exchange.path,
        attempts: work.trail.attempts,
        sessionKey: work.question.sessionKey,
        traceparent: headerOf(exchange.headers, "traceparent")
      }
      if (served !== null) summary.isListed = listing(work, served)
      telemetry.observe(summary)
      exchange.tap?.settled(row)
    },
    settleRefused: (exchange, model, ending, unknownCaller, answer) => {
      const row = refusedRow(exchange, model, ending, monotonicMs())
      if (unknownCaller) answer()
      else acknowledge(row, answer, exchange)
      recordUndecided(exchange, model, ending)
      observeUncalled(exchange, row)
      exchange.tap?.settled(row)
    },
    settleKept: (exchange, kept, answer) => {
      const row = keptRow(exchange, kept, monotonicMs())
      acknowledge(row, answer, exchange)
      recordUndecided(exchange, kept.requestedModel, kept.ending)
      observeUncalled(exchange, row)
      exchange.tap?.settled(row)
    }
  })
})

export const layer: Layer.Layer<
  Settlement,
  never,
  | Acknowledgement
  | Catalog.Catalog
  | DecisionLog.DecisionLog
  | KeyLimits
  | PriceBook.PriceBook
  | Telemetry.Telemetry
  | Timers.Timers
> = Layer.effect(Settlement, make)
