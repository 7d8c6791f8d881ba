/** The limits of keys as pools that leases are granted of. State of the owner; plain and synchronous. */
import type { Pool } from "../../state/ledger/OwnerLeases.ts"
import type { HeldLease, Limits } from "../../state/ledger/Messages.ts"
import type { KeyAccount } from "../KeyAccount.ts"
import type { Meter, MeterSpec, MeterWindow } from "../Meter.ts"
import type { SlidingLog } from "../Rates.ts"

export class MeterPool implements Pool {
  readonly apiKeyId: string
  readonly window: MeterWindow
  meter: Meter

  constructor(apiKeyId: string, meter: Meter, window: MeterWindow) {
    this.apiKeyId = apiKeyId
    this.meter = meter
    this.window = window
  }

  readonly left = (): number => this.meter.spec.limit - this.window.used - this.window.reserved

  readonly hold = (change: number): void => {
    this.window.reserved += change
  }

  /** Checks whether a request would fit if nothing of others were reserved. */
  fitsAlone(amount: number): boolean {
    return this.window.used < this.meter.spec.limit && this.window.used + amount <= this.meter.spec.limit
  }
}

export class RatePool implements Pool {
  readonly apiKeyId: string
  readonly log: SlidingLog

  constructor(apiKeyId: string, log: SlidingLog) {
    this.apiKeyId = apiKeyId
    this.log = log
  }

  readonly left = (nowMs: number): number => this.log.left(nowMs)

  readonly hold = (change: number): void => {
    this.log.reserved += change
  }
}

export type LimitPool = MeterPool | RatePool

/** The pools of meters that keys of a person or a team share, by their window. */
export class SharedPools {
  readonly #pools = new Map<MeterWindow, MeterPool>()

  meter(meter: Meter, atMs: number): MeterPool {
    const window = meter.at(atMs)
    const known = this.#pools.get(window)
    if (known !== undefined) {
      known.meter = meter
      return known
    }
    const pool = new MeterPool("", meter, window)
    this.#pools.set(window, pool)
    return pool
  }

  /** Pool of what a worker holds since before the start; undefined: the limit is no more. */
  ofHeld(meter: Meter | undefined, windowStartMs: number): MeterPool | undefined {
    return meter?.at(windowStartMs).startMs === windowStartMs ? this.meter(meter, windowStartMs) : undefined
  }

  /** The limits were changed: forgets and returns the pools that are no more. Those that stay have their new size. */
  changed(current: (limitId: string) => Meter | undefined): ReadonlyArray<MeterPool> {
    const gone: Array<MeterPool> = []
    for (const [window, pool] of this.#pools) {
      const meter = current(pool.meter.spec.id)
      if (meter !== undefined && meter.at(window.startMs) === window) pool.meter = meter
      else gone.push(pool)
    }
    for (const { window } of gone) this.#pools.delete(window)
    return gone
  }

  /** Pools of windows that have ended, which nothing is held of. */
  ended(nowMs: number): ReadonlyArray<MeterPool> {
    return [...this.#pools.values()].filter(({ window }) => window.endMs < nowMs && window.reserved === 0)
  }

  forget({ window }: MeterPool): void {
    this.#pools.delete(window)
  }
}

/** The pools of one key, and the version of its limits. */
export class KeyPools {
  version = 1
  readonly apiKeyId: string
  readonly #meters = new Map<MeterWindow, MeterPool>()
  readonly #rates = new Map<SlidingLog, RatePool>()
  readonly #shared: SharedPools

  constructor(apiKeyId: string, shared: SharedPools) {
    this.apiKeyId = apiKeyId
    this.#shared = shared
  }

  meter(meter: Meter, atMs: number): MeterPool {
    if (meter.spec.owner !== undefined) return this.#shared.meter(meter, atMs)
    const window = meter.at(atMs)
    const known = this.#meters.get(window)
    if (known !== undefined) {
      known.meter = meter
      return known
    }
    const pool = new MeterPool(this.apiKeyId, meter, window)
    this.#meters.set(window, pool)
    return pool
  }

  rate(log: SlidingLog): RatePool {
    const pool = this.#rates.get(log) ?? new RatePool(this.apiKeyId, log)
    this.#rates.set(log, pool)
    return pool
  }

  /** Pool of a need: meters from 0 up, rates from -1 down. */
  of(account: KeyAccount, limit: number, windowStartMs: number): LimitPool | undefined {
    const meter = account.meters[limit]
    if (meter !== undefined) return this.meter(meter, windowStartMs)
    const log = account.rates[-limit - 1]
    return log === undefined ? undefined : this.rate(log)
  }

  /** Pool of what a worker holds since before the start; undefined: the limit is no more. */
  ofHeld(account: KeyAccount, { meter: id, rate, windowStartMs }: HeldLease): LimitPool | undefined {
    if (rate !== null) {
      const log = account.rates.find(({ limit, windowMs }) => limit === rate.limit && windowMs === rate.window * 1_000)
      return log === undefined ? undefined : this.rate(log)
    }
    const meter = account.meters.find(({ spec }) => spec.id === id)
    return meter !== undefined && meter.at(windowStartMs).startMs === windowStartMs
      ? this.meter(meter, windowStartMs)
      : undefined
  }

  /** The limits were changed: returns the pools that are no more. Those that stay have their new size. */
  changed(account: KeyAccount | undefined): ReadonlyArray<LimitPool> {
    this.version += 1
    const gone: Array<LimitPool> = []
    for (const [window, pool] of this.#meters) {
      const meter = account?.meters.find((each) => each.spec.id === pool.meter.spec.id)
      if (meter !== undefined && meter.at(window.startMs) === window) pool.meter = meter
      else gone.push(pool)
    }
    for (const [log, pool] of this.#rates) if (account?.rates.includes(log) !== true) gone.push(pool)
    for (const pool of gone) this.forget(pool)
    return gone
  }

  forget(pool: LimitPool): void {
    if (pool instanceof MeterPool) this.#meters.delete(pool.window)
    else this.#rates.delete(pool.log)
  }

  /** Pools of windows that have ended, which nothing is held of. */
  ended(nowMs: number): ReadonlyArray<MeterPool> {
    return [...this.#meters.values()].filter(({ window }) => window.endMs < nowMs && window.reserved === 0)
  }
}

/** Limits of a key for a worker. */
export const limitsOf = (account: KeyAccount | undefined, version: number): Limits<MeterSpec> => ({
  version,
  meters: (account?.meters ?? []).map(({ spec }) => spec),
  rates: (account?.rates ?? []).map(({ limit, windowMs }) => ({ limit, window: windowMs / 1_000 })),
  maxSessions: account?.maxSessions ?? 0
})
