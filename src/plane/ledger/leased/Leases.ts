/** Parts of a worker's ledger that only look at leases, or at one step of them. Plain and synchronous. */
import type { LimitReached } from "../../../contract/domain/Errors.ts"
import type { HeldLease, OpenRequest } from "../../state/ledger/Messages.ts"
import type { WorkerLease } from "../../state/ledger/WorkerLease.ts"
import type { Charge } from "../Commitment.ts"
import type { Holder } from "../KeyAccount.ts"
import { rateReached } from "../LimitErrors.ts"
import type { MeterWindow } from "../Meter.ts"
import type { LeasedAccount, LeasedMeter } from "./LeasedAccount.ts"

export const refusedByRate = ({ rates }: LeasedAccount, nowMs: number): LimitReached | null => {
  for (const { limit, notUntilMs, windowMs } of rates) {
    if (nowMs < notUntilMs) return rateReached(limit, windowMs, notUntilMs - nowMs)
  }
  return null
}

export function* allOf({
  meters
}: LeasedAccount): Iterable<{ readonly lease: WorkerLease; readonly window: MeterWindow }> {
  for (const meter of meters) yield* meter.entries()
}

/** Hot: cost of a request in the unit of a limit. */
export const costOf = ({ meter }: LeasedMeter, charges: ReadonlyArray<Charge>): number => {
  let cost = 0
  for (const charge of charges) if (meter.counts(charge.provider, charge.model)) cost += meter.amountOf(charge)
  return cost
}

export const openOf = ({ apiKeyId, receivedMs, requestId, reservations }: Holder): OpenRequest => ({
  requestId,
  apiKeyId,
  receivedMs,
  calls: reservations.map((call) => {
    const { connectionId, createdAtMs, isOpen, model, nanoUsd, price, provider, tokens, tokensIn, tokensOut } = call
    return { provider, connectionId, model, nanoUsd, tokens, tokensIn, tokensOut, price, createdAtMs, isOpen }
  })
})

/** Hot: near its limit, what is free goes back with the report. */
export const addSpent = (spent: Array<number>, lease: WorkerLease): void => {
  if (lease.isNear) lease.giveFree()
  spent.push(lease.number, lease.spent)
}

export const isCurrent = ({ meters }: LeasedAccount, meter: LeasedMeter, lease: WorkerLease, atMs: number): boolean =>
  meters.includes(meter) && meter.lease(atMs) === lease

/**
 * Ages of requests that came in by rates, and of which the owner was told; the oldest first. `ended`: times of those that are over and have no row in
 * the table.
 */
export const agesOf = (
  { holders, rates }: LeasedAccount,
  ended: ReadonlyArray<number>,
  nowMs: number
): ReadonlyArray<number> => {
  const untold = new Set(rates.flatMap(({ times }) => times))
  const running = [...holders].flatMap(({ enteredMs, hasReported }) =>
    enteredMs === null || hasReported ? [] : [enteredMs]
  )
  return [...running, ...ended]
    .filter((enteredMs) => !untold.has(enteredMs))
    .map((enteredMs) => Math.floor(nowMs - enteredMs))
    .toSorted((a, b) => b - a)
}

/** Lists what is held of limits, of a key or of those that keys share (null), for a new owner. The sums begin anew. */
export function* heldOfMeters(key: string | null, meters: Iterable<LeasedMeter>): Iterable<HeldLease> {
  for (const each of meters) {
    for (const { lease, window } of each.entries()) {
      const held = lease.begin()
      const { startMs: windowStartMs } = window
      if (held > 0) yield { lease: lease.number, key, meter: each.meter.spec.id, windowStartMs, rate: null, held }
    }
  }
}

/** Lists what is held of a key's own limits, for a new owner. The sums begin anew. */
export function* heldOf(account: LeasedAccount): Iterable<HeldLease> {
  const { apiKeyId: key } = account
  yield* heldOfMeters(key, account.own)
  for (const { lease, limit, times, windowMs } of account.rates) {
    // Admissions that the owner was not told of are told to the new one.
    lease.spent -= times.length
    const held = lease.begin()
    lease.spent += times.length
    if (held > 0)
      yield { lease: lease.number, key, meter: null, windowStartMs: 0, rate: { limit, window: windowMs / 1_000 }, held }
  }
}
