/**
 * One call for all requests that ask the same at the same time. It belongs to none of them: a client that leaves does not end it for the
 * others, and when all have left it ends.
 */
import { Members } from "../reply/Members.ts"
import { type Recorded, recording } from "../reply/Recorder.ts"
import type { ClientReply, Exchange } from "../request/Exchange.ts"
import { makeInnerReply } from "../request/InnerReply.ts"

/** Answer of the call. */
export interface Landed {
  readonly status: number
  /** Flat name–value list. */
  readonly headers: ReadonlyArray<string>
  readonly body: string
}

const landedOf = ({ chunks, headers, isEnded, status }: Recorded): Landed | null =>
  isEnded ? { status, headers, body: Buffer.concat(chunks).toString() } : null

export class SearchFlight {
  /** The client's side of the call. */
  readonly reply: ClientReply
  readonly #waiting: Members<Exchange>
  #isOver = false

  /** `landed` is called once with the answer, unless it is `abandoned`; null: the answer was cut. */
  constructor(landed: (answer: Landed | null) => void, abandoned: () => void) {
    const inner = makeInnerReply()
    // What a search may answer is bounded where it is read.
    this.reply = recording(inner, Infinity, (recorded) => {
      if (this.#isOver) return
      this.#isOver = true
      landed(recorded === null ? null : landedOf(recorded))
    })
    this.#waiting = new Members<Exchange>(
      ({ reply }) => reply,
      () => {
        if (this.#waiting.size > 0 || this.#isOver) return
        this.#isOver = true
        abandoned()
        inner.leave()
      }
    )
  }

  join(exchange: Exchange): void {
    this.#waiting.join(exchange)
  }

  /** Takes the requests that still wait, in the order in which they came. None does afterwards. */
  take(): ReadonlyArray<Exchange> {
    const waiting = this.#waiting.all()
    for (const exchange of waiting) this.#waiting.release(exchange)
    return waiting
  }
}
