/** Compressed blocks (RFC 8878, 3.1.1.3). */
import { BackwardBits, Damaged } from "./Bits.ts"
import { FseState, type FseTable, fseTable, oneSymbol, readFseTable } from "./Fse.ts"
import { type HuffmanTable, readHuffmanTable, readLiterals } from "./Huffman.ts"
import type { History } from "./History.ts"

export const maxBlockBytes = 131_072

interface Kind {
  readonly preset: FseTable
  readonly maxLog: number
  readonly maxSymbol: number
}

const times = (count: number, value: number): ReadonlyArray<number> => Array.from({ length: count }, () => value)
const rare = (count: number): ReadonlyArray<number> => times(count, -1)
const ones = (count: number): ReadonlyArray<number> => times(count, 1)
const twos = (count: number): ReadonlyArray<number> => times(count, 2)

const lengths: Kind = {
  preset: fseTable([4, 3, ...twos(11), 1, 1, 1, ...twos(9), 3, 2, ...ones(5), ...rare(4)], 6),
  maxLog: 9,
  maxSymbol: 35
}
const offsets: Kind = { preset: fseTable([...ones(6), 2, 2, 2, ...ones(15), ...rare(5)], 5), maxLog: 8, maxSymbol: 31 }
const matches: Kind = { preset: fseTable([1, 4, 3, ...twos(6), ...ones(37), ...rare(7)], 6), maxLog: 9, maxSymbol: 52 }

const lengthBits = [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
const matchBits = [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]

/** Codes below `plain` are the value itself; each later one begins where the one before ends. */
const codesOf = (plain: number, first: number, more: ReadonlyArray<number>) => {
  const bits = [...times(plain, 0), ...more]
  let next = first
  const bases = bits.map((count) => {
    const base = next
    next += 2 ** count
    return base
  })
  return { bits, bases }
}
const lengthCodes = codesOf(16, 0, lengthBits)
const matchCodes = codesOf(32, 3, matchBits)

/** State that a block leaves to the next one of its frame. */
export class BlockState {
  huffman: HuffmanTable | null = null
  lengths: FseTable | null = null
  offsets: FseTable | null = null
  matches: FseTable | null = null
  readonly repeats: [number, number, number] = [1, 4, 8]
}

interface Literals {
  readonly literals: Uint8Array
  readonly end: number
}

const plainLiterals = (bytes: Uint8Array, from: number, to: number): Literals => {
  const head = bytes[from] ?? 0
  const format = (head >> 2) & 3
  const headBytes = format === 1 ? 2 : format === 3 ? 3 : 1
  const long = (head >> 4) | ((bytes[from + 1] ?? 0) << 4) | (headBytes === 3 ? (bytes[from + 2] ?? 0) << 12 : 0)
  const size = headBytes === 1 ? head >> 3 : long
  const at = from + headBytes
  const isRun = (head & 3) === 1
  const end = at + (isRun ? 1 : size)
  if (end > to || size > maxBlockBytes) throw new Damaged("The literals of a block are too long.")
  const literals = isRun ? new Uint8Array(size).fill(bytes[at] ?? 0) : bytes.subarray(at, end)
  return { literals, end }
}

const codedLiterals = (state: BlockState, bytes: Uint8Array, from: number, to: number): Literals => {
  const head = bytes[from] ?? 0
  const format = (head >> 2) & 3
  const width = format < 2 ? 10 : format === 2 ? 14 : 18
  const headBytes = format < 2 ? 3 : format + 2
  if (from + headBytes > to) throw new Damaged("A block ends too early.")
  let number = 0
  for (let n = headBytes - 1; n >= 0; n -= 1) number = number * 256 + (bytes[from + n] ?? 0)
  const sizes = Math.floor(number / 16)
  const size = sizes % 2 ** width
  const end = from + headBytes + (Math.floor(sizes / 2 ** width) % 2 ** width)
  if (end > to || size > maxBlockBytes) throw new Damaged("The literals of a block are too long.")
  let at = from + headBytes
  if ((head & 3) === 2) {
    const read = readHuffmanTable(bytes, at, end)
    state.huffman = read.table
    at = read.end
  }
  const { huffman } = state
  if (huffman === null) throw new Damaged("A block goes on with a table that there is not.")
  const literals = new Uint8Array(size)
  if (format === 0) {
    readLiterals(huffman, bytes, at, end, literals)
    return { literals, end }
  }
  const part = (size + 3) >> 2
  let begin = at + 6
  if (begin > end || 3 * part > size) throw new Damaged("A block ends too early.")
  for (let n = 0; n < 4; n += 1) {
    const length = (bytes[at + 2 * n] ?? 0) | ((bytes[at + 2 * n + 1] ?? 0) << 8)
    const stop = n === 3 ? end : begin + length
    if (stop > end) throw new Damaged("A block ends too early.")
    readLiterals(huffman, bytes, begin, stop, literals.subarray(n * part, n === 3 ? size : (n + 1) * part))
    begin = stop
  }
  return { literals, end }
}

/** Moves the offset to the front of those that can be named again. */
const offsetOf = (repeats: [number, number, number], value: number, isEmpty: boolean): number => {
  if (value > 3) {
    repeats[2] = repeats[1]
    repeats[1] = repeats[0]
    repeats[0] = value - 3
    return value - 3
  }
  const index = value - 1 + (isEmpty ? 1 : 0)
  if (index === 0) return repeats[0]
  const offset = index === 3 ? repeats[0] - 1 : (repeats[index] ?? 0)
  if (index !== 1) repeats[2] = repeats[1]
  repeats[1] = repeats[0]
  repeats[0] = offset
  return offset
}

const tableFor = (
  mode: number,
  kind: Kind,
  before: FseTable | null,
  bytes: Uint8Array,
  from: number
): { readonly table: FseTable; readonly end: number } => {
  switch (mode) {
    case 0:
      return { table: kind.preset, end: from }
    case 1: {
      const symbol = bytes[from] ?? 0
      if (from >= bytes.length || symbol > kind.maxSymbol) throw new Damaged("A table has a code that there is not.")
      return { table: oneSymbol(symbol), end: from + 1 }
    }
    case 2:
      return readFseTable(bytes, from, bytes.length, kind)
    default:
      if (before === null) throw new Damaged("A block goes on with a table that there is not.")
      return { table: before, end: from }
  }
}

const countOf = (bytes: Uint8Array, from: number): { readonly count: number; readonly end: number } => {
  const head = bytes[from] ?? 0
  if (head < 128) return { count: head, end: from + 1 }
  if (head < 255) return { count: ((head - 128) << 8) + (bytes[from + 1] ?? 0), end: from + 2 }
  return { count: (bytes[from + 1] ?? 0) + ((bytes[from + 2] ?? 0) << 8) + 0x7f00, end: from + 3 }
}

const readSequences = (
  state: BlockState,
  bytes: Uint8Array,
  from: number,
  literals: Uint8Array,
  history: History
): void => {
  const to = bytes.length
  const { count, end } = countOf(bytes, from)
  if (from >= to || end > to) throw new Damaged("A block ends too early.")
  if (count === 0) {
    if (end !== to) throw new Damaged("A block goes on behind its end.")
    return history.add(literals)
  }
  const modes = end < to ? (bytes[end] ?? 0) : 3
  if ((modes & 3) !== 0) throw new Damaged("A block has a mode that there is not.")
  const first = tableFor(modes >> 6, lengths, state.lengths, bytes, end + 1)
  const second = tableFor((modes >> 4) & 3, offsets, state.offsets, bytes, first.end)
  const third = tableFor((modes >> 2) & 3, matches, state.matches, bytes, second.end)
  state.lengths = first.table
  state.offsets = second.table
  state.matches = third.table
  const bits = new BackwardBits(bytes, third.end, to)
  const length = new FseState(first.table, bits)
  const offset = new FseState(second.table, bits)
  const match = new FseState(third.table, bits)
  let at = 0
  for (let n = 0; n < count; n += 1) {
    const code = offset.symbol
    const value = 2 ** code + bits.read(code)
    const matchLength = (matchCodes.bases[match.symbol] ?? 0) + bits.read(matchCodes.bits[match.symbol] ?? 0)
    const literalLength = (lengthCodes.bases[length.symbol] ?? 0) + bits.read(lengthCodes.bits[length.symbol] ?? 0)
    if (bits.left < 0 || at + literalLength > literals.length) throw new Damaged("A block ends too early.")
    history.add(literals, at, at + literalLength)
    at += literalLength
    history.repeat(offsetOf(state.repeats, value, literalLength === 0), matchLength)
    if (n === count - 1) break
    length.advance(bits)
    match.advance(bits)
    offset.advance(bits)
  }
  if (bits.left !== 0) throw new Damaged("The sequences of a block have another length.")
  history.add(literals, at)
}

/** Decodes one compressed block into the history. */
export const readBlock = (state: BlockState, bytes: Uint8Array, history: History): void => {
  if (bytes.length === 0) throw new Damaged("A block is empty.")
  const isPlain = ((bytes[0] ?? 0) & 3) < 2
  const { end, literals } = isPlain
    ? plainLiterals(bytes, 0, bytes.length)
    : codedLiterals(state, bytes, 0, bytes.length)
  readSequences(state, bytes, end, literals, history)
}
