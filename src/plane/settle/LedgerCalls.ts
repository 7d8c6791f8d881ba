/** The ledger's entries of a request with several calls. Pure. */
import type { AttemptRecord } from "../../subjects/routing/entity.ts"
import type { LedgerCall } from "../../contract/domain/Ledger.ts"
import type { Reservation } from "../ledger/KeyAccount.ts"
import type { BillItem } from "./Bill.ts"

interface Made {
  readonly connectionId: string
  readonly model: string
}

/** Takes the first of them that was made by the same model of the same account. */
const takeOf = <A>(all: Array<A>, { connectionId, model }: Made, madeBy: (each: A) => Made): A | null => {
  const index = all.findIndex((each) => {
    const made = madeBy(each)
    return made.connectionId === connectionId && made.model === model
  })
  return index === -1 ? null : (all.splice(index, 1)[0] ?? null)
}

const itemMadeBy = ({ target }: BillItem): Made => ({
  connectionId: target.account.connection.id,
  model: target.model
})

/**
 * An entry per call, in the order in which the calls ended. What is on the bill without a call of its own (a part of an answer that was
 * continued at the same model) is added to the last of that model, so that the entries sum up to the bill.
 */
export const ledgerCalls = (
  attempts: ReadonlyArray<AttemptRecord>,
  billed: ReadonlyArray<BillItem>,
  reserved: ReadonlyArray<Reservation>,
  nowMs: number
): ReadonlyArray<LedgerCall> => {
  // From the end: a model that failed at first and answered then is billed for its last call.
  const items = billed.toReversed()
  const newestFirst = reserved.toReversed()
  const calls: Array<LedgerCall> = attempts
    .map((attempt, index) => ({ attempt, number: index + 1 }))
    .toReversed()
    .map(({ attempt, number }) => {
      const item = attempt.outcome === "failed" && attempt.status !== 200 ? null : takeOf(items, attempt, itemMadeBy)
      const reservation = takeOf(newestFirst, attempt, (each) => each)
      return {
        attempt: number,
        provider: attempt.provider,
        connectionId: attempt.connectionId,
        model: attempt.model,
        state: item === null ? "voided" : item.source === "upstream" ? "settled" : "estimated",
        reservedNanoUsd: reservation?.nanoUsd ?? 0,
        settledNanoUsd: item?.costNanoUsd ?? 0,
        price: item?.price ?? reservation?.price ?? null,
        createdAtMs: attempt.startedMs,
        settledAtMs: nowMs
      } satisfies LedgerCall
    })
    .toReversed()
  for (const item of items) {
    const { connectionId, model } = itemMadeBy(item)
    const at = calls.findLastIndex((call) => call.connectionId === connectionId && call.model === model)
    const call = calls[at] ?? calls.at(-1)
    if (call === undefined) continue
    calls[at === -1 ? calls.length - 1 : at] = {
      ...call,
      state: item.source === "upstream" && call.state !== "estimated" ? "settled" : "estimated",
      settledNanoUsd: call.settledNanoUsd + item.costNanoUsd
    }
  }
  return calls
}
