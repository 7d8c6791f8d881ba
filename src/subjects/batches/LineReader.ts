/** Lines of a file, one after the other: a file is never in memory whole, and neither is a line beyond the limit. */
import type { FileHandle } from "node:fs/promises"

export interface Line {
  /** Number from 1; blank lines count. */
  readonly number: number
  /** Bytes without the line feed; null: it is longer than the limit. */
  readonly bytes: Buffer | null
  /** Offset of the byte behind the line and its line feed. */
  readonly endsAt: number
  /** False: the file ends without a line feed. */
  readonly isWhole: boolean
}

const chunkBytes = 262_144
const lineFeed = 0x0a

/** Calls must not overlap. */
export class LineReader {
  readonly #file: FileHandle
  readonly #maxBytes: number
  readonly #chunk = Buffer.allocUnsafe(chunkBytes)
  /** Offset of the part of the chunk that was read and not returned. */
  #from = 0
  #to = 0
  /** Parts of a line that began in an earlier chunk. */
  #begun: Array<Buffer> = []
  #begunBytes = 0
  #isTooLong = false
  #number = 0
  #offset = 0
  #isAtEnd = false

  constructor(file: FileHandle, maxBytes: number) {
    this.#file = file
    this.#maxBytes = maxBytes
  }

  /** Null at the end. The bytes are valid until the next call. */
  async next(): Promise<Line | null> {
    for (;;) {
      if (this.#from < this.#to) {
        const end = this.#chunk.indexOf(lineFeed, this.#from)
        if (end !== -1 && end < this.#to) return this.#give(end, true)
        this.#keep()
      }
      if (this.#isAtEnd) return this.#begunBytes === 0 ? null : this.#give(this.#to, false)
      const { bytesRead } = await this.#file.read(this.#chunk, 0, chunkBytes)
      this.#from = 0
      this.#to = bytesRead
      this.#isAtEnd = bytesRead === 0
    }
  }

  /** The rest of the chunk belongs to a line that goes on. */
  #keep(): void {
    const rest = this.#to - this.#from
    this.#begunBytes += rest
    if (this.#begunBytes > this.#maxBytes) {
      this.#isTooLong = true
      this.#begun = []
    } else this.#begun.push(Buffer.from(this.#chunk.subarray(this.#from, this.#to)))
    this.#from = this.#to
  }

  #give(end: number, isWhole: boolean): Line {
    const tail = this.#chunk.subarray(this.#from, end)
    const length = this.#begunBytes + tail.length
    const isTooLong = this.#isTooLong || length > this.#maxBytes
    const bytes = isTooLong ? null : this.#begun.length === 0 ? tail : Buffer.concat([...this.#begun, tail])
    this.#begun = []
    this.#begunBytes = 0
    this.#isTooLong = false
    this.#from = isWhole ? end + 1 : end
    this.#number += 1
    this.#offset += length + (isWhole ? 1 : 0)
    return { number: this.#number, bytes, endsAt: this.#offset, isWhole }
  }
}

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d

/** A line that says nothing: clients end files with them. */
export const saysNothing = ({ bytes }: Line): boolean => bytes !== null && bytes.every(isBlank)
