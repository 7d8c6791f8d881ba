/** Keeps the news and questions of a node until its next turn. Plain and synchronous. */
import type { Take } from "../../state/ledger/Messages.ts"
import type { Meter, MeterWindow } from "../Meter.ts"
import { windowId } from "./Books.ts"
import type { WindowList } from "./Refs.ts"
import type { News, RowTake, Turn, WindowRef } from "./Rows.ts"

/** A request's need of leases, and where the answer goes. */
export interface Asked {
  readonly take: Take
  /** It was short so many times already. */
  readonly tries: number
  readonly then: (answer: unknown) => void
}

export interface Booking {
  /** As it was named last. */
  ref: WindowRef
  amount: number
  /** The request that was booked last, and its key. */
  requestId: string
  apiKeyId: string
}

/** Cost of a request that an earlier life left. */
export interface Left {
  readonly requestId: string
  readonly bookings: ReadonlyArray<Booking>
}

interface Arrivals {
  total: number
  /** Monotonic. */
  readonly times: Array<number>
}

export class TurnQueue {
  asked: Array<Asked> = []
  /** Called when a turn is done. */
  renewals: Array<(answer: unknown) => void> = []
  inherited: Array<Left> | null = null
  /** Requests whose cost is in `bookings`. A set for each turn, not one for all: see `kernel/collections/Slots`. */
  reported = new Set<string>()
  /** Called when the rows know what this turn has told. */
  told: Array<() => void> = []
  readonly bookings = new Map<string, Booking>()
  /** Those of requests of this turn, by the window of the meter that counts them. */
  readonly #ofMeters = new Map<MeterWindow, { readonly meter: Meter; readonly booking: Booking }>()
  readonly spent = new Map<number, number>()
  readonly arrivals = new Map<number, Arrivals>()
  readonly returned: Array<readonly [lease: number, amount: number]> = []
  readonly ended: Array<readonly [lease: number, ref: WindowRef]> = []
  readonly left: Array<readonly [key: string, session: string]> = []
  readonly adopted: Array<readonly [lease: number, ref: WindowRef, held: number]> = []
  readonly entered: Array<readonly [key: string, session: string]> = []

  get isEmpty(): boolean {
    return !this.isUrgent && !this.hasNews
  }

  /** Something waits for an answer. */
  get isUrgent(): boolean {
    return this.asked.length > 0 || this.renewals.length > 0 || this.inherited !== null
  }

  get hasNews(): boolean {
    return (
      this.inherited !== null ||
      this.reported.size > 0 ||
      this.bookings.size > 0 ||
      this.spent.size > 0 ||
      this.arrivals.size > 0 ||
      this.returned.length > 0 ||
      this.ended.length > 0 ||
      this.left.length > 0 ||
      this.adopted.length > 0 ||
      this.entered.length > 0
    )
  }

  /** Takes back what a turn that was not done has booked. */
  bookAgain({
    bookings,
    inherited,
    reported,
    told
  }: Pick<TurnQueue, "bookings" | "inherited" | "reported" | "told">): void {
    this.reported = new Set([...reported, ...this.reported])
    this.told = [...told, ...this.told]
    for (const booking of bookings.values()) this.book(booking)
    if (inherited !== null) this.inherited = [...inherited, ...(this.inherited ?? [])]
  }

  /** Something was booked of a limit; returns what is booked of it in all. */
  book({ amount, apiKeyId, ref, requestId }: Booking): Booking {
    const id = windowId(ref)
    const known = this.bookings.get(id)
    const booking = known ?? { ref, amount: 0, requestId, apiKeyId }
    if (known === undefined) this.bookings.set(id, booking)
    booking.amount += amount
    return Object.assign(booking, { ref, requestId, apiKeyId })
  }

  /** Hot: a request has cost so much of a limit. The row is named once in a turn. */
  bookMeter(meter: Meter, window: MeterWindow, more: Omit<Booking, "ref">, refOf: () => WindowRef): void {
    const known = this.#ofMeters.get(window)
    if (known?.meter !== meter) {
      this.#ofMeters.set(window, { meter, booking: this.book({ ...more, ref: refOf() }) })
      return
    }
    const { booking } = known
    booking.amount += more.amount
    booking.requestId = more.requestId
    booking.apiKeyId = more.apiKeyId
  }

  arrived(lease: number, total: number, times: ReadonlyArray<number>): void {
    const known = this.arrivals.get(lease) ?? { total, times: [] }
    known.total = total
    known.times.push(...times)
    this.arrivals.set(lease, known)
  }

  /** The sums of leases begin anew: those of before mean nothing. */
  forgetLeases(): void {
    this.spent.clear()
    this.arrivals.clear()
    this.returned.splice(0)
    this.ended.splice(0)
    this.left.splice(0)
    this.adopted.splice(0)
    this.entered.splice(0)
  }

  /** Returns the news, with their windows in the list. */
  news(windows: WindowList, refOf: (lease: number) => WindowRef | undefined, nowMs: number): News {
    const known = (lease: number): boolean => {
      const ref = refOf(lease)
      if (ref !== undefined) windows.place(ref)
      return ref !== undefined
    }
    const place = ({ amount, ref }: Booking): readonly [number, number] => [windows.place(ref), amount]
    return {
      reported: [...this.reported],
      bookings: [...this.bookings.values()].map(place),
      spent: [...this.spent].filter(([lease]) => known(lease)),
      arrivals: [...this.arrivals].flatMap(([lease, { times, total }]) =>
        known(lease) ? [[lease, total, times.map((atMs) => Math.floor(nowMs - atMs))] as const] : []
      ),
      returned: this.returned.filter(([lease]) => known(lease)),
      ended: this.ended.map(([lease, ref]) => {
        windows.place(ref)
        return lease
      }),
      left: [...this.left],
      adopted: this.adopted.map(([lease, ref, held]) => [lease, windows.place(ref), held] as const),
      entered: [...this.entered],
      inherited: this.inherited?.map(({ bookings, requestId }) => [requestId, bookings.map(place)] as const) ?? null
    }
  }
}

/** A turn on its way, and what is done when it is. */
export interface Sent {
  turn: Turn
  readonly queue: TurnQueue
  /** The takes, as they stand in the turn; null: answered without the rows. */
  asked: ReadonlyArray<Asked | null>
}

export const noTake: RowTake = { checks: [], needs: [], session: null, isPromised: false }
