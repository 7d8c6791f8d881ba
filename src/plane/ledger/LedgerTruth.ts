/** The accounts of keys as the one process has them that owns them, for the ledger of workers. */
import * as Context from "effect/Context"
import type { Unlisten } from "../state/link/OwnerLink.ts"
import type { Later } from "../../kernel/Later.ts"
import type { Charge } from "./Commitment.ts"
import type { Holder, KeyAccount, Obstacle, Reached } from "./KeyAccount.ts"
import type { Meter } from "./Meter.ts"

/** Cost of a request. */
export interface Booked {
  readonly requestId: string
  readonly apiKeyId: string
  /** Epoch milliseconds. */
  readonly receivedMs: number
  readonly charges: ReadonlyArray<Charge>
  /** It counts as a request of its day. */
  readonly isCounted: boolean
}

/** The ledger of workers, for the accounts. */
export interface WorkersBooks {
  /** Bookings of a key whose usage rows have not come. */
  readonly waiting: (apiKeyId: string) => Iterable<Booked>
  /** Comes when what workers hold is known; null: it is. Nothing is admitted before. */
  readonly opening: () => Later<null> | null
  /** Calls back what workers hold ahead of need, of a key or of all (null), and asks what calls of theirs have reserved; then runs `then`. */
  readonly gather: (apiKeyId: string | null, then: () => void) => void
  /** Requests of workers with reservations, as they were gathered last. */
  readonly shown: () => ReadonlyArray<Holder>
}

export class LedgerTruth extends Context.Tag("gateway/plane/ledger/LedgerTruth")<
  LedgerTruth,
  {
    /** Account of a key, under the rates that it has now; undefined: it has no limits. */
    readonly account: (apiKeyId: string) => KeyAccount | undefined
    /** Meter that keys of a person or a team share, by the id of the limit; undefined: there is none. */
    readonly shared: (limitId: string) => Meter | undefined
    /** Keys with limits. */
    readonly limited: () => ReadonlyArray<string>
    /** Reports, once, that a limit is used up. */
    readonly tellOnce: (apiKeyId: string, requestId: string, obstacle: Obstacle) => void
    /** Reports that a threshold was reached. */
    readonly tellReached: (apiKeyId: string, requestId: string, reached: Reached) => void
    /** Books what a request of a worker has cost. */
    readonly book: (booked: Booked) => void
    /** Notes a cost that is booked elsewhere, for limits that are being put in force. */
    readonly note: (booked: Booked) => void
    /** Takes a booking back. */
    readonly unbook: (booked: Booked) => void
    /** Calls `listener` when the limits of a key were changed. */
    readonly onChanged: (listener: (apiKeyId: string) => void) => Unlisten
    readonly attach: (books: WorkersBooks) => void
  }
>() {}
