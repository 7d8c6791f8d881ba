/**
 * Any number of listeners of one event. A class with a field for the first one, because an instance is made per request and most
 * requests have one listener. Listeners must not throw: the ones after it would not be called.
 *
 * The others are kept in array slots that are reused, not in a `Set`: a `Set` whose members keep changing replaces its table all the
 * time, and each old table that has reached V8's old generation keeps the next one, with all its members, alive until a full collection.
 */
export class Listeners {
  #first: (() => void) | null = null
  #others: Array<(() => void) | null> | null = null
  #free: Array<number> | null = null

  /** The returned function removes the listener; further calls do nothing. */
  add(listener: () => void): () => void {
    if (this.#first === null) {
      this.#first = listener
      return () => {
        if (this.#first === listener) this.#first = null
      }
    }
    const others = (this.#others ??= [])
    const free = (this.#free ??= [])
    const place = free.pop() ?? others.length
    others[place] = listener
    return () => {
      if (this.#others !== others || others[place] !== listener) return
      others[place] = null
      free.push(place)
    }
  }

  /** Calls all listeners; one that another removes meanwhile is skipped. */
  tell(): void {
    this.#first?.()
    const others = this.#others
    if (others !== null) for (let place = 0; place < others.length; place += 1) others[place]?.()
  }

  clear(): void {
    this.#first = null
    this.#others = null
    this.#free = null
  }
}
