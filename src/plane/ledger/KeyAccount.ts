/**
 * The limits of one key, and everything that is reserved of them. The check of all limits and the reservation are one synchronous step, so
 * that no order of events passes a limit.
 */
import type { RateLimit } from "../../subjects/keys/entity.ts"
import type { LimitThreshold } from "../../subjects/limits/entity.ts"
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import type { Amounts, Meter, MeterWindow } from "./Meter.ts"
import { Sessions, SlidingLog } from "./Rates.ts"

/** Most that a call may take. */
export interface CallEstimate extends Amounts {
  readonly tokensIn: number
  readonly tokensOut: number
  readonly price: ModelPrice | null
}

/** Amounts reserved for one call. A class, because one is made per call. */
export class Reservation implements Amounts {
  readonly nanoUsd: number
  readonly tokens: number
  readonly provider: string
  readonly connectionId: string
  readonly model: string
  readonly tokensIn: number
  readonly tokensOut: number
  readonly price: ModelPrice | null
  /** Epoch milliseconds. */
  readonly createdAtMs: number
  /** The call runs, or what it cost is not booked yet. */
  isOpen = true

  constructor(
    provider: string,
    connectionId: string,
    model: string,
    { nanoUsd, price, tokens, tokensIn, tokensOut }: CallEstimate,
    createdAtMs: number
  ) {
    this.nanoUsd = nanoUsd
    this.tokens = tokens
    this.provider = provider
    this.connectionId = connectionId
    this.model = model
    this.tokensIn = tokensIn
    this.tokensOut = tokensOut
    this.price = price
    this.createdAtMs = createdAtMs
  }
}

/** Limit that refuses a call. `isReserved`: the rest of it is reserved. */
export interface Obstacle {
  readonly meter: Meter
  readonly window: MeterWindow
  readonly isReserved: boolean
}

/** Threshold of a limit that was reached and has to be reported. */
export interface Reached {
  readonly meter: Meter
  readonly window: MeterWindow
  readonly threshold: LimitThreshold
}

/** A request with reservations. */
export interface Holder {
  readonly requestId: string
  readonly apiKeyId: string
  readonly receivedMs: number
  readonly reservations: ReadonlyArray<Reservation>
}

/** The settings of a key that say how often it may ask. Absent and null: no limit. */
export interface KeyRates {
  readonly rateLimits: ReadonlyArray<RateLimit>
  readonly maxRequestsPerMinute?: number | null
  readonly maxRequestsPerDay?: number | null
  /** 0 is no limit. */
  readonly maxSessions?: number | null
}

const minuteSeconds = 60

const ratesOf = ({ maxRequestsPerMinute, rateLimits }: KeyRates): ReadonlyArray<RateLimit> =>
  maxRequestsPerMinute == null || maxRequestsPerMinute <= 0
    ? rateLimits
    : [...rateLimits, { limit: maxRequestsPerMinute, window: minuteSeconds }]

const sessionsOf = ({ maxSessions }: KeyRates): number => maxSessions ?? 0

/** Checks whether the key's own settings, besides budgets and token limits, have to be counted. */
export const hasRates = (key: KeyRates): boolean =>
  key.rateLimits.length > 0 || ratesOf(key).length > 0 || (key.maxRequestsPerDay ?? 0) > 0 || sessionsOf(key) > 0

/** The longest window in which the key's requests are counted; 0: they are not. */
export const longestRateMs = (key: KeyRates): number =>
  1_000 * ratesOf(key).reduce((longest, { window }) => Math.max(longest, window), 0)

const none: ReadonlyArray<Reached> = []

/** Checks whether a threshold is to be reported: a window whose end was reported needs no warning any more. */
const isNews = (notified: LimitThreshold | null, reached: LimitThreshold): boolean =>
  notified === null || (notified === "warning" && reached === "limit")

/** Moves of a key from one owner to another that requests may still run of. */
const mostMoves = 8

export class KeyAccount {
  /** The key's own, then those that it shares with other keys of its person and teams. */
  meters: ReadonlyArray<Meter> = []
  readonly holders = new Set<Holder>()
  readonly sessions = new Sessions()
  /** 0: no limit. */
  maxSessions = 0
  #key: KeyRates | null = null
  #logs: ReadonlyArray<SlidingLog> = []
  /** Since when the key belongs to its owners, epoch milliseconds. */
  #ownedSinceMs = Number.NEGATIVE_INFINITY
  /** Shared meters of the owners before; the oldest first. */
  #past: ReadonlyArray<{ readonly untilMs: number; readonly shared: ReadonlyArray<Meter> }> = []

  get rates(): ReadonlyArray<SlidingLog> {
    return this.#logs
  }

  get hasLimits(): boolean {
    return this.meters.length > 0 || this.#logs.length > 0 || this.maxSessions > 0
  }

  get shared(): ReadonlyArray<Meter> {
    return this.meters.filter(({ spec }) => spec.owner !== undefined)
  }

  get own(): ReadonlyArray<Meter> {
    return this.meters.filter(({ spec }) => spec.owner === undefined)
  }

  /**
   * Replaces the shared meters. `ownedSinceMs`: since when the key belongs to their owners; requests that came before count for the owners before.
   */
  share(shared: ReadonlyArray<Meter>, ownedSinceMs: number | null): void {
    const sinceMs = ownedSinceMs ?? Number.NEGATIVE_INFINITY
    const before = this.shared
    if (sinceMs > this.#ownedSinceMs) {
      this.#past = [...this.#past, { untilMs: sinceMs, shared: before }].slice(-mostMoves)
      this.#ownedSinceMs = sinceMs
    }
    this.meters = [...this.own, ...shared]
    for (const meter of shared) {
      if (!before.some((each) => each === meter || each.isResized(meter))) this.reserveAgain(meter)
    }
  }

  /** Hot: the meters that a request counts for, by its arrival. */
  metersAt(receivedMs: number): ReadonlyArray<Meter> {
    return receivedMs >= this.#ownedSinceMs ? this.meters : this.#before(receivedMs)
  }

  #before(receivedMs: number): ReadonlyArray<Meter> {
    const past = this.#past.find(({ untilMs }) => receivedMs < untilMs)
    return past === undefined ? this.meters : [...this.own, ...past.shared]
  }

  /** Hot: takes over the key's rates where they have changed. What was counted under a rate that stays is kept. */
  follow(key: KeyRates): void {
    const known = this.#key
    if (known?.rateLimits === key.rateLimits && known.maxRequestsPerMinute === key.maxRequestsPerMinute) {
      this.maxSessions = sessionsOf(key)
      return
    }
    const before = this.#logs
    this.#key = key
    this.maxSessions = sessionsOf(key)
    this.#logs = ratesOf(key).map(
      (rate) =>
        before.find(({ limit, windowMs }) => limit === rate.limit && windowMs === rate.window * 1_000) ??
        new SlidingLog(rate)
    )
  }

  /** Counts requests of an earlier run; monotonic times, the newest first. */
  remember(times: ReadonlyArray<number>): void {
    for (const log of this.#logs) for (const atMs of times.slice(0, log.limit).toReversed()) log.add(atMs)
  }

  /** Hot: counts a request. `atMs` is monotonic, `receivedMs` the epoch's. */
  admitted(atMs: number, receivedMs: number): void {
    for (const log of this.#logs) log.add(atMs)
    this.count(receivedMs, 1)
  }

  /** Hot: counts requests of a day. */
  count(receivedMs: number, requests: number): void {
    for (const meter of this.metersAt(receivedMs))
      if (meter.spec.unit === "requests") meter.at(receivedMs).used += requests
  }

  /** Hot: a limit that is used up, whatever is asked for; null: none. `requests`: of requests, too. */
  usedUp(receivedMs: number, requests = true): Obstacle | null {
    for (const meter of this.metersAt(receivedMs)) {
      if (!requests && meter.spec.unit === "requests") continue
      // Of some models only: they may not be the ones that are asked.
      if (meter.spec.scope !== null) continue
      const window = meter.at(receivedMs)
      // Only what workers may let in is reserved of requests.
      const used = meter.spec.unit === "requests" ? window.used + window.reserved : window.used
      if (used >= meter.spec.limit) return { meter, window, isReserved: false }
    }
    return null
  }

  /** Hot: the first limit that a call would exceed; null: it fits into all of them. */
  obstacle(receivedMs: number, provider: string, model: string, amounts: Amounts): Obstacle | null {
    for (const meter of this.metersAt(receivedMs)) {
      const { limit, unit } = meter.spec
      if (unit === "requests" || !meter.counts(provider, model)) continue
      const window = meter.at(receivedMs)
      const amount = meter.amountOf(amounts)
      if (window.used >= limit) return { meter, window, isReserved: false }
      if (window.used + window.reserved + amount > limit) {
        return { meter, window, isReserved: window.used + amount <= limit }
      }
    }
    return null
  }

  /** Hot: holds a reservation; called in the same turn as `obstacle` has found none. */
  hold(holder: Holder, reservation: Reservation): void {
    this.holders.add(holder)
    this.#change(holder.receivedMs, reservation, 1)
  }

  /** Hot: releases the reservation of a call. */
  release(holder: Holder, reservation: Reservation): void {
    if (!reservation.isOpen) return
    reservation.isOpen = false
    this.#change(holder.receivedMs, reservation, -1)
  }

  /** Hot: books what a call has cost. */
  book(receivedMs: number, provider: string, model: string, amounts: Amounts): void {
    for (const meter of this.metersAt(receivedMs)) {
      if (meter.counts(provider, model)) meter.at(receivedMs).used += meter.amountOf(amounts)
    }
  }

  /** Returns the thresholds of limits that were reached and not reported yet; they count as reported from then on. */
  tellReached(receivedMs: number): ReadonlyArray<Reached> {
    let found: Array<Reached> | null = null
    for (const meter of this.metersAt(receivedMs)) {
      const window = meter.at(receivedMs)
      const threshold = meter.reached(window)
      if (threshold === null || !isNews(window.notified, threshold)) continue
      window.notified = threshold
      ;(found ??= []).push({ meter, window, threshold })
    }
    return found ?? none
  }

  /** Brings in what running requests have reserved, for a limit that was added meanwhile. */
  reserveAgain(meter: Meter): void {
    for (const { receivedMs, reservations } of this.holders) {
      for (const reservation of reservations) {
        if (!reservation.isOpen || !meter.counts(reservation.provider, reservation.model)) continue
        if (!this.metersAt(receivedMs).includes(meter)) continue
        meter.at(receivedMs).reserved += meter.amountOf(reservation)
      }
    }
  }

  #change(receivedMs: number, reservation: Reservation, sign: 1 | -1): void {
    for (const meter of this.metersAt(receivedMs)) {
      if (!meter.counts(reservation.provider, reservation.model)) continue
      meter.at(receivedMs).reserved += sign * meter.amountOf(reservation)
    }
  }
}
