/** The database that several gateways share, as one of them reaches it. */
import * as Context from "effect/Context"

/** Reach of the shared database, as it was found last. */
export interface DatabaseReach {
  readonly node: string
  /** Reason for which it is not reached; null: it is. */
  problem: string | null
}

/** Null: the process has its database for itself. */
export class SharedDatabase extends Context.Reference<SharedDatabase>()("gateway/plane/state/SharedDatabase", {
  defaultValue: (): DatabaseReach | null => null
}) {}
