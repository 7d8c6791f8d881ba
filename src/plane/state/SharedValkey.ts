/** The server of Valkey over which gateways on one database tell each other what they learn, as one of them reaches it. */
import * as Context from "effect/Context"

/** Reach of the server, as it was found last. */
export interface ValkeyReach {
  /** Host and port. */
  readonly address: string
  /** Reason for which it is not reached; null: it is. */
  problem: string | null
  /** Messages of this gateway that it has taken, and those that went over the database instead. */
  told: number
  overDatabase: number
  /** Messages of others that were heard over it. */
  heard: number
  /** Time in ms from the taking of the latest of them until it was heard here, by the server's clock; null: none was heard. */
  lagMs: number | null
}

/** Null: there is none, and they tell each other over the database. */
export class SharedValkey extends Context.Reference<SharedValkey>()("gateway/plane/state/SharedValkey", {
  defaultValue: (): ValkeyReach | null => null
}) {}
