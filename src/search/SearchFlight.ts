/**
 * One call of the corridor for everybody who asks the same at the same time. It is nobody's own: who leaves does not end it for the others,
 * and when all have left it ends.
 */
import type { ClientReply, Exchange } from "../inference/request/Exchange.ts"
import { makeInnerReply } from "../inference/request/InnerReply.ts"

/** What the corridor has answered. */
export interface Landed {
  readonly status: number
  /** Flat name–value list. */
  readonly headers: ReadonlyArray<string>
  readonly body: string
}

interface Waiter {
  readonly exchange: Exchange
  readonly noLongerListen: () => void
}

export class SearchFlight {
  /** The client's side of the call. */
  readonly reply: ClientReply
  readonly #waiters = new Set<Waiter>()
  readonly #leave: () => void
  readonly #abandoned: () => void
  #status = 502
  #headers: ReadonlyArray<string> = []
  #chunks: Array<Buffer> = []
  #isOver = false

  /** `landed` is called once with the answer, unless it is `abandoned`; null: the answer was cut. */
  constructor(landed: (answer: Landed | null) => void, abandoned: () => void) {
    const waiting = makeInnerReply()
    const collect = (chunk: Buffer | string): void => {
      this.#chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
    }
    const over = (answer: () => Landed | null): void => {
      if (this.#isOver) return
      this.#isOver = true
      landed(answer())
    }
    this.#leave = waiting.leave
    this.#abandoned = abandoned
    this.reply = {
      ...waiting,
      head: (status, headers) => {
        this.#status = status
        this.#headers = headers
      },
      write: (chunk) => {
        collect(chunk)
        return true
      },
      end: (chunk) => {
        collect(chunk)
        over(() => ({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks).toString() }))
      },
      cut: () => over(() => null)
    }
  }

  join(exchange: Exchange): void {
    const waiter: Waiter = { exchange, noLongerListen: exchange.reply.onClose(() => this.#left(waiter)) }
    this.#waiters.add(waiter)
    if (exchange.reply.isClosed()) this.#left(waiter)
  }

  /** Who still waits, in the order in which they came. Nobody does afterwards. */
  take(): ReadonlyArray<Exchange> {
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    for (const { noLongerListen } of waiters) noLongerListen()
    return waiters.map(({ exchange }) => exchange)
  }

  #left(waiter: Waiter): void {
    if (!this.#waiters.delete(waiter) || this.#waiters.size > 0 || this.#isOver) return
    this.#isOver = true
    this.#abandoned()
    this.#leave()
  }
}
