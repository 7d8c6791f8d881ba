import { Slots } from "./Slots.ts"

/**
 * Any number of listeners of one event. A class with a field for the first one, because an instance is made per request and most
 * requests have one listener. Listeners must not throw: the ones after it would not be called.
 */
export class Listeners {
  #first: (() => void) | null = null
  #others: Slots<() => void> | null = null

  /** Adds a listener. The returned function removes it; further calls do nothing. */
  add(listener: () => void): () => void {
    if (this.#first === null) {
      this.#first = listener
      return () => {
        if (this.#first === listener) this.#first = null
      }
    }
    const others = (this.#others ??= new Slots())
    const place = others.add(listener)
    return () => {
      if (this.#others === others) others.remove(place, listener)
    }
  }

  /** Calls all listeners; one that another removes meanwhile is skipped. */
  tell(): void {
    this.#first?.()
    this.#others?.forEach((listener) => listener())
  }

  clear(): void {
    this.#first = null
    this.#others = null
  }
}
