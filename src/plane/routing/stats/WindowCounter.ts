/** Counts the events in a window: exact to a sixtieth of it, in constant space. */
import { windowMs } from "./Series.ts"

const slots = 60
const slotMs = windowMs / slots

/** A class, because there is one per model of a connection and every decision reads it. */
export class WindowCounter {
  readonly #counts = new Uint32Array(slots)
  /** The slot that counts now, numbered from the epoch, and when it ends. */
  #current = 0
  #endsMs = slotMs
  #sum = 0

  /** Hot. */
  add(atMs: number): void {
    this.#turn(atMs)
    this.#counts[this.#current % slots] = (this.#counts[this.#current % slots] ?? 0) + 1
    this.#sum += 1
  }

  /** Hot. */
  read(nowMs: number): number {
    this.#turn(nowMs)
    return this.#sum
  }

  /** Epoch milliseconds until which the time alone changes nothing. */
  holdsUntilMs(): number {
    return this.#sum === 0 ? Number.POSITIVE_INFINITY : this.#endsMs
  }

  /** A clock that was set back counts on in the slot where it was; one that is far behind starts anew. */
  #turn(nowMs: number): void {
    if (nowMs < this.#endsMs && nowMs >= this.#endsMs - slotMs) return
    const now = Math.floor(nowMs / slotMs)
    const current = this.#current
    if (now <= current && current - now < slots) return
    if (Math.abs(now - current) >= slots) {
      this.#counts.fill(0)
      this.#sum = 0
    } else {
      for (let slot = current + 1; slot <= now; slot += 1) {
        this.#sum -= this.#counts[slot % slots] ?? 0
        this.#counts[slot % slots] = 0
      }
    }
    this.#current = now
    this.#endsMs = (now + 1) * slotMs
  }
}
