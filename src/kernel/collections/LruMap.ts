/** A map of limited size: the entry that was used longest ago is evicted for a new one. Plain and synchronous, for hot paths too. */

export interface LruOptions<K, V> {
  /** Most entries it holds. */
  readonly capacity: number
  /** Most weight of all values together; a single value above it removes every entry. Needs `weightOf`. */
  readonly maxWeight?: number
  readonly weightOf?: (value: V) => number
  /** An entry expires this long after it was set. Then `get`, `peek` and `set` need `nowMs`. */
  readonly ttlMs?: number
  /** Called for each entry that leaves: evicted, expired or deleted. Not for a value that `set` replaces. */
  readonly onRemove?: (key: K, value: V) => void
}

interface Entry<K, V> {
  readonly key: K
  value: V
  weight: number
  expiresAtMs: number
  older: Entry<K, V> | null
  newer: Entry<K, V> | null
}

/** Entries are linked in the order of their use: a use moves links, and leaves the table of keys as it is. */
export class LruMap<K, V> {
  readonly #byKey = new Map<K, Entry<K, V>>()
  readonly #capacity: number
  readonly #maxWeight: number
  readonly #weightOf: ((value: V) => number) | null
  readonly #ttlMs: number | null
  readonly #onRemove: ((key: K, value: V) => void) | null
  #oldest: Entry<K, V> | null = null
  #newest: Entry<K, V> | null = null
  #weight = 0

  constructor({ capacity, maxWeight, onRemove, ttlMs, weightOf }: LruOptions<K, V>) {
    this.#capacity = capacity
    this.#maxWeight = maxWeight ?? Number.POSITIVE_INFINITY
    this.#weightOf = weightOf ?? null
    this.#ttlMs = ttlMs ?? null
    this.#onRemove = onRemove ?? null
  }

  get size(): number {
    return this.#byKey.size
  }

  /** Sum of `weightOf` over all values. */
  get weight(): number {
    return this.#weight
  }

  get isFull(): boolean {
    return this.#byKey.size >= this.#capacity
  }

  /** The value, which counts as a use of the key. */
  get(key: K, nowMs = 0): V | undefined {
    const entry = this.#byKey.get(key)
    if (entry === undefined) return undefined
    if (this.#ttlMs !== null && nowMs >= entry.expiresAtMs) {
      this.#remove(entry)
      return undefined
    }
    if (entry !== this.#newest) this.#use(entry)
    return entry.value
  }

  /** The value; the order stays as it is. */
  peek(key: K, nowMs = 0): V | undefined {
    const entry = this.#byKey.get(key)
    if (entry === undefined) return undefined
    if (this.#ttlMs !== null && nowMs >= entry.expiresAtMs) {
      this.#remove(entry)
      return undefined
    }
    return entry.value
  }

  /** Sets the value, which counts as a use of the key, and removes what is too much then. */
  set(key: K, value: V, nowMs = 0): void {
    const weight = this.#weightOf === null ? 0 : this.#weightOf(value)
    const expiresAtMs = this.#ttlMs === null ? 0 : nowMs + this.#ttlMs
    const known = this.#byKey.get(key)
    if (known === undefined) {
      const entry: Entry<K, V> = { key, value, weight, expiresAtMs, older: null, newer: null }
      this.#byKey.set(key, entry)
      this.#append(entry)
      this.#weight += weight
    } else {
      this.#weight += weight - known.weight
      known.value = value
      known.weight = weight
      known.expiresAtMs = expiresAtMs
      if (known !== this.#newest) this.#use(known)
    }
    while (this.#byKey.size > this.#capacity || this.#weight > this.#maxWeight) this.deleteOldest()
  }

  /** True when the key was there. */
  delete(key: K): boolean {
    const entry = this.#byKey.get(key)
    if (entry === undefined) return false
    this.#remove(entry)
    return true
  }

  /** Deletes the entry that was used longest ago. */
  deleteOldest(): void {
    if (this.#oldest !== null) this.#remove(this.#oldest)
  }

  /** Deletes expired entries, from the one used longest ago to the first that has not expired. */
  deleteExpired(nowMs: number): void {
    if (this.#ttlMs === null) return
    while (this.#oldest !== null && nowMs >= this.#oldest.expiresAtMs) this.#remove(this.#oldest)
  }

  /** Deletes every entry that `isOver`. */
  prune(isOver: (value: V, key: K) => boolean): void {
    for (const entry of this.#byKey.values()) if (isOver(entry.value, entry.key)) this.#remove(entry)
  }

  clear(): void {
    while (this.#oldest !== null) this.#remove(this.#oldest)
  }

  /**
   * Iterates from the entry used longest ago to the one used last, expired ones as well. Only the entry at hand may be
   * deleted meanwhile.
   */
  *[Symbol.iterator](): Generator<readonly [key: K, value: V]> {
    for (let entry = this.#oldest; entry !== null; entry = entry.newer) yield [entry.key, entry.value]
  }

  #use(entry: Entry<K, V>): void {
    this.#unlink(entry)
    this.#append(entry)
  }

  #append(entry: Entry<K, V>): void {
    entry.older = this.#newest
    entry.newer = null
    if (this.#newest === null) this.#oldest = entry
    else this.#newest.newer = entry
    this.#newest = entry
  }

  #unlink(entry: Entry<K, V>): void {
    if (entry.older === null) this.#oldest = entry.newer
    else entry.older.newer = entry.newer
    if (entry.newer === null) this.#newest = entry.older
    else entry.newer.older = entry.older
  }

  #remove(entry: Entry<K, V>): void {
    this.#byKey.delete(entry.key)
    this.#unlink(entry)
    this.#weight -= entry.weight
    this.#onRemove?.(entry.key, entry.value)
  }
}
