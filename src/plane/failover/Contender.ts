/** One of several calls that are made at once for one client, of which one may answer. */
import type { ClientReply } from "../request/Exchange.ts"

export interface Contender {
  readonly reply: ClientReply
  /** Another call has answered. */
  readonly hasLost: () => boolean
}
