/**
 * A lease as its worker has it: what the owner has granted of one limit, what of it is gone, and what calls in progress have reserved. Both sides
 * count in sums since the lease began, so that a message that comes twice changes nothing. Plain and synchronous.
 */
export class WorkerLease {
  /** Number by which both sides name it; unique in a worker's life. */
  readonly number: number
  /** All that was granted. */
  granted = 0
  /** All that was booked or given back. May exceed what was granted, by calls that have cost more than they reserved. */
  spent = 0
  reserved = 0
  /** Near the limit: all that is not used is given back at once. */
  isNear = false
  /** Least that was free since the last `giveIdle`. */
  #leastFree = 0

  constructor(number: number) {
    this.number = number
  }

  /** The amount that the owner counts as reserved for this worker. */
  get held(): number {
    return this.granted - this.spent
  }

  /** Hot: negative: calls have reserved so much more than is held. */
  get free(): number {
    return this.granted - this.spent - this.reserved
  }

  /** Hot: reserves an amount, held or not; returns what has to be asked for. */
  reserve(amount: number): number {
    this.reserved += amount
    const { free } = this
    if (free < this.#leastFree) this.#leastFree = free
    return free >= 0 ? 0 : Math.min(amount, -free)
  }

  /** Hot. */
  release(amount: number): void {
    this.reserved -= amount
  }

  /** Hot: books a cost. */
  book(amount: number): void {
    this.spent += amount
    const { free } = this
    if (free < this.#leastFree) this.#leastFree = free
  }

  grantedInAll(total: number, isNear: boolean): void {
    if (total > this.granted) this.granted = total
    this.isNear = isNear
  }

  /** Gives back what is free; false: nothing is. */
  giveFree(): boolean {
    const { free } = this
    if (free <= 0) return false
    this.spent += free
    this.#leastFree = 0
    return true
  }

  /** Gives back what was free all the time since the last call; false: nothing was. */
  giveIdle(): boolean {
    const idle = Math.min(this.#leastFree, this.free)
    if (idle > 0) this.spent += idle
    this.#leastFree = this.free
    return idle > 0
  }

  /** Begins the sums anew, for an owner that does not know them; returns what is held. */
  begin(): number {
    const held = Math.max(0, this.held)
    this.granted -= this.spent
    this.spent = 0
    return held
  }

  /** Nothing is held, reserved or owed. */
  get isEmpty(): boolean {
    return this.reserved === 0 && this.held === 0
  }
}
