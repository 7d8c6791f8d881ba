/**
 * News of a worker's usage rows: the owner has them on disk. Until then the ledger of the worker keeps what a request has cost, for an owner that
 * begins without its row.
 */
import * as Context from "effect/Context"
import type { Unlisten } from "../link/OwnerLink.ts"

export class MovedRows extends Context.Tag("gateway/plane/state/ledger/MovedRows")<
  MovedRows,
  {
    /** Calls `listener` with the ids of requests whose rows are in the table. */
    readonly listen: (listener: (requestIds: ReadonlyArray<string>) => void) => Unlisten
  }
>() {}
