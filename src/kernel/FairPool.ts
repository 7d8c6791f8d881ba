/**
 * A map of limited size that owners share: over its bounds the owner that has the most loses the entry it used longest ago, and never one of which
 * something is under way. Plain and synchronous, for hot paths too. For entries of one owner, `LruMap`.
 */

export interface FairPoolOptions<K, V> {
  readonly ownerOf: (value: V) => string
  /** Most entries it holds. */
  readonly capacity: number
  /** Most entries of one owner; absent: as many as there is room for. */
  readonly share?: number
  /** Most weight of all values together. Needs `weightOf`. */
  readonly maxWeight?: number
  readonly weightOf?: (value: V) => number
  /** An entry expires this long after it was set. Then `get`, `peek` and `set` need `nowMs`. */
  readonly ttlMs?: number
  /** Something of it is under way: it makes no room. Absent: nothing ever is. */
  readonly isBusy?: (value: V) => boolean
  /** Called for each entry that leaves: for room, expired or deleted. Not for a value that `set` replaces. */
  readonly onRemove?: (key: K, value: V) => void
}

interface Entry<V> {
  value: V
  weight: number
  expiresAtMs: number
  readonly owner: string
}

/** What one owner has, from the entry used longest ago to the one used last. */
interface Owned<K, V> {
  readonly entries: Map<K, Entry<V>>
  weight: number
}

export class FairPool<K, V> {
  readonly #byKey = new Map<K, Entry<V>>()
  readonly #owners = new Map<string, Owned<K, V>>()
  readonly #options: FairPoolOptions<K, V>
  readonly #maxWeight: number
  readonly #share: number
  #weight = 0

  constructor(options: FairPoolOptions<K, V>) {
    this.#options = options
    this.#maxWeight = options.maxWeight ?? Number.POSITIVE_INFINITY
    this.#share = options.share ?? options.capacity
  }

  get size(): number {
    return this.#byKey.size
  }

  /** Sum of `weightOf` over all values. */
  get weight(): number {
    return this.#weight
  }

  sizeOf(owner: string): number {
    return this.#owners.get(owner)?.entries.size ?? 0
  }

  /** The value, which counts as a use of the key. */
  get(key: K, nowMs = 0): V | undefined {
    const entry = this.#alive(key, nowMs)
    if (entry === undefined) return undefined
    const { entries } = this.#ownedBy(entry.owner)
    entries.delete(key)
    entries.set(key, entry)
    return entry.value
  }

  /** The value; the order stays as it is. */
  peek(key: K, nowMs = 0): V | undefined {
    return this.#alive(key, nowMs)?.value
  }

  /** Sets the value, which counts as a use of the key. False: there is no room for it; what was there under the key is gone then. */
  set(key: K, value: V, nowMs = 0): boolean {
    const { ownerOf, ttlMs, weightOf } = this.#options
    const weight = weightOf === undefined ? 0 : weightOf(value)
    const owner = ownerOf(value)
    const known = this.#byKey.get(key)
    // In its place, without the removal of what it replaces being told.
    if (known !== undefined) this.#take(key, known)
    if (!this.#makeRoom(owner, weight)) {
      if (known !== undefined) this.#options.onRemove?.(key, known.value)
      return false
    }
    const entry: Entry<V> = { value, weight, expiresAtMs: ttlMs === undefined ? 0 : nowMs + ttlMs, owner }
    const owned = this.#ownedBy(owner)
    this.#byKey.set(key, entry)
    owned.entries.set(key, entry)
    owned.weight += weight
    this.#weight += weight
    return true
  }

  /** True when the key was there. */
  delete(key: K): boolean {
    const entry = this.#byKey.get(key)
    if (entry === undefined) return false
    this.#remove(key, entry)
    return true
  }

  /** Removes the entry used longest ago of the owner that has the most; false: there is none. */
  deleteFairly(): boolean {
    const loser = this.#loser(null, 0)
    return loser !== null && this.#removeOldest(loser)
  }

  /** Deletes all entries of an owner. */
  deleteOwner(owner: string): void {
    for (const [key, entry] of this.#owners.get(owner)?.entries ?? []) this.#remove(key, entry)
  }

  deleteExpired(nowMs: number): void {
    if (this.#options.ttlMs === undefined) return
    for (const [key, entry] of this.#byKey) if (nowMs >= entry.expiresAtMs) this.#remove(key, entry)
  }

  /** Deletes every entry that `isOver`. */
  prune(isOver: (value: V, key: K) => boolean): void {
    for (const [key, entry] of this.#byKey) if (isOver(entry.value, key)) this.#remove(key, entry)
  }

  clear(): void {
    this.prune(() => true)
  }

  /** In no order. Only the entry at hand may be deleted meanwhile. */
  *[Symbol.iterator](): Generator<readonly [key: K, value: V]> {
    for (const [key, { value }] of this.#byKey) yield [key, value]
  }

  #ownedBy(owner: string): Owned<K, V> {
    const known = this.#owners.get(owner)
    if (known !== undefined) return known
    const owned: Owned<K, V> = { entries: new Map(), weight: 0 }
    this.#owners.set(owner, owned)
    return owned
  }

  #alive(key: K, nowMs: number): Entry<V> | undefined {
    const entry = this.#byKey.get(key)
    if (entry === undefined || this.#options.ttlMs === undefined || nowMs < entry.expiresAtMs) return entry
    this.#remove(key, entry)
    return undefined
  }

  /** Removes entries until one more of this weight fits. */
  #makeRoom(owner: string, weight: number): boolean {
    if (weight > this.#maxWeight) return false
    while (this.sizeOf(owner) >= this.#share) if (!this.#removeOldest(owner)) return false
    while (this.#byKey.size >= this.#options.capacity || this.#weight + weight > this.#maxWeight) {
      const loser = this.#loser(owner, weight)
      if (loser === null || !this.#removeOldest(loser)) return false
    }
    return true
  }

  /** The part of the pool that an owner takes, by entries or by weight, whichever is more. */
  #part(entries: number, weight: number): number {
    return Math.max(entries / this.#options.capacity, weight / this.#maxWeight)
  }

  /** Who has the most, with the entry that `asking` wants, and has one to lose; null: nobody that has more than it would have. */
  #loser(asking: string | null, weight: number): string | null {
    const own = asking === null ? undefined : this.#owners.get(asking)
    const wanted = this.#part((own?.entries.size ?? 0) + 1, (own?.weight ?? 0) + weight)
    let loser: string | null = null
    // An owner that has nothing yet comes in where all have equally much; any other one loses its own first.
    let most = own === undefined ? 0 : wanted
    for (const [owner, { entries, weight: held }] of this.#owners) {
      if (owner === asking) continue
      const part = this.#part(entries.size, held)
      if (part <= most || this.#oldestOf(owner) === undefined) continue
      loser = owner
      most = part
    }
    if (loser !== null && (own !== undefined || asking === null || most >= wanted)) return loser
    return own === undefined ? null : asking
  }

  #oldestOf(owner: string): K | undefined {
    const { isBusy } = this.#options
    for (const [key, { value }] of this.#owners.get(owner)?.entries ?? []) {
      if (isBusy === undefined || !isBusy(value)) return key
    }
    return undefined
  }

  #removeOldest(owner: string): boolean {
    const key = this.#oldestOf(owner)
    return key !== undefined && this.delete(key)
  }

  #take(key: K, entry: Entry<V>): void {
    const owned = this.#ownedBy(entry.owner)
    this.#byKey.delete(key)
    owned.entries.delete(key)
    owned.weight -= entry.weight
    this.#weight -= entry.weight
    if (owned.entries.size === 0) this.#owners.delete(entry.owner)
  }

  #remove(key: K, entry: Entry<V>): void {
    this.#take(key, entry)
    this.#options.onRemove?.(key, entry.value)
  }
}
