/** The client of a request that the gateway makes itself. */
import { Listeners } from "../../kernel/collections/Listeners.ts"
import type { ClientReply } from "./Exchange.ts"

export interface InnerReply extends ClientReply {
  /** Ends the request as a client does that leaves. */
  readonly leave: () => void
}

/** Handlers of the parts of an answer. */
export type Heard = Partial<Pick<ClientReply, "head" | "write" | "end" | "cut" | "onDrain">>

const nothing = (): void => {}

const deaf: Required<Heard> = {
  head: nothing,
  write: () => true,
  end: nothing,
  cut: nothing,
  onDrain: () => nothing
}

/** Makes a reply that passes the answer to `heard`. Without it nothing of the answer is kept. */
export const makeInnerReply = (heard: Heard = {}): InnerReply => {
  const leaving = new Listeners()
  let closed = false
  return {
    ...deaf,
    ...heard,
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
