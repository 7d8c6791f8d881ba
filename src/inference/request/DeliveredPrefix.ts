/** What a client has of a streamed answer, for the target that goes on with it. */
import type { StreamEvent } from "../../wire/canonical/Event.ts"

export interface DeliveredPrefix {
  /** The text of the answer so far, all blocks together. */
  readonly text: () => string
  /** Index of the text block that is still open; null when none is. */
  readonly openText: () => number | null
  /** The first index that no block has. */
  readonly nextIndex: () => number
  /** Only text and finished reasoning were sent, and the answer is not told as over. */
  readonly isSafe: () => boolean
  /** An event whose bytes went to the client by another way (the upstream's own bytes). */
  readonly hear: (event: StreamEvent) => void
  /** The bytes of an event for the client. */
  readonly feed: (event: StreamEvent) => string
}
