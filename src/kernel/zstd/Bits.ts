/** Bits of a zstd block that are read from its end to its begin (RFC 8878, 4.1). What is before the begin reads as zeros. */
export class Damaged extends Error {}

export class BackwardBits {
  readonly #bytes: Uint8Array
  readonly #from: number
  /** Bits that are not read yet; negative once more was read than there was. */
  left: number

  constructor(bytes: Uint8Array, from: number, to: number) {
    const last = to > from ? (bytes[to - 1] ?? 0) : 0
    // The highest bit of the last byte that is set marks the end.
    if (last === 0) throw new Damaged("A bit stream has no end mark.")
    this.#bytes = bytes
    this.#from = from
    this.left = (to - from) * 8 - 1 - Math.clz32(last << 24)
  }

  /** The next bits without taking them; at most 24. */
  peek(count: number): number {
    const at = this.left - count
    return at >= 0 ? this.#at(at, count) : this.left <= 0 ? 0 : (this.#at(0, this.left) << -at) & ((1 << count) - 1)
  }

  /** Reads at most 31 bits. */
  read(count: number): number {
    if (count > 16) {
      const high = this.read(count - 16)
      return high * 65_536 + this.read(16)
    }
    const bits = this.peek(count)
    this.left -= count
    return bits
  }

  #at(bit: number, count: number): number {
    const at = this.#from + (bit >> 3)
    const bytes = this.#bytes
    const four =
      (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)
    return (four >>> (bit & 7)) & ((1 << count) - 1)
  }
}
