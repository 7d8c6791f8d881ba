/** The call to a provider that is behind an exchange which the gateway served itself. For the cache finder; no part of the record. */
import type { WireName } from "../../contract/domain/Wire.ts"

export interface SentCall {
  /** Wire of `body`. */
  readonly wire: WireName
  readonly provider: string
  /** Id of the connection. */
  readonly account: string
  readonly model: string
  /** JSON as it was sent. Null: the client's own body but for the model's name, or one that is no JSON or too large to be kept. */
  readonly body: Buffer | string | null
}
