/** Leases as the way to the rows knows them, and small parts of it that only look. Plain. */
import type { Timer } from "../../../platform/Timers.ts"
import type { Pace } from "../../state/ledger/Slice.ts"
import type { Report } from "../../state/ledger/Messages.ts"
import type { Booked, LedgerTruth } from "../LedgerTruth.ts"
import type { Meter, MeterSpec, MeterWindow } from "../Meter.ts"
import { windowId } from "./Books.ts"
import type { LedgerRows, WindowRef } from "./Rows.ts"
import type { Booking, Left } from "./TurnQueue.ts"

export interface RowsLinkOptions {
  /** The data folder of the process. */
  readonly node: string
  readonly rows: LedgerRows
  readonly truth: typeof LedgerTruth.Service
  /** A name that no other holder has or had. */
  readonly newHolder: () => string
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  readonly after: (delayMs: number, run: () => void) => Timer
  /** Runs at the end of the turn of the event loop. */
  readonly soon: (run: () => void) => void
  /** Requests that the rows have: to be noted on disk before the function returns, so that the next life does not report them. */
  readonly acknowledged: (requestIds: ReadonlyArray<string>) => void
}

/** Time since when each limit is as it is, epoch milliseconds: of two sizes of a limit the later one counts. */
export class Since {
  readonly #known = new WeakMap<MeterSpec, number>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  of(spec: MeterSpec): number {
    const known = this.#known.get(spec)
    if (known !== undefined) return known
    const sinceMs = this.#nowMs()
    this.#known.set(spec, sinceMs)
    return sinceMs
  }
}

/** The part of a request's cost that a limit counts, in its unit. */
export const bookedOf = (meter: Meter, isCounted: boolean, charges: Booked["charges"]): number => {
  let amount = meter.spec.unit === "requests" && isCounted ? 1 : 0
  for (const each of charges) if (meter.counts(each.provider, each.model)) amount += meter.amountOf(each)
  return amount
}

/** Hot: the same of a report. */
export const reportedOf = (meter: Meter, isCounted: boolean, costs: Report[5]): number => {
  let amount = meter.spec.unit === "requests" && isCounted ? 1 : 0
  for (const [provider, model, nanoUsd, tokens] of costs) {
    if (meter.counts(provider, model)) amount += meter.amountOf({ nanoUsd, tokens })
  }
  return amount
}

/** A lease of the ledger, and the row it draws on. */
export interface Known {
  readonly ref: WindowRef
  /** Null: keys share it. */
  readonly key: string | null
  readonly meter: Meter | null
  readonly window: MeterWindow | null
  readonly pace: Pace
  /** All that the ledger knows to be granted. */
  total: number
  /** Server's time at which others wanted some of it, as far as this node has heard. */
  wantedMs: number
}

/** Bookings of requests whose usage rows are in the log by now: a row that is made by the log has them already. */
export const beforeRows = (all: ReadonlyArray<Left>): ReadonlyArray<Left> => {
  const amounts = new Map<string, number>()
  for (const { bookings } of all) {
    for (const { amount, ref } of bookings) amounts.set(windowId(ref), (amounts.get(windowId(ref)) ?? 0) + amount)
  }
  return all.map(({ bookings, requestId }) => ({
    requestId,
    bookings: bookings.map((booking) => withoutFloor(booking, amounts))
  }))
}

/** The booking, for a row that is made without what is to be booked. */
const withoutFloor = (booking: Booking, amounts: ReadonlyMap<string, number>): Booking => {
  const { ref } = booking
  return { ...booking, ref: { ...ref, floor: Math.max(0, ref.floor - (amounts.get(windowId(ref)) ?? 0)) } }
}

export const sessionId = (key: string, session: string): string => `${key} ${session}`

export const idOf = (ref: WindowRef | undefined): string => (ref === undefined ? "" : windowId(ref))

export const metersOf = (
  account: { readonly meters: ReadonlyArray<Meter> } | undefined,
  { spec }: Meter
): Meter | undefined => account?.meters.find((each) => each.spec.id === spec.id)

export const isCurrent = (current: Meter | undefined, meter: Meter, window: MeterWindow | null): boolean =>
  current !== undefined && (current === meter || (window !== null && current.at(window.startMs) === window))
