/** Huffman-coded literals (RFC 8878, 4.2). */
import { BackwardBits, Damaged } from "./Bits.ts"
import { FseState, readFseTable } from "./Fse.ts"

export interface HuffmanTable {
  readonly log: number
  readonly symbols: Uint8Array
  readonly bits: Uint8Array
}

const maxLog = 11
const maxWeights = 255

const packedWeights = (bytes: Uint8Array, from: number, to: number): ReadonlyArray<number> => {
  const { end, table } = readFseTable(bytes, from, to, { maxLog: 6, maxSymbol: maxLog + 1 })
  const bits = new BackwardBits(bytes, end, to)
  let one = new FseState(table, bits)
  let other = new FseState(table, bits)
  const weights: Array<number> = []
  for (;;) {
    weights.push(one.symbol)
    if (weights.length > maxWeights) throw new Damaged("There are too many weights.")
    one.advance(bits)
    if (bits.left < 0) {
      weights.push(other.symbol)
      return weights
    }
    const next = other
    other = one
    one = next
  }
}

/** Builds the table; the rest of it belongs to the last symbol. */
const tableOf = (weights: ReadonlyArray<number>): HuffmanTable => {
  let sum = 0
  for (const weight of weights) {
    if (weight > maxLog + 1) throw new Damaged("A weight is too large.")
    sum += weight === 0 ? 0 : 1 << (weight - 1)
  }
  if (sum === 0) throw new Damaged("There are no weights.")
  const log = 32 - Math.clz32(sum)
  const rest = (1 << log) - sum
  if (log > maxLog || (rest & (rest - 1)) !== 0) throw new Damaged("The weights do not add up.")
  const all = [...weights, 32 - Math.clz32(rest)]
  if (all.length > 256) throw new Damaged("There are too many weights.")
  const symbols = new Uint8Array(1 << log)
  const bits = new Uint8Array(1 << log)
  let at = 0
  for (let weight = 1; weight <= log; weight += 1) {
    for (let symbol = 0; symbol < all.length; symbol += 1) {
      if (all[symbol] !== weight) continue
      const length = 1 << (weight - 1)
      symbols.fill(symbol, at, at + length)
      bits.fill(log + 1 - weight, at, at + length)
      at += length
    }
  }
  return { log, symbols, bits }
}

export const readHuffmanTable = (
  bytes: Uint8Array,
  from: number,
  to: number
): { readonly table: HuffmanTable; readonly end: number } => {
  const head = from < to ? (bytes[from] ?? 0) : 0
  if (head < 128) {
    const end = from + 1 + head
    if (head === 0 || end > to) throw new Damaged("A table ends too early.")
    return { table: tableOf(packedWeights(bytes, from + 1, end)), end }
  }
  const count = head - 127
  const end = from + 1 + ((count + 1) >> 1)
  if (end > to) throw new Damaged("A table ends too early.")
  const weights: Array<number> = []
  for (let n = 0; n < count; n += 1) {
    const pair = bytes[from + 1 + (n >> 1)] ?? 0
    weights.push(n % 2 === 0 ? pair >> 4 : pair & 15)
  }
  return { table: tableOf(weights), end }
}

/** Decodes one stream into `out`. */
export const readLiterals = (
  { bits: lengths, log, symbols }: HuffmanTable,
  bytes: Uint8Array,
  from: number,
  to: number,
  out: Uint8Array
): void => {
  const bits = new BackwardBits(bytes, from, to)
  for (let at = 0; at < out.length; at += 1) {
    const code = bits.peek(log)
    out[at] = symbols[code] ?? 0
    bits.left -= lengths[code] ?? 0
  }
  if (bits.left !== 0) throw new Damaged("A stream of literals has another length.")
}
