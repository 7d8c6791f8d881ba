/** Messages between a worker and the owner about the limits of keys. Plain JSON; amounts are whole, times epoch milliseconds. */

export const topics = {
  /** Asked: `Take`, answered with `TakeAnswer`. */
  take: "ledger.take",
  /** Sent: `Report`. */
  report: "ledger.report",
  /** Sent: `Give`. */
  give: "ledger.give",
  /** Sent: `Left`. */
  left: "ledger.left",
  /** Asked each second; any answer is that of an owner. */
  renew: "ledger.renew",
  /** Asked when an owner is there: `Hello`, answered with `Welcome`. */
  hello: "ledger.hello",
  /** Told: `Changed`. */
  changed: "ledger.changed",
  /** Told: `Recall`, answered with a `Give`. */
  recall: "ledger.recall",
  /** Told: `Show`, answered with a `Give`. */
  show: "ledger.show"
} as const

/** All that was booked or given back of a lease: its number, and the sum. */
export type Spent = readonly [lease: number, total: number]

/** Admissions by rates since the last message: the lease, its sum, and how many milliseconds ago each was. */
export type Arrivals = readonly [lease: number, total: number, agesMs: ReadonlyArray<number>]

/**
 * Need of a request. `limit`: place among the meters of the key, from 0; rates are counted from -1 down. `amount`: what the request takes in all;
 * `need`: what of it the worker does not hold.
 */
export type Need = readonly [lease: number, limit: number, windowStartMs: number, need: number, amount: number]

export interface Take {
  readonly key: string
  readonly id: string
  readonly atMs: number
  /** Version of the key's limits that the worker knows; 0: none. */
  readonly version: number
  readonly needs: ReadonlyArray<Need>
  /** The request is to be admitted; else a call of it is. */
  readonly admits: boolean
  /** Session that it begins; null: none. */
  readonly session: string | null
  readonly promised: boolean
}

export type RefusedBy =
  | {
      readonly by: "meter"
      readonly limit: number
      readonly startMs: number
      readonly endMs: number
      readonly used: number
      readonly isReserved: boolean
    }
  /** `isSure`: nothing but time changes it. */
  | { readonly by: "rate"; readonly limit: number; readonly waitMs: number; readonly isSure: boolean }
  | { readonly by: "sessions"; readonly most: number }

/** Limits of a key. `S`: a meter. */
export interface Limits<S> {
  readonly version: number
  readonly meters: ReadonlyArray<S>
  readonly rates: ReadonlyArray<{ readonly limit: number; readonly window: number }>
  /** 0: no limit. */
  readonly maxSessions: number
}

export type TakeAnswer<S> =
  | { readonly is: "granted"; readonly grants: ReadonlyArray<readonly [lease: number, total: number, isNear: boolean]> }
  | { readonly is: "refused"; readonly refused: RefusedBy }
  /** The worker knew other limits. */
  | { readonly is: "changed"; readonly limits: Limits<S> }

/**
 * Cost of a request; sent again to each new owner until the row of the request is in the table. A list, because one is written for each request. `number`
 * grows with each report of a worker's life; `isCounted`: it counts as a request of its day; `spent` comes from `WorkerLease`, a number and a sum in
 * turn.
 */
export type Report = readonly [
  number: number,
  id: string,
  key: string,
  atMs: number,
  isCounted: 0 | 1,
  charges: ReadonlyArray<readonly [provider: string, model: string, nanoUsd: number, tokens: number]>,
  spent: ReadonlyArray<number>
]

export interface Give {
  readonly spent: ReadonlyArray<Spent>
  readonly arrivals: ReadonlyArray<Arrivals>
  /** Leases that the worker has forgotten: nothing is held of them. */
  readonly ended: ReadonlyArray<number>
  /** Number of the recall that it answers; 0: none. */
  readonly recall: number
  /** Requests that hold reservations, for `Show`. */
  readonly open: ReadonlyArray<OpenRequest>
}

/** A request with reservations, as a person is shown it. `price` is one of the price list. */
export interface OpenRequest {
  readonly requestId: string
  readonly apiKeyId: string
  readonly receivedMs: number
  readonly calls: ReadonlyArray<{
    readonly provider: string
    readonly connectionId: string
    readonly model: string
    readonly nanoUsd: number
    readonly tokens: number
    readonly tokensIn: number
    readonly tokensOut: number
    readonly price: unknown
    readonly createdAtMs: number
    readonly isOpen: boolean
  }>
}

export interface Left {
  readonly key: string
  readonly session: string
}

/** A lease that a worker holds. `meter`: id of the meter, null for a rate; `key`: null for a limit that keys of a person or team share. */
export interface HeldLease {
  readonly lease: number
  readonly key: string | null
  readonly meter: string | null
  readonly windowStartMs: number
  readonly rate: { readonly limit: number; readonly window: number } | null
  readonly held: number
}

export interface Hello {
  readonly held: ReadonlyArray<HeldLease>
  readonly sessions: ReadonlyArray<readonly [key: string, session: string]>
  /** Requests that count for rates and have no usage row in the table: the key, and how many milliseconds ago each came. */
  readonly running: ReadonlyArray<readonly [key: string, agesMs: ReadonlyArray<number>]>
  /** Those whose usage rows the table did not have. */
  readonly reports: ReadonlyArray<Report>
}

export interface Welcome {
  /** Keys with limits. */
  readonly limited: ReadonlyArray<string>
}

export interface Changed {
  readonly key: string
  readonly isLimited: boolean
  /** Leases of the worker whose limits are no more. */
  readonly gone: ReadonlyArray<number>
}

export interface Recall {
  readonly number: number
  readonly leases: ReadonlyArray<number>
}

/** Asks for what is free of a key, or of all (null), to come back, and for what is reserved to be shown. */
export interface Show {
  readonly number: number
  readonly key: string | null
}
