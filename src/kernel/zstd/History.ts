/** Decoded bytes of a frame: as many as later blocks may refer to, and the block that is being decoded. */
import { Damaged } from "./Bits.ts"

const leastBytes = 65_536
const shortBytes = 24

export class History {
  readonly #windowBytes: number
  readonly #maxBlockBytes: number
  #bytes: Buffer = Buffer.allocUnsafe(0)
  #end = 0
  /** Position at which the block begins. */
  #blockFrom = 0

  constructor(windowBytes: number, maxBlockBytes: number) {
    this.#windowBytes = windowBytes
    this.#maxBlockBytes = maxBlockBytes
  }

  add(bytes: Uint8Array, from = 0, to: number = bytes.length): void {
    const count = to - from
    this.#makeRoom(count)
    // A call costs more than a few bytes.
    if (count > shortBytes) this.#bytes.set(bytes.subarray(from, to), this.#end)
    else for (let n = 0; n < count; n += 1) this.#bytes[this.#end + n] = bytes[from + n] ?? 0
    this.#end += count
  }

  fill(byte: number, count: number): void {
    this.#makeRoom(count)
    this.#bytes.fill(byte, this.#end, this.#end + count)
    this.#end += count
  }

  repeat(offset: number, count: number): void {
    if (offset <= 0 || offset > this.#end || offset > this.#windowBytes) throw new Damaged("A match is out of reach.")
    this.#makeRoom(count)
    const begin = this.#end - offset
    if (count <= shortBytes) {
      for (let n = 0; n < count; n += 1) this.#bytes[this.#end + n] = this.#bytes[begin + n] ?? 0
      this.#end += count
      return
    }
    // What was just written may be repeated, too: each time as much as is there.
    for (let left = count; left > 0;) {
      const piece = Math.min(this.#end - begin, left)
      this.#bytes.copyWithin(this.#end, begin, begin + piece)
      this.#end += piece
      left -= piece
    }
  }

  /** The block that was decoded, in bytes of its own. */
  takeBlock(): Buffer {
    const block = Buffer.from(this.#bytes.subarray(this.#blockFrom, this.#end))
    this.#blockFrom = this.#end
    return block
  }

  #makeRoom(count: number): void {
    if (this.#end - this.#blockFrom + count > this.#maxBlockBytes) throw new Damaged("A block is too long.")
    if (this.#end + count <= this.#bytes.length) return
    const most = 2 * this.#windowBytes + 2 * this.#maxBlockBytes
    if (this.#end + count <= most) {
      const larger = Buffer.allocUnsafeSlow(
        Math.min(most, Math.max(leastBytes, 2 * this.#bytes.length, this.#end + count))
      )
      this.#bytes.copy(larger, 0, 0, this.#end)
      this.#bytes = larger
      return
    }
    // At least a window was written since the last time: what is moved is no more than that.
    const from = Math.min(this.#blockFrom, this.#end - this.#windowBytes)
    this.#bytes.copyWithin(0, from, this.#end)
    this.#end -= from
    this.#blockFrom -= from
  }
}
