/**
 * The rows that all nodes share of the limits of keys, and what a node asks of them in a turn. Amounts are whole, times of windows epoch milliseconds
 * and all others those of the server's clock. Plain data.
 */
import type { RefusedBy } from "../../state/ledger/Messages.ts"
import type { RateLog } from "./RateLog.ts"

/** Threshold that was reported of a window: none, the warning, or its end. */
export type Notified = 0 | 1 | 2

/** A window of a limit as a node knows it; its row is made by the first that asks. */
export interface WindowRef {
  /** Names the limit, its rule and what counts for it. */
  readonly name: string
  /** 0 for rates and sessions, which have one row. */
  readonly startMs: number
  readonly endMs: number
  /** Limit in its unit, and since when it is that, epoch milliseconds: the later one counts. */
  readonly size: number
  readonly version: number
  /** Amount at which a warning is sent. */
  readonly warnAt: number
  /** Use of the window by the usage log when the limit was put in force here: so much is used of a row that is made. */
  readonly floor: number
  /** The limit was put in force while the node runs: at least its floor is used, as it may have been counted by none for a time. */
  readonly isAdded: boolean
  /** Last report of it; for the first that asks. */
  readonly notified: Notified
  /** Length in ms of the window of a rate; 0: it is none. */
  readonly rateMs: number
}

export interface WindowRow {
  readonly name: string
  readonly startMs: number
  readonly endMs: number
  readonly rateMs: number
  size: number
  version: number
  warnAt: number
  used: number
  /** Held by leases of nodes that are there. */
  held: number
  /** Held by leases that have expired: their nodes may have spent it, and have not said so. */
  doubt: number
  notified: Notified
  /** Server's time at which a node had too little of it while others held some; 0: none. */
  wantedMs: number
  log: RateLog
}

/** The life of a process that holds leases. */
export interface HolderRow {
  readonly id: string
  /** The data folder it writes its journal to: the next life with the same one settles what this one left. */
  readonly node: string
  /** Number of its last turn. */
  turn: number
  /** Number of its repetition that was done. */
  attempt: number
  /** Requests that were booked in its last turn: its files may not know it. */
  reported: ReadonlyArray<string>
  /** 0 of one that has expired: it was given up, and holds nothing. */
  expiresMs: number
  isExpired: boolean
}

export interface LeaseRow {
  readonly holder: string
  readonly number: number
  readonly name: string
  readonly startMs: number
  granted: number
  spent: number
}

export interface SessionRow {
  readonly key: string
  readonly session: string
  readonly holder: string
}

/** Place among the windows of a turn. */
type WindowIndex = number

export interface RowNeed {
  readonly lease: number
  /** Place among the limits of the key, as in `Need`. */
  readonly limit: number
  readonly window: WindowIndex
  readonly need: number
  readonly amount: number
  /** Pace at which the holder draws on it, by millisecond. */
  readonly perMs: number
  /** Counts requests of a day: what is reserved of it is let in. */
  readonly isRequests: boolean
}

export interface RowTake {
  /** Windows that must not be used up, with the places of their limits. */
  readonly checks: ReadonlyArray<readonly [limit: number, window: WindowIndex]>
  readonly needs: ReadonlyArray<RowNeed>
  readonly session: { readonly key: string; readonly session: string; readonly most: number } | null
  readonly isPromised: boolean
}

/** News of a node. They are taken in once, however often the turn comes. */
export interface News {
  readonly reported: ReadonlyArray<string>
  readonly bookings: ReadonlyArray<readonly [window: WindowIndex, amount: number]>
  readonly spent: ReadonlyArray<readonly [lease: number, total: number]>
  /** Requests that rates have let in, and how many milliseconds ago. */
  readonly arrivals: ReadonlyArray<readonly [lease: number, total: number, agesMs: ReadonlyArray<number>]>
  /** Granted, and never known to the holder. */
  readonly returned: ReadonlyArray<readonly [lease: number, amount: number]>
  readonly ended: ReadonlyArray<number>
  readonly left: ReadonlyArray<readonly [key: string, session: string]>
  /** Held by the word of the holder. */
  readonly adopted: ReadonlyArray<readonly [lease: number, window: WindowIndex, held: number]>
  readonly entered: ReadonlyArray<readonly [key: string, session: string]>
  /** Ends the earlier lives of the node, and books what their journal had and they had not told; null: they are none of this turn's. */
  readonly inherited: ReadonlyArray<
    readonly [requestId: string, bookings: ReadonlyArray<readonly [window: WindowIndex, amount: number]>]
  > | null
}

export interface Turn {
  readonly holder: string
  readonly node: string
  readonly number: number
  /** Grows when it is repeated, so that a transaction that was given up does nothing when it comes after all. */
  readonly attempt: number
  /** All windows of the turn, and of the leases in it. */
  readonly windows: ReadonlyArray<WindowRef>
  readonly news: News
  readonly takes: ReadonlyArray<RowTake>
}

export type TakeOutcome =
  | {
      readonly is: "granted"
      readonly grants: ReadonlyArray<readonly [lease: number, total: number, isNear: boolean]>
    }
  | { readonly is: "refused"; readonly refused: RefusedBy }
  /** `others`: other nodes hold some of it, and may give it back. */
  | { readonly is: "short"; readonly refused: RefusedBy; readonly others: boolean }

export type TurnOutcome =
  | {
      readonly is: "done"
      readonly takes: ReadonlyArray<TakeOutcome>
      /** All that was granted of the leases that the takes name. */
      readonly totals: ReadonlyArray<readonly [lease: number, total: number, window: WindowIndex]>
      /** Thresholds that this turn has reached. */
      readonly reached: ReadonlyArray<readonly [window: WindowIndex, notified: Notified]>
      readonly seen: ReadonlyArray<readonly [window: WindowIndex, used: number, reserved: number]>
    }
  /** The leases have expired: they have to be taken up again. */
  | { readonly is: "expired" }
  /** A later one was done. */
  | { readonly is: "stale" }
  /** There is no such holder, or no more. `isTold`: they had taken in the news of this turn before. */
  | { readonly is: "unknown"; readonly isTold?: boolean }

/** Done when it is called back; null: the rows cannot be reached, and it may have been done. */
type Then<A> = (outcome: A | null) => void

/** The rows, wherever they are. Calls of one holder come one after another. */
export interface LedgerRows {
  /** Begins a holder; its first turn has the number 1. */
  readonly join: (holder: string, node: string, then: Then<true>) => void
  readonly turn: (turn: Turn, then: Then<TurnOutcome>) => void
  /** Takes up leases that have expired, and says which are left: those of rates are gone. `leases` is null when there is no such holder. */
  readonly revive: (holder: string, then: Then<{ readonly leases: ReadonlyArray<number> | null }>) => void
  /** Leases of which others want some, and since when. */
  readonly wanted: (holder: string, then: Then<ReadonlyArray<readonly [lease: number, wantedMs: number]>>) => void
  /** Expires the leases of holders that have not been heard of. */
  readonly sweep: (then: Then<true>) => void
  /** Reads what is used and reserved of windows; those without a row are left out. */
  readonly standing: (
    windows: ReadonlyArray<WindowRef>,
    then: Then<ReadonlyArray<readonly [window: WindowIndex, used: number, reserved: number]>>
  ) => void
}
