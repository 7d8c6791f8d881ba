/** Gives one client a row of chunks, as fast as it takes them. A class, because one is made per client. */
import type { ClientReply } from "../request/Exchange.ts"

export interface Feed {
  /** The next chunk; null while there is none. */
  readonly next: () => Buffer | null
  /** All that was there has been written: called each time that `next` has nothing. */
  readonly dry: () => void
}

export class Feeder {
  readonly #reply: ClientReply
  readonly #feed: Feed
  #isBlocked = false
  #isStopped = false
  #isRunning = false
  #noLongerDrain: (() => void) | null = null

  constructor(reply: ClientReply, feed: Feed) {
    this.#reply = reply
    this.#feed = feed
  }

  /** False while the client has not taken what was written to it. */
  get isFree(): boolean {
    return !this.#isBlocked
  }

  /** Continues to write: there may be more. */
  run(): void {
    // A write may come back here.
    if (this.#isBlocked || this.#isStopped || this.#isRunning) return
    this.#isRunning = true
    for (let chunk = this.#feed.next(); chunk !== null; chunk = this.#feed.next()) {
      this.#isBlocked = !this.#reply.write(chunk)
      if (this.#isBlocked) this.#noLongerDrain ??= this.#reply.onDrain(() => this.#drained())
      if (this.#isBlocked || this.#isStopped) break
    }
    this.#isRunning = false
    if (!this.#isBlocked && !this.#isStopped) this.#feed.dry()
  }

  /** Writes no more. */
  stop(): void {
    this.#isStopped = true
    this.#noLongerDrain?.()
    this.#noLongerDrain = null
  }

  #drained(): void {
    if (!this.#isBlocked) return
    this.#isBlocked = false
    this.run()
  }
}
