/** State of a streamed answer at a client, for the target that continues it. */
import type { StreamEvent } from "../../wire/canonical/Event.ts"

export interface DeliveredPrefix {
  /** The text of the answer so far, all blocks together. */
  readonly text: () => string
  /** Index of the text block that is still open; null when none is. */
  readonly openText: () => number | null
  /** The first index that no block has. */
  readonly nextIndex: () => number
  /** Tells whether only text and finished reasoning were sent, and the answer's end was not. */
  readonly isSafe: () => boolean
  /** An event whose bytes went to the client by another path (the upstream's own bytes). */
  readonly hear: (event: StreamEvent) => void
  /** The bytes of an event for the client. */
  readonly feed: (event: StreamEvent) => string
}
