/** The client of a request that the gateway makes itself. */
import { Listeners } from "../../kernel/Listeners.ts"
import type { ClientReply } from "./Exchange.ts"

export interface InnerReply extends ClientReply {
  /** Ends the request as a client does that leaves. */
  readonly leave: () => void
}

const nothing = (): void => {}

/** A client that only waits for a whole answer: nothing is ever written to it. */
export const makeInnerReply = (): InnerReply => {
  const leaving = new Listeners()
  let closed = false
  return {
    head: () => {},
    write: () => true,
    end: () => {},
    cut: () => {},
    onDrain: () => nothing,
    onClose: (listener) => {
      if (!closed) return leaving.add(listener)
      listener()
      return nothing
    },
    isClosed: () => closed,
    leave: () => {
      if (closed) return
      closed = true
      leaving.tell()
    }
  }
}
