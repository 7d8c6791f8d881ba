/** The clients that share one call: each may leave by itself, and the call ends when all have left. */
import type { ClientReply } from "../request/Exchange.ts"

export class Members<A> {
  readonly #listening = new Map<A, () => void>()
  readonly #replyOf: (member: A) => Pick<ClientReply, "onClose" | "isClosed">
  readonly #left: (member: A) => void

  /** `left` is called for each that leaves, when it is no longer among them. */
  constructor(replyOf: (member: A) => Pick<ClientReply, "onClose" | "isClosed">, left: (member: A) => void) {
    this.#replyOf = replyOf
    this.#left = left
  }

  get size(): number {
    return this.#listening.size
  }

  /** Lists the members in the order in which they came. */
  all(): ReadonlyArray<A> {
    return [...this.#listening.keys()]
  }

  /** Adds a member. One that has left before is removed at once. */
  join(member: A): void {
    const reply = this.#replyOf(member)
    const leave = (): void => {
      if (this.release(member)) this.#left(member)
    }
    this.#listening.set(member, () => {})
    const noLongerListen = reply.onClose(leave)
    if (this.#listening.has(member)) this.#listening.set(member, noLongerListen)
    if (reply.isClosed()) leave()
  }

  /** Removes a member that has got all it waits for: its leaving is not observed any more. False: it was no member. */
  release(member: A): boolean {
    const noLongerListen = this.#listening.get(member)
    if (noLongerListen === undefined) return false
    this.#listening.delete(member)
    noLongerListen()
    return true
  }
}
