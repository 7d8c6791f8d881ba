/** The limits of one key as a worker has them: what it may use of each without asking. Plain and synchronous. */
import type { Limits, Need } from "../../state/ledger/Messages.ts"
import { WorkerLease } from "../../state/ledger/WorkerLease.ts"
import type { Holder, Obstacle, Reservation } from "../KeyAccount.ts"
import { Meter, type MeterSpec, type MeterWindow } from "../Meter.ts"
import { isSameMeter } from "../Specs.ts"

/** Numbers of leases, unique in the life of a worker. */
export type NextNumber = () => number

export class LeasedMeter {
  meter: Meter
  readonly #next: NextNumber
  readonly #leases = new Map<number, { readonly window: MeterWindow; readonly lease: WorkerLease }>()
  #latest: { readonly window: MeterWindow; readonly lease: WorkerLease } | null = null

  constructor(spec: MeterSpec, next: NextNumber) {
    this.meter = new Meter(spec)
    this.#next = next
  }

  /** Hot: lease of the window of an instant, epoch milliseconds. */
  lease(atMs: number): WorkerLease {
    const latest = this.#latest
    if (latest !== null && latest.window.startMs <= atMs && atMs < latest.window.endMs) return latest.lease
    const window = this.meter.at(atMs)
    const known = this.#leases.get(window.startMs)
    this.#latest = known ?? { window, lease: new WorkerLease(this.#next()) }
    if (known === undefined) this.#leases.set(window.startMs, this.#latest)
    return this.#latest.lease
  }

  entries(): Iterable<{ readonly window: MeterWindow; readonly lease: WorkerLease }> {
    return this.#leases.values()
  }

  delete(windowStartMs: number): void {
    this.#leases.delete(windowStartMs)
    this.#latest = null
  }
}

export class LeasedRate {
  readonly limit: number
  readonly windowMs: number
  readonly lease: WorkerLease
  /** Monotonic times of admissions that the owner has not been told of. */
  times: Array<number> = []
  /** Monotonic; before it the owner lets nothing in. */
  notUntilMs = Number.NEGATIVE_INFINITY

  constructor(limit: number, windowMs: number, number: number) {
    this.limit = limit
    this.windowMs = windowMs
    this.lease = new WorkerLease(number)
  }
}

interface Entered {
  running: number
  /** The owner counts it for this worker. */
  isOwned: boolean
}

/** Amounts that a reservation holds of leases. */
export interface Hold {
  readonly lease: WorkerLease
  readonly meter: LeasedMeter
  readonly amount: number
}

/** The owner has said that a window is used up. */
interface UsedUp {
  readonly meter: LeasedMeter
  readonly window: MeterWindow
  readonly untilMs: number
}

/** Time in ms for which a limit that is used up is not asked for again. */
const usedUpMs = 1_000

export class LeasedAccount {
  /** 0: the limits are not known. */
  version = 0
  /** The owner has changed them. */
  isStale = false
  meters: ReadonlyArray<LeasedMeter> = []
  rates: ReadonlyArray<LeasedRate> = []
  maxSessions = 0
  readonly apiKeyId: string
  readonly holders = new Set<
    Holder & { readonly rehold: () => void; readonly enteredMs: number | null; readonly hasReported: boolean }
  >()
  readonly sessions = new Map<string, Entered>()
  readonly #next: NextNumber
  /** Limits that keys of a person or a team share in this worker, by their id. */
  readonly #shared: Map<string, LeasedMeter>
  #usedUp: UsedUp | null = null

  constructor(apiKeyId: string, next: NextNumber, shared: Map<string, LeasedMeter>) {
    this.apiKeyId = apiKeyId
    this.#next = next
    this.#shared = shared
  }

  /** The limits of the key alone. */
  get own(): ReadonlyArray<LeasedMeter> {
    return this.meters.filter(({ meter }) => meter.spec.owner === undefined)
  }

  get isKnown(): boolean {
    return this.version !== 0 && !this.isStale
  }

  get hasLimits(): boolean {
    return this.meters.length > 0 || this.rates.length > 0 || this.maxSessions > 0
  }

  /** Takes over the limits that the owner has told. Leases of limits that stay are kept. */
  follow({ maxSessions, meters, rates, version }: Limits<MeterSpec>): void {
    const before = this.meters
    const ratesBefore = this.rates
    this.version = version
    this.isStale = false
    this.#usedUp = null
    this.maxSessions = maxSessions
    this.meters = meters.map((spec) => {
      const isShared = spec.owner !== undefined
      const same = isShared ? this.#shared.get(spec.id) : before.find(({ meter }) => isSameMeter(meter.spec, spec))
      const known = same !== undefined && isSameMeter(same.meter.spec, spec) ? same : undefined
      if (known === undefined) {
        const made = new LeasedMeter(spec, this.#next)
        if (isShared) this.#shared.set(spec.id, made)
        return made
      }
      known.meter = known.meter.resized(spec)
      return known
    })
    this.rates = rates.map(({ limit, window }) => {
      const known = ratesBefore.find((rate) => rate.limit === limit && rate.windowMs === window * 1_000)
      if (known !== undefined) known.notUntilMs = Number.NEGATIVE_INFINITY
      return known ?? new LeasedRate(limit, window * 1_000, this.#next())
    })
    for (const holder of this.holders) holder.rehold()
  }

  /** Forgets leases whose limits are no more. */
  forget(gone: ReadonlySet<number>): void {
    for (const meter of this.meters) {
      for (const { lease, window } of meter.entries()) if (gone.has(lease.number)) meter.delete(window.startMs)
    }
    this.rates = this.rates.filter(({ lease }) => !gone.has(lease.number))
  }

  /** All leases. */
  *leases(): Iterable<WorkerLease> {
    for (const meter of this.meters) for (const { lease } of meter.entries()) yield lease
    for (const { lease } of this.rates) yield lease
  }

  /** Hot: reserves a call; adds to `needs` what has to be asked for. Returns what it holds. */
  reserve(receivedMs: number, reservation: Reservation, needs: Array<Need>): ReadonlyArray<Hold> {
    const holds: Array<Hold> = []
    for (let limit = 0; limit < this.meters.length; limit += 1) {
      const each = this.meters[limit]
      if (each === undefined || !each.meter.counts(reservation.provider, reservation.model)) continue
      const amount = each.meter.amountOf(reservation)
      if (amount === 0) continue
      const lease = each.lease(receivedMs)
      const need = lease.reserve(amount)
      holds.push({ lease, meter: each, amount })
      if (need > 0) needs.push([lease.number, limit, each.meter.at(receivedMs).startMs, need, amount])
    }
    return holds
  }

  /** Hot: checks whether a request may come in by what is held. `isWhole`: it counts for rates and the day. */
  mayEnter(receivedMs: number, isWhole: boolean, session: string | null): boolean {
    for (const each of this.meters) {
      const { scope, unit } = each.meter.spec
      if (scope !== null) continue
      const lease = each.lease(receivedMs)
      if (unit === "requests") {
        if (isWhole && lease.free < 1) return false
      } else if (lease.held <= 0) return false
    }
    if (!isWhole) return true
    for (const { lease } of this.rates) if (lease.free < 1) return false
    return session === null || this.sessions.get(session)?.isOwned === true
  }

  /** Reserves what a request needs to come in; returns what has to be asked for. */
  enter(receivedMs: number, isWhole: boolean): { readonly needs: Array<Need>; readonly day: WorkerLease | null } {
    const needs: Array<Need> = []
    let day: WorkerLease | null = null
    for (const [limit, each] of this.meters.entries()) {
      const { scope, unit } = each.meter.spec
      if (scope !== null) continue
      const lease = each.lease(receivedMs)
      const { startMs } = each.meter.at(receivedMs)
      if (unit !== "requests") {
        if (lease.held <= 0) needs.push([lease.number, limit, startMs, 0, 0])
      } else if (isWhole) {
        day = lease
        const need = lease.reserve(1)
        if (need > 0) needs.push([lease.number, limit, startMs, need, 1])
      }
    }
    if (isWhole) {
      for (const [index, { lease }] of this.rates.entries()) {
        const need = lease.reserve(1)
        if (need > 0) needs.push([lease.number, -index - 1, 0, need, 1])
      }
    }
    return { needs, day }
  }

  /** Takes back what `enter` has reserved of rates and the day. */
  withdraw(rates: ReadonlyArray<LeasedRate>, day: WorkerLease | null): void {
    for (const { lease } of rates) lease.release(1)
    day?.release(1)
  }

  /** Hot: the day's lease, with one request reserved. */
  reserveDay(receivedMs: number): WorkerLease | null {
    for (const each of this.meters) {
      if (each.meter.spec.unit !== "requests") continue
      const lease = each.lease(receivedMs)
      lease.reserve(1)
      return lease
    }
    return null
  }

  /** The owner has said that a window is used up. */
  noteUsedUp(meter: LeasedMeter, window: MeterWindow, nowMs: number): void {
    if (meter.meter.spec.scope === null && meter.meter.spec.unit !== "requests") {
      this.#usedUp = { meter, window, untilMs: nowMs + usedUpMs }
    }
  }

  /** Hot: a limit that was used up a moment ago; null: none. */
  usedUp(receivedMs: number, nowMs: number): Obstacle | null {
    const known = this.#usedUp
    if (known === null || nowMs >= known.untilMs) return null
    const { meter, window } = known
    return window.startMs <= receivedMs && receivedMs < window.endMs
      ? { meter: meter.meter, window, isReserved: false }
      : null
  }

  /** A request of a session begins, or waits for the owner. */
  sessionEntered(session: string): void {
    const known = this.sessions.get(session)
    if (known === undefined) this.sessions.set(session, { running: 1, isOwned: false })
    else known.running += 1
  }

  sessionOwned(session: string): void {
    const known = this.sessions.get(session)
    if (known !== undefined) known.isOwned = true
  }

  /** Returns true when the owner has to be told that the session is over. */
  sessionLeft(session: string): boolean {
    const known = this.sessions.get(session)
    if (known === undefined) return false
    known.running -= 1
    if (known.running > 0) return false
    this.sessions.delete(session)
    return known.isOwned
  }

  get isIdle(): boolean {
    if (this.holders.size > 0 || this.sessions.size > 0) return false
    for (const meter of this.own) for (const { lease } of meter.entries()) if (!lease.isEmpty) return false
    if (this.rates.some(({ lease }) => !lease.isEmpty)) return false
    return this.rates.every(({ times }) => times.length === 0)
  }
}
