/**
 * The records of the traffic inspector in memory, bounded by their number and their bytes. When there are too many bytes, the bodies of the
 * oldest records go first, then the oldest records. Plain and synchronous.
 */
import { type Bodies, type Head, noBodies } from "../../contract/domain/TrafficRecord.ts"
import { type Attempt, attemptOf, Retries } from "./Retries.ts"

export interface RingLimits {
  readonly maxEntries: number
  /** Most bytes of heads and bodies together. */
  readonly maxBytes: number
}

/** A record and its place: a newer one has a higher number. */
export interface RingEntry {
  readonly seq: number
  readonly head: Head
  readonly bodies: Bodies
}

/** A record that is put together when it is read. Masked as all are, where they are. */
export interface LateRecord {
  readonly id: string
  /** Null: its prompt is not known. */
  readonly attempt: Attempt | null
  readonly headBytes: number
  readonly bodyBytes: number
  readonly head: () => Head
  readonly bodies: () => Bodies
}

class Slot implements RingEntry {
  readonly seq: number
  readonly headBytes: number
  readonly bodyBytes: number
  #head: Head | (() => Head)
  #bodies: Bodies | (() => Bodies)

  constructor(seq: number, { bodies, bodyBytes, head, headBytes }: Content) {
    this.seq = seq
    this.headBytes = headBytes
    this.bodyBytes = bodyBytes
    this.#head = head
    this.#bodies = bodies
  }

  get head(): Head {
    if (typeof this.#head === "function") this.#head = this.#head()
    return this.#head
  }

  get bodies(): Bodies {
    if (typeof this.#bodies === "function") this.#bodies = this.#bodies()
    return this.#bodies
  }

  /** The same without its bodies. */
  emptied(): Slot {
    const head = this.#head
    const evicted = (): Head => ({ ...(typeof head === "function" ? head() : head), bodyEvicted: true })
    return new Slot(this.seq, {
      attempt: null,
      headBytes: this.headBytes,
      bodyBytes: 0,
      head: evicted,
      bodies: noBodies
    })
  }
}

interface Content extends Pick<LateRecord, "attempt" | "headBytes" | "bodyBytes"> {
  readonly head: Head | (() => Head)
  readonly bodies: Bodies | (() => Bodies)
}

/** Places that are kept at once; records beyond them are placed when they come. */
const maxReserved = 20_000
/** Objects, keys and texts of constant length. */
const fixedHeadBytes = 1_024

const sumOfHeaders = (headers: Head["requestHeaders"]): number => {
  let chars = 0
  for (const name in headers) chars += name.length + (headers[name]?.length ?? 0) + 16
  return chars
}

const decisionChars = new WeakMap<object, number>()

/** A decision never changes and is written several times: its size is computed once. */
const sizeOfDecision = (decision: unknown): number => {
  if (typeof decision !== "object" || decision === null) return 0
  const known = decisionChars.get(decision)
  if (known !== undefined) return known
  const chars = (JSON.stringify(decision) ?? "").length
  decisionChars.set(decision, chars)
  return chars
}

/** Estimates the bytes of a head that is built later: `chars` are those of all texts in it. */
export const bytesOfLateHead = (chars: number, decisionBytes: number): number =>
  fixedHeadBytes + 2 * chars + decisionBytes

/** Two bytes a character, which no text exceeds in memory. */
export const bytesOfHead = (head: Head): number =>
  fixedHeadBytes +
  2 *
    (head.path.length +
      head.host.length +
      (head.annotation?.length ?? 0) +
      (head.error?.length ?? 0) +
      (head.note?.length ?? 0) +
      sumOfHeaders(head.requestHeaders) +
      sumOfHeaders(head.responseHeaders) +
      sizeOfDecision(head.decision))

export const bytesOfBodies = ({ requestBody, responseBody }: Bodies): number =>
  (requestBody?.length ?? 0) + (responseBody?.length ?? 0)

export class Ring {
  readonly #limits: RingLimits
  /** Counts of its records by prompt. */
  readonly retries = new Retries()
  /** Slots in the order of their numbers. */
  readonly #slots = new Map<string, Slot>()
  /** Ids by number, for the search for the oldest body. */
  readonly #ids = new Map<number, string>()
  /** Places of records that are still to come. */
  readonly #reserved = new Map<string, number>()
  #nextSeq = 1
  #firstSeq = 1
  /** No entry with a lower number has a body. */
  #bodiesFrom = 1
  #bytes = 0

  constructor(limits: RingLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#slots.size
  }

  get bytes(): number {
    return this.#bytes
  }

  get(id: string): RingEntry | null {
    return this.#slots.get(id) ?? null
  }

  /** Keeps the place that a record would have now. */
  reserve(id: string): void {
    if (this.#slots.has(id) || this.#reserved.has(id) || this.#reserved.size >= maxReserved) return
    this.#reserved.set(id, this.#nextSeq++)
  }

  #place(id: string): number {
    const reserved = this.#reserved.get(id)
    if (reserved === undefined) return this.#nextSeq++
    this.#reserved.delete(id)
    // The eviction has gone past it.
    return reserved < this.#firstSeq ? this.#nextSeq++ : reserved
  }

  /**
   * Adds a record, or replaces the one with its id in its place. Bodies that are left out stay as they are. Null when the record was larger
   * than everything may be together.
   */
  set(head: Head, bodies?: Bodies): RingEntry | null {
    const kept = bodies ?? this.#slots.get(head.id)?.bodies ?? noBodies
    return this.#put(head.id, {
      attempt: attemptOf(head),
      head,
      bodies: kept,
      headBytes: bytesOfHead(head),
      bodyBytes: bytesOfBodies(kept)
    })
  }

  /** Hot: the same with one that is put together when it is read. */
  setLate(late: LateRecord): RingEntry | null {
    return this.#put(late.id, late)
  }

  #put(id: string, content: Content): RingEntry | null {
    const known = this.#slots.get(id)
    const slot = new Slot(known?.seq ?? this.#place(id), content)
    this.#bytes += slot.headBytes + slot.bodyBytes - (known === undefined ? 0 : known.headBytes + known.bodyBytes)
    this.#slots.set(id, slot)
    this.retries.set(id, content.attempt)
    this.#ids.set(slot.seq, id)
    if (slot.bodyBytes > 0) this.#bodiesFrom = Math.min(this.#bodiesFrom, slot.seq)
    this.#makeRoom()
    return this.#slots.get(id) ?? null
  }

  remove(id: string): boolean {
    const slot = this.#slots.get(id)
    if (slot === undefined) return false
    this.#slots.delete(id)
    this.retries.remove(id)
    this.#ids.delete(slot.seq)
    this.#bytes -= slot.headBytes + slot.bodyBytes
    return true
  }

  clear(): void {
    this.#slots.clear()
    this.retries.clear()
    this.#ids.clear()
    this.#reserved.clear()
    this.#firstSeq = this.#nextSeq
    this.#bodiesFrom = this.#nextSeq
    this.#bytes = 0
  }

  /** Newest first; those below a number only, where one is given. */
  *newest(before = Number.POSITIVE_INFINITY): Generator<RingEntry> {
    for (let seq = Math.min(this.#nextSeq, before) - 1; seq >= this.#firstSeq; seq -= 1) {
      const slot = this.#at(seq)
      if (slot !== undefined) yield slot
    }
  }

  #at(seq: number): Slot | undefined {
    const id = this.#ids.get(seq)
    return id === undefined ? undefined : this.#slots.get(id)
  }

  #makeRoom(): void {
    const { maxBytes, maxEntries } = this.#limits
    while (this.#slots.size > maxEntries) this.#removeOldest()
    while (this.#bytes > maxBytes && this.#dropOldestBodies());
    while (this.#bytes > maxBytes && this.#slots.size > 0) this.#removeOldest()
  }

  #removeOldest(): void {
    for (; this.#firstSeq < this.#nextSeq; this.#firstSeq += 1) {
      const id = this.#ids.get(this.#firstSeq)
      if (id !== undefined) return void this.remove(id)
    }
  }

  #dropOldestBodies(): boolean {
    this.#bodiesFrom = Math.max(this.#bodiesFrom, this.#firstSeq)
    for (; this.#bodiesFrom < this.#nextSeq; this.#bodiesFrom += 1) {
      const id = this.#ids.get(this.#bodiesFrom)
      const slot = id === undefined ? undefined : this.#slots.get(id)
      if (id === undefined || slot === undefined || slot.bodyBytes === 0) continue
      this.#bytes -= slot.bodyBytes
      this.#slots.set(id, slot.emptied())
      return true
    }
    return false
  }
}
