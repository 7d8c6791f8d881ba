/**
 * Decodes zstd (RFC 8878) as it comes, for Node versions that have no decoder of their own. Frames may follow each other; dictionaries are not
 * known, checksums are not compared. Time is linear in what comes in and goes out, memory in the window. Pure.
 */
import { Damaged } from "./Bits.ts"
import { BlockState, maxBlockBytes, readBlock } from "./Block.ts"
import { History } from "./History.ts"

/** The largest that decoders have to support (RFC 8878, 3.1.1.1.2). */
export const maxWindowBytes = 8_388_608

interface Frame {
  readonly history: History
  readonly state: BlockState
  readonly blockBytes: number
  readonly hasChecksum: boolean
}

const magic = 0xfd2fb528
const skippable = 0x184d2a50

type Step = "frame" | "block" | "skip" | "checksum"

export class ZstdDecoder {
  readonly #onBlock: (bytes: Buffer) => void
  #held: Array<Uint8Array> = []
  #heldBytes = 0
  /** Bytes needed for the next step. */
  #needed = 4
  #step: Step = "frame"
  #skipBytes = 0
  #frame: Frame | null = null

  /** `onBlock` gets each block of at most 128 KiB as soon as it is there; what it throws ends `push`. */
  constructor(onBlock: (bytes: Buffer) => void) {
    this.#onBlock = onBlock
  }

  /** Throws `Damaged` where the bytes are no zstd. */
  push(chunk: Uint8Array): void {
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#heldBytes < this.#needed && this.#step !== "skip") return
    const bytes = this.#held.length === 1 ? chunk : Buffer.concat(this.#held, this.#heldBytes)
    let at = 0
    for (;;) {
      const taken = this.#take(bytes, at)
      if (taken === 0) break
      at += taken
    }
    this.#held = at === bytes.length ? [] : [Uint8Array.from(bytes.subarray(at))]
    this.#heldBytes = bytes.length - at
  }

  /** Throws `Damaged` where something is missing. */
  end(): void {
    if (this.#step !== "frame" || this.#heldBytes > 0) throw new Damaged("The body ends too early.")
  }

  /** The bytes of the next step; 0 where more are needed. */
  #take(bytes: Uint8Array, at: number): number {
    const left = bytes.length - at
    switch (this.#step) {
      case "skip": {
        const taken = Math.min(left, this.#skipBytes)
        this.#skipBytes -= taken
        if (this.#skipBytes === 0) this.#next("frame", 4)
        return taken
      }
      case "checksum":
        if (left < 4) return this.#need(4)
        this.#next("frame", 4)
        return 4
      case "frame":
        return this.#takeHead(bytes, at, left)
      case "block":
        return this.#takeBlock(bytes, at, left)
    }
  }

  #need(bytes: number): 0 {
    this.#needed = bytes
    return 0
  }

  #next(step: Step, needed: number): void {
    this.#step = step
    this.#needed = needed
  }

  #takeHead(bytes: Uint8Array, at: number, left: number): number {
    if (left === 0) return 0
    if (left < 4) return this.#need(4)
    const word = littleEndian(bytes, at, 4)
    if (word >= skippable && word < skippable + 16) {
      if (left < 8) return this.#need(8)
      this.#skipBytes = littleEndian(bytes, at + 4, 4)
      this.#next(this.#skipBytes === 0 ? "frame" : "skip", this.#skipBytes === 0 ? 4 : 1)
      return 8
    }
    if (word !== magic) throw new Damaged("The body is no zstd.")
    if (left < 5) return this.#need(5)
    const flags = bytes[at + 4] ?? 0
    const isSingle = (flags & 32) !== 0
    const idBytes = [0, 1, 2, 4][flags & 3] ?? 0
    const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0
    const headBytes = 5 + (isSingle ? 0 : 1) + idBytes + sizeBytes
    if (left < headBytes) return this.#need(headBytes)
    if ((flags & 8) !== 0) throw new Damaged("The head of a frame is not known.")
    const idAt = at + 5 + (isSingle ? 0 : 1)
    if (littleEndian(bytes, idAt, idBytes) !== 0) throw new Damaged("The body needs a dictionary.")
    const windowBytes = isSingle
      ? littleEndian(bytes, idAt + idBytes, sizeBytes) + (sizeBytes === 2 ? 256 : 0)
      : windowOf(bytes[at + 5] ?? 0)
    if (windowBytes > maxWindowBytes) throw new Damaged("A frame needs a window of more than 8 MiB.")
    const blockBytes = Math.min(windowBytes, maxBlockBytes)
    this.#frame = {
      history: new History(windowBytes, blockBytes),
      state: new BlockState(),
      blockBytes,
      hasChecksum: (flags & 4) !== 0
    }
    this.#next("block", 3)
    return headBytes
  }

  #takeBlock(bytes: Uint8Array, at: number, left: number): number {
    const frame = this.#frame
    if (frame === null) throw new Damaged("A block has no frame.")
    if (left < 3) return this.#need(3)
    const head = littleEndian(bytes, at, 3)
    const type = (head >> 1) & 3
    const size = head >> 3
    const ownBytes = 3 + (type === 1 ? 1 : size)
    if (type === 3 || size > frame.blockBytes) throw new Damaged("The head of a block is not known.")
    if (left < ownBytes) return this.#need(ownBytes)
    const body = bytes.subarray(at + 3, at + ownBytes)
    if (type === 0) frame.history.add(body)
    else if (type === 1) frame.history.fill(body[0] ?? 0, size)
    else readBlock(frame.state, body, frame.history)
    const block = frame.history.takeBlock()
    if ((head & 1) === 0) this.#next("block", 3)
    else {
      this.#frame = null
      this.#next(frame.hasChecksum ? "checksum" : "frame", 4)
    }
    if (block.length > 0) this.#onBlock(block)
    return ownBytes
  }
}

const littleEndian = (bytes: Uint8Array, at: number, count: number): number => {
  let number = 0
  for (let n = count - 1; n >= 0; n -= 1) number = number * 256 + (bytes[at + n] ?? 0)
  return number
}

const windowOf = (descriptor: number): number => {
  const base = 2 ** (10 + (descriptor >> 3))
  return base + (base / 8) * (descriptor & 7)
}
