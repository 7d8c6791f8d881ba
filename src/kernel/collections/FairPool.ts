/**
 * A map of limited size that owners share: over its bounds the owner that has the most loses the entry it used longest ago, and never one of which
 * something is in progress. Plain and synchronous, for hot paths too. For entries of one owner, `LruMap`.
 */

export interface FairPoolOptions<K, V> {
  readonly ownerOf: (value: V) => string
  /** Most entries it holds. */
  readonly capacity: number
  /** Most entries of one owner; absent: as many as fit. */
  readonly share?: number
  /** Most weight of all values together. Needs `weightOf`. */
  readonly maxWeight?: number
  readonly weightOf?: (value: V) => number
  /** An entry expires this long after it was set. Then `get`, `peek` and `set` need `nowMs`. */
  readonly ttlMs?: number
  /** Checks whether a value is in use, so that it is not evicted. Absent: none ever is. */
  readonly isBusy?: (value: V) => boolean
  /** Called for each entry that leaves: evicted, expired or deleted. Not for a value that `set` replaces. */
  readonly onRemove?: (key: K, value: V) => void
}

interface Entry<K, V> {
  readonly key: K
  readonly value: V
  readonly weight: number
  readonly expiresAtMs: number
  readonly owner: Owned<K, V>
  older: Entry<K, V> | null
  newer: Entry<K, V> | null
}

/** Entries of one owner, linked in the order of their use. */
interface Owned<K, V> {
  readonly name: string
  size: number
  weight: number
  oldest: Entry<K, V> | null
  newest: Entry<K, V> | null
}

export class FairPool<K, V> {
  readonly #byKey = new Map<K, Entry<K, V>>()
  readonly #owners = new Map<string, Owned<K, V>>()
  readonly #options: FairPoolOptions<K, V>
  readonly #maxWeight: number
  readonly #share: number
  #weight = 0
  /**
   * Owner with the most entries, as far as no other one can have more than `#bound`: all owners are looked at only when
   * that is not known.
   */
  #top: Owned<K, V> | null = null
  #bound = 0

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
    return this.#owners.get(owner)?.size ?? 0
  }

  /** The value, which counts as a use of the key. */
  get(key: K, nowMs = 0): V | undefined {
    const entry = this.#alive(key, nowMs)
    if (entry === undefined) return undefined
    if (entry !== entry.owner.newest) {
      this.#unlink(entry)
      this.#append(entry)
    }
    return entry.value
  }

  /** The value; the order stays as it is. */
  peek(key: K, nowMs = 0): V | undefined {
    return this.#alive(key, nowMs)?.value
  }

  /** Sets the value, which counts as a use of the key. False: it does not fit; a value that was there under the key is gone then. */
  set(key: K, value: V, nowMs = 0): boolean {
    const { ownerOf, ttlMs, weightOf } = this.#options
    const weight = weightOf === undefined ? 0 : weightOf(value)
    const name = ownerOf(value)
    const known = this.#byKey.get(key)
    // Replaces it in place, without a call of `onRemove`.
    if (known !== undefined) this.#take(known)
    if (!this.#makeRoom(name, weight)) {
      if (known !== undefined) this.#options.onRemove?.(key, known.value)
      return false
    }
    const owner = this.#ownedBy(name)
    const expiresAtMs = ttlMs === undefined ? 0 : nowMs + ttlMs
    const entry: Entry<K, V> = { key, value, weight, expiresAtMs, owner, older: null, newer: null }
    this.#byKey.set(key, entry)
    this.#append(entry)
    owner.size += 1
    owner.weight += weight
    this.#weight += weight
    this.#grown(owner)
    return true
  }

  /** True when the key was there. */
  delete(key: K): boolean {
    const entry = this.#byKey.get(key)
    if (entry === undefined) return false
    this.#remove(entry)
    return true
  }

  /** Removes the entry used longest ago of the owner that has the most; false: there is none. */
  deleteFairly(): boolean {
    const loser = this.#most(null)
    return loser !== null && this.#removeOldest(loser)
  }

  /** Deletes all entries of an owner. */
  deleteOwner(name: string): void {
    let entry = this.#owners.get(name)?.oldest ?? null
    while (entry !== null) {
      const { newer } = entry
      this.#remove(entry)
      entry = newer
    }
  }

  deleteExpired(nowMs: number): void {
    if (this.#options.ttlMs === undefined) return
    for (const entry of this.#byKey.values()) if (nowMs >= entry.expiresAtMs) this.#remove(entry)
  }

  /** Deletes every entry that `isOver`. */
  prune(isOver: (value: V, key: K) => boolean): void {
    for (const entry of this.#byKey.values()) if (isOver(entry.value, entry.key)) this.#remove(entry)
  }

  clear(): void {
    this.prune(() => true)
  }

  /** Iterates in no order. Only the entry at hand may be deleted meanwhile. */
  *[Symbol.iterator](): Generator<readonly [key: K, value: V]> {
    for (const [key, { value }] of this.#byKey) yield [key, value]
  }

  #ownedBy(name: string): Owned<K, V> {
    const known = this.#owners.get(name)
    if (known !== undefined) return known
    const owner: Owned<K, V> = { name, size: 0, weight: 0, oldest: null, newest: null }
    this.#owners.set(name, owner)
    return owner
  }

  #alive(key: K, nowMs: number): Entry<K, V> | undefined {
    const entry = this.#byKey.get(key)
    if (entry === undefined || this.#options.ttlMs === undefined || nowMs < entry.expiresAtMs) return entry
    this.#remove(entry)
    return undefined
  }

  /** Removes entries until one more of this weight fits. */
  #makeRoom(name: string, weight: number): boolean {
    if (weight > this.#maxWeight) return false
    while (this.sizeOf(name) >= this.#share) if (!this.#removeOldest(this.#ownedBy(name))) return false
    while (this.#byKey.size >= this.#options.capacity || this.#weight + weight > this.#maxWeight) {
      const loser = this.#loser(this.#owners.get(name) ?? null, weight)
      if (loser === null || !this.#removeOldest(loser)) return false
    }
    return true
  }

  /** The part of the pool that is taken, by entries or by weight, whichever is more. */
  #part(size: number, weight: number): number {
    return Math.max(size / this.#options.capacity, weight / this.#maxWeight)
  }

  /** Finds the owner that loses an entry for one more; null: none has more than the asking owner would have. */
  #loser(asking: Owned<K, V> | null, weight: number): Owned<K, V> | null {
    const wanted = this.#part((asking?.size ?? 0) + 1, (asking?.weight ?? 0) + weight)
    // An owner that has entries loses its own where another one has as much; one that has none comes in.
    if (asking !== null && asking === this.#top && wanted >= this.#bound) return asking
    const other = this.#most(asking)
    if (other === null) return asking
    const most = this.#part(other.size, other.weight)
    if (asking === null) return most >= wanted ? other : null
    return most > wanted ? other : asking
  }

  /** Finds the owner with the most of those that have an entry to lose, `except` left out. */
  #most(except: Owned<K, V> | null): Owned<K, V> | null {
    const top = this.#top
    if (top !== null && top !== except && this.#part(top.size, top.weight) >= this.#bound && this.#idle(top)) return top
    let found: Owned<K, V> | null = null
    let most = 0
    let [first, second]: [Owned<K, V> | null, number] = [null, 0]
    let highest = 0
    for (const owner of this.#owners.values()) {
      const part = this.#part(owner.size, owner.weight)
      if (part > highest) [first, second, highest] = [owner, highest, part]
      else if (part > second) second = part
      if (owner === except || part <= most || this.#idle(owner) === null) continue
      found = owner
      most = part
    }
    this.#top = first
    this.#bound = second
    return found
  }

  #grown(owner: Owned<K, V>): void {
    const top = this.#top
    if (owner === top) return
    const part = this.#part(owner.size, owner.weight)
    const most = top === null ? 0 : this.#part(top.size, top.weight)
    if (part > most) this.#top = owner
    this.#bound = Math.max(this.#bound, Math.min(part, most))
  }

  /** The entry used longest ago of which nothing is in progress. */
  #idle({ oldest }: Owned<K, V>): Entry<K, V> | null {
    const { isBusy } = this.#options
    if (isBusy === undefined) return oldest
    for (let entry = oldest; entry !== null; entry = entry.newer) if (!isBusy(entry.value)) return entry
    return null
  }

  #removeOldest(owner: Owned<K, V>): boolean {
    const entry = this.#idle(owner)
    if (entry !== null) this.#remove(entry)
    return entry !== null
  }

  #append(entry: Entry<K, V>): void {
    const { owner } = entry
    entry.older = owner.newest
    entry.newer = null
    if (owner.newest === null) owner.oldest = entry
    else owner.newest.newer = entry
    owner.newest = entry
  }

  #unlink(entry: Entry<K, V>): void {
    const { newer, older, owner } = entry
    if (older === null) owner.oldest = newer
    else older.newer = newer
    if (newer === null) owner.newest = older
    else newer.older = older
  }

  #take(entry: Entry<K, V>): void {
    const { key, owner, weight } = entry
    this.#byKey.delete(key)
    this.#unlink(entry)
    owner.size -= 1
    owner.weight -= weight
    this.#weight -= weight
    if (owner.size > 0) return
    this.#owners.delete(owner.name)
    if (this.#top === owner) this.#top = null
  }

  #remove(entry: Entry<K, V>): void {
    this.#take(entry)
    this.#options.onRemove?.(entry.key, entry.value)
  }
}
