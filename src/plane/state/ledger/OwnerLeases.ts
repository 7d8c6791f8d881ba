/**
 * The leases of all workers as their owner has them. What a worker holds counts as reserved in the limit that it was granted of. Plain and
 * synchronous; times are monotonic.
 */
import { Pace, sliceOf } from "./Slice.ts"

/** A limit that leases are granted of. */
export interface Pool {
  /** The amount that is neither used nor held. */
  readonly left: (nowMs: number) => number
  /** Leases hold so much more of it, or less. */
  readonly hold: (change: number) => void
}

export interface Granted {
  /** All that was granted since the lease began. */
  readonly total: number
  readonly isNear: boolean
}

export interface LeaseName {
  readonly worker: string
  readonly number: number
}

class OwnerLease<P extends Pool> implements LeaseName {
  granted = 0
  spent = 0
  isNear = true
  readonly worker: string
  readonly number: number
  readonly pool: P
  readonly pace: Pace

  constructor(worker: string, number: number, pool: P, nowMs: number) {
    this.worker = worker
    this.number = number
    this.pool = pool
    this.pace = new Pace(nowMs)
  }

  /** A worker that has booked more than it had owes nothing: what it booked is used by now. */
  get held(): number {
    return Math.max(0, this.granted - this.spent)
  }
}

export interface LeaseDraw<P extends Pool> {
  readonly worker: string
  readonly number: number
  readonly pool: P
  readonly need: number
}

export class OwnerLeases<P extends Pool> {
  readonly #byWorker = new Map<string, Map<number, OwnerLease<P>>>()
  readonly #byPool = new Map<P, Set<OwnerLease<P>>>()

  /** Grants at least what is needed, where as much is left; null: it is not. `isPromised`: it is granted whatever is left. */
  take({ need, number, pool, worker }: LeaseDraw<P>, nowMs: number, isPromised = false): Granted | null {
    const known = this.#byWorker.get(worker)?.get(number)
    const perMs = known?.pace.perMs ?? 0
    const slice =
      sliceOf({ need, left: pool.left(nowMs), perMs }) ?? (isPromised ? { amount: need, isNear: true } : null)
    if (slice === null) return null
    const lease = known ?? this.#begin(worker, number, pool, nowMs)
    lease.pace.drew(slice.amount, nowMs)
    if (need > 0 || slice.amount > 0) lease.isNear = slice.isNear
    this.#change(lease, lease.granted + slice.amount, lease.spent)
    return { total: lease.granted, isNear: lease.isNear }
  }

  /** A worker has booked or given back so much of a lease in all; returns by how much that is more than before. */
  spent(worker: string, number: number, total: number, nowMs: number): number {
    const lease = this.#byWorker.get(worker)?.get(number)
    if (lease === undefined || total <= lease.spent) return 0
    const more = total - lease.spent
    this.#change(lease, lease.granted, total)
    if (lease.held === 0) lease.pace.drew(0, nowMs)
    return more
  }

  /** Returns the pool of a lease; undefined when there is no such lease any more. */
  poolOf(worker: string, number: number): P | undefined {
    return this.#byWorker.get(worker)?.get(number)?.pool
  }

  /** A worker holds so much by an earlier owner's word. */
  adopt({ need: held, number, pool, worker }: LeaseDraw<P>, nowMs: number): void {
    this.#change(this.#begin(worker, number, pool, nowMs), held, 0)
  }

  /** The amount that all workers hold of a pool. */
  heldOf(pool: P): number {
    let held = 0
    for (const lease of this.#byPool.get(pool) ?? []) held += lease.held
    return held
  }

  /** Takes back all that a worker holds; `each` receives what it held of a pool. */
  end(worker: string, each?: (pool: P, held: number) => void): void {
    const leases = this.#byWorker.get(worker)
    if (leases === undefined) return
    this.#byWorker.delete(worker)
    for (const lease of leases.values()) {
      const { held, pool } = lease
      this.#change(lease, 0, 0)
      this.#leavePool(lease)
      if (held > 0) each?.(pool, held)
    }
  }

  /** The worker has forgotten a lease. */
  forget(worker: string, number: number): void {
    const lease = this.#byWorker.get(worker)?.get(number)
    if (lease === undefined) return
    this.#change(lease, 0, 0)
    this.#byWorker.get(worker)?.delete(number)
    this.#leavePool(lease)
  }

  /** The limit is no more; returns the leases of it. */
  drop(pool: P): ReadonlyArray<LeaseName> {
    const leases = [...(this.#byPool.get(pool) ?? [])]
    for (const { number, worker } of leases) this.#byWorker.get(worker)?.delete(number)
    this.#byPool.delete(pool)
    return leases
  }

  isDrawnOn(pool: P): boolean {
    return this.#byPool.has(pool)
  }

  /** Leases of other workers that may have more than they need. They give back at once from now on. */
  recall(pool: P, worker: string): ReadonlyArray<LeaseName> {
    const found: Array<LeaseName> = []
    for (const lease of this.#byPool.get(pool) ?? []) {
      if (lease.isNear || lease.worker === worker || lease.held === 0) continue
      lease.isNear = true
      found.push(lease)
    }
    return found
  }

  #begin(worker: string, number: number, pool: P, nowMs: number): OwnerLease<P> {
    const lease = new OwnerLease(worker, number, pool, nowMs)
    const ofWorker = this.#byWorker.get(worker) ?? new Map<number, OwnerLease<P>>()
    this.#byWorker.set(worker, ofWorker.set(number, lease))
    this.#byPool.set(pool, (this.#byPool.get(pool) ?? new Set()).add(lease))
    return lease
  }

  #leavePool(lease: OwnerLease<P>): void {
    const leases = this.#byPool.get(lease.pool)
    leases?.delete(lease)
    if (leases?.size === 0) this.#byPool.delete(lease.pool)
  }

  #change(lease: OwnerLease<P>, granted: number, spent: number): void {
    const before = lease.held
    lease.granted = granted
    lease.spent = spent
    if (lease.held !== before) lease.pool.hold(lease.held - before)
  }
}
