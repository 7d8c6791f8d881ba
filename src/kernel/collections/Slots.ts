/**
 * Values that come and go with each request, kept in places of an array that are used again.
 *
 * Not a `Set` or a `Map`: one whose members keep changing replaces its table all the time, and each old table that has reached V8's old
 * generation keeps the members it had alive until a full collection, so that all that belongs to a request is copied there, too.
 */
export class Slots<A extends object> {
  readonly #values: Array<A | null> = []
  readonly #free: Array<number> = []

  /** Returns the place of the value, for `remove`. */
  add(value: A): number {
    const place = this.#free.pop() ?? this.#values.length
    this.#values[place] = value
    return place
  }

  /** Removes the value at a place; false when another one is there or none. */
  remove(place: number, value: A): boolean {
    if (this.#values[place] !== value) return false
    this.#values[place] = null
    this.#free.push(place)
    return true
  }

  /** Calls `visit` with each value; one that is removed meanwhile is skipped. */
  forEach(visit: (value: A) => void): void {
    for (let place = 0; place < this.#values.length; place += 1) {
      const value = this.#values[place]
      if (value !== null && value !== undefined) visit(value)
    }
  }
}
