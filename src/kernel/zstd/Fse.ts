/** Tables of finite state entropy (RFC 8878, 4.1). */
import { type BackwardBits, Damaged } from "./Bits.ts"

export interface FseTable {
  readonly log: number
  readonly symbols: Uint8Array
  readonly bits: Uint8Array
  readonly next: Uint16Array
}

const highBit = (value: number): number => 31 - Math.clz32(value)

/** `counts`: how often each symbol is in the table; -1 for one that is rarer than once. */
export const fseTable = (counts: ArrayLike<number>, log: number): FseTable => {
  const size = 1 << log
  const symbols = new Uint8Array(size)
  const seen = new Uint16Array(counts.length)
  let high = size
  for (let symbol = 0; symbol < counts.length; symbol += 1) {
    if (counts[symbol] !== -1) continue
    high -= 1
    symbols[high] = symbol
    seen[symbol] = 1
  }
  const step = (size >> 1) + (size >> 3) + 3
  let at = 0
  for (let symbol = 0; symbol < counts.length; symbol += 1) {
    const count = counts[symbol] ?? 0
    if (count <= 0) continue
    seen[symbol] = count
    for (let n = 0; n < count; n += 1) {
      symbols[at] = symbol
      do at = (at + step) & (size - 1)
      while (at >= high)
    }
  }
  if (at !== 0) throw new Damaged("A table does not add up.")
  const bits = new Uint8Array(size)
  const next = new Uint16Array(size)
  for (let state = 0; state < size; state += 1) {
    const symbol = symbols[state] ?? 0
    const nth = seen[symbol] ?? 0
    seen[symbol] = nth + 1
    const count = log - highBit(nth)
    bits[state] = count
    next[state] = (nth << count) - size
  }
  return { log, symbols, bits, next }
}

/** A table of one symbol. */
export const oneSymbol = (symbol: number): FseTable => ({
  log: 0,
  symbols: Uint8Array.of(symbol),
  bits: new Uint8Array(1),
  next: new Uint16Array(1)
})

/** Reads the description of a table; `end` is where it ends. */
export const readFseTable = (
  bytes: Uint8Array,
  from: number,
  to: number,
  limits: { readonly maxLog: number; readonly maxSymbol: number }
): { readonly table: FseTable; readonly end: number } => {
  let bit = 0
  const read = (count: number): number => {
    const at = from + (bit >> 3)
    if (at >= to) throw new Damaged("A table ends too early.")
    const four = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16)
    bit += count
    return (four >>> ((bit - count) & 7)) & ((1 << count) - 1)
  }
  const log = read(4) + 5
  if (log > limits.maxLog) throw new Damaged("A table is too large.")
  const counts: Array<number> = []
  let left = 1 << log
  while (left > 0) {
    const count = highBit(left + 1) + 1
    let value = read(count)
    const lower = (1 << (count - 1)) - 1
    const threshold = (1 << count) - 1 - (left + 1)
    if ((value & lower) < threshold) {
      bit -= 1
      value &= lower
    } else if (value > lower) value -= threshold
    const probability = value - 1
    left -= Math.abs(probability)
    counts.push(probability)
    if (probability === 0) {
      let more = 3
      while (more === 3) {
        more = read(2)
        for (let n = 0; n < more; n += 1) counts.push(0)
        if (counts.length > limits.maxSymbol + 1) break
      }
    }
    if (left < 0 || counts.length > limits.maxSymbol + 1) throw new Damaged("A table does not add up.")
  }
  const end = from + ((bit + 7) >> 3)
  if (end > to) throw new Damaged("A table ends too early.")
  return { table: fseTable(counts, log), end }
}

/** A walk through a table. */
export class FseState {
  readonly table: FseTable
  #state: number

  constructor(table: FseTable, bits: BackwardBits) {
    this.table = table
    this.#state = bits.read(table.log)
  }

  get symbol(): number {
    return this.table.symbols[this.#state] ?? 0
  }

  advance(bits: BackwardBits): void {
    this.#state = (this.table.next[this.#state] ?? 0) + bits.read(this.table.bits[this.#state] ?? 0)
  }
}
