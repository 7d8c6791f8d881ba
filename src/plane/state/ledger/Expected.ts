/**
 * Workers of an earlier owner that have not told the new one what they hold: nothing may be granted before each has told it, has ended, or has come to
 * the end of its leases. Plain and synchronous.
 */
import { Later } from "../../../kernel/Later.ts"
import type { Timer } from "../../../platform/Timers.ts"
import { renewEveryMs, withoutOwnerMs } from "./Fence.ts"

export class Expected {
  readonly #after: (delayMs: number, run: () => void) => Timer
  readonly #names = new Set<string>()
  #opening: Later<null> | null = null
  #timer: Timer | null = null

  constructor(after: (delayMs: number, run: () => void) => Timer) {
    this.#after = after
  }

  close(): void {
    this.#timer?.cancel()
  }

  expect(names: ReadonlyArray<string>): void {
    for (const name of names) this.#names.add(name)
    if (this.#names.size === 0 || this.#opening !== null) return
    this.#opening = new Later()
    this.#timer = this.#after(withoutOwnerMs + renewEveryMs, () => this.#open())
  }

  /** A worker has told what it holds, or has ended. */
  known(name: string): void {
    if (this.#names.delete(name) && this.#names.size === 0) this.#open()
  }

  /** Comes when all are known; null: they are. */
  opening(): Later<null> | null {
    return this.#opening
  }

  whenOpen(run: () => void): void {
    if (this.#opening === null) run()
    else this.#opening.whenKnown(run)
  }

  #open(): void {
    const opening = this.#opening
    this.#opening = null
    this.#names.clear()
    this.#timer?.cancel()
    this.#timer = null
    opening?.give(null)
  }
}
