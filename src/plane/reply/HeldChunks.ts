/**
 * The bytes of an answer that may still be written to one of its clients, by their position in it. Bytes that no client needs any more are
 * dropped; the others count against a memory budget that all answers share.
 */

import { mayTakePlace } from "../../kernel/collections/FairShare.ts"

/** Memory that several have in common. */
export class Room {
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  get isFull(): boolean {
    return this.#bytes > this.#maxBytes
  }

  /** Negative: it is released. */
  add(bytes: number): void {
    this.#bytes += bytes
  }
}

/** Memory share of one owner, as a part of `Rooms`. */
class OwnRoom extends Room {
  readonly #rooms: Rooms
  readonly #owner: string

  constructor(rooms: Rooms, owner: string) {
    super(rooms.maxBytes)
    this.#rooms = rooms
    this.#owner = owner
  }

  override get bytes(): number {
    return this.#rooms.bytesOf(this.#owner)
  }

  override get isFull(): boolean {
    return !mayTakePlace({ capacity: this.#rooms.maxBytes, taken: this.#rooms.bytes, own: this.bytes - 1 })
  }

  override add(bytes: number): void {
    this.#rooms.add(this.#owner, bytes)
  }
}

/** Memory that several owners have in common: one takes at most as much as it leaves free. */
export class Rooms {
  readonly maxBytes: number
  readonly #byOwner = new Map<string, number>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  bytesOf(owner: string): number {
    return this.#byOwner.get(owner) ?? 0
  }

  /** Negative: it is released. */
  add(owner: string, bytes: number): void {
    this.#bytes += bytes
    const own = this.bytesOf(owner) + bytes
    if (own === 0) this.#byOwner.delete(owner)
    else this.#byOwner.set(owner, own)
  }

  of(owner: string): Room {
    return new OwnRoom(this, owner)
  }
}

/** Bytes that a small chunk takes besides its own. */
export const chunkOverheadBytes = 128

const empty = Buffer.alloc(0)
const weightOf = (chunk: Buffer): number => chunk.length + chunkOverheadBytes

export class HeldChunks {
  readonly #room: Room
  /** A given-up chunk leaves its slot behind until half of them are empty. */
  #slots: Array<Buffer> = []
  /** Place of the first slot. */
  #base = 0
  /** Place of the first chunk that is still there. */
  #from = 0
  #heldBytes = 0

  constructor(room: Room) {
    this.#room = room
  }

  /** The place behind the last chunk. */
  get end(): number {
    return this.#base + this.#slots.length
  }

  /** Returns the bytes of the chunks that are there, with their overhead. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  add(chunk: Buffer): void {
    this.#slots.push(chunk)
    this.#count(weightOf(chunk))
  }

  /** Null where there is none, or none any more. */
  at(place: number): Buffer | null {
    return place < this.#from ? null : (this.#slots[place - this.#base] ?? null)
  }

  /** Drops all before `place`. */
  dropBefore(place: number): void {
    const until = Math.min(place, this.end)
    for (; this.#from < until; this.#from += 1) {
      const slot = this.#from - this.#base
      this.#count(-weightOf(this.#slots[slot] ?? empty))
      this.#slots[slot] = empty
    }
    const free = this.#from - this.#base
    if (free * 2 <= this.#slots.length) return
    this.#slots.splice(0, free)
    this.#base = this.#from
  }

  /** All chunks from the first one; null when some were given up. */
  whole(): ReadonlyArray<Buffer> | null {
    return this.#from === 0 ? this.#slots.slice() : null
  }

  /** Drops everything. */
  clear(): void {
    this.dropBefore(this.end)
  }

  #count(bytes: number): void {
    this.#heldBytes += bytes
    this.#room.add(bytes)
  }
}
