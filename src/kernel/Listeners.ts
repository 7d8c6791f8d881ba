/**
 * Any number of listeners of one event. A class with a place for the first one, because one is made per request and most requests
 * have one listener. Listeners must not throw: those behind one that does would not hear.
 */
export class Listeners {
  #first: (() => void) | null = null
  #others: Set<() => void> | null = null

  /** The returned function takes the listener out again. */
  add(listener: () => void): () => void {
    if (this.#first === null) this.#first = listener
    else (this.#others ??= new Set()).add(listener)
    return () => {
      if (this.#first === listener) this.#first = null
      else this.#others?.delete(listener)
    }
  }

  /** Runs all of them; one that another takes out on the way is left out. */
  tell(): void {
    this.#first?.()
    if (this.#others !== null) for (const listener of this.#others) listener()
  }

  clear(): void {
    this.#first = null
    this.#others = null
  }
}
