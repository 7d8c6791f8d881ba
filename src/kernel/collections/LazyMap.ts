/** A map that is made when it is first looked into. Its size is known before. */
export class LazyMap<K, V> implements ReadonlyMap<K, V> {
  readonly size: number
  #make: (() => ReadonlyMap<K, V>) | null
  #made: ReadonlyMap<K, V> | null = null

  constructor(size: number, make: () => ReadonlyMap<K, V>) {
    this.size = size
    this.#make = make
  }

  #map(): ReadonlyMap<K, V> {
    if (this.#made === null) {
      this.#made = this.#make?.() ?? new Map()
      // What it was made of may go.
      this.#make = null
    }
    return this.#made
  }

  get(key: K): V | undefined {
    return this.#map().get(key)
  }

  has(key: K): boolean {
    return this.#map().has(key)
  }

  forEach(use: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this.#map()) use(value, key, this)
  }

  entries() {
    return this.#map().entries()
  }

  keys() {
    return this.#map().keys()
  }

  values() {
    return this.#map().values()
  }

  [Symbol.iterator]() {
    return this.#map()[Symbol.iterator]()
  }
}
