/**
 * Reads the bytes of a JSON text once, sixteen at a time where it can: is it an object in JSON, without a repeated member and within the limits;
 * where its outermost members are; and its outline, which is the text with long strings cut, with the insides of some members left out, and
 * with items of its lists that have the form of an item before them left out.
 *
 * This is AssemblyScript (https://www.assemblyscript.org), compiled by bin/outline.mjs to src/wire/json/outline/module.generated.ts.
 * Its memory: tables, the text, the outline. What it cannot tell for sure it leaves to `JSON.parse`: `scan` gives 0 then.
 */

/** Kinds of members, by the hash of their names. */
const classes: usize = 1_024
const classSlots: usize = 64
/** Kind and first key of each object and list that is open. */
const levels: usize = 4_096
const maxDepth: u32 = 200
/** Hashes of the names of all objects that are open. */
const names: usize = 8_192
const maxNames: u32 = 1_024
/** Hashes of the forms of items of the list that is open. */
const forms: usize = 16_384
const maxForms: u32 = 64
/** Outermost members: name, end of the name, value, end of the value, items, and whether the outline has less than the text. */
const tops: usize = 20_480
const topBytes: u32 = 24
const maxTops: u32 = 256
const input: usize = 32_768

const maxMembers: u32 = 100_000
const maxValues: u32 = 1_000_000
const maxNameBytes: usize = 256

/** Strings longer than this are cut after so many bytes. */
const cutFrom: usize = 160
const cutAfter: usize = 96
/** What a long string begins with is a part of its form. */
const formBytes: usize = 64
/** A text up to this length is a part of the form. */
const shortText: usize = 16

// Kinds of members.
const plainMember: u32 = 0
/** Their strings are a part of the form wholly, and are never cut. */
const wordMember: u32 = 1
/** Their strings are text: long ones differ in nothing that counts. */
const textMember: u32 = 2
/** Their strings are ids: what counts is their length, their letters, and what they begin with. */
const idMember: u32 = 3
/** What objects and lists hold is left out. */
const closedMember: u32 = 4

let at: usize = 0
let end: usize = 0
/** The text from here on is not in the outline yet. */
let from: usize = 0
let to: usize = 0
let members: u32 = 0
let values: u32 = 0
let topCount: u32 = 0

let depth: u32 = 0
let isObject: bool = false
let firstName: u32 = 0
let nameCount: u32 = 0
/** Hash and kind of the member whose value is read. */
let name: u64 = 0
let kind: u32 = plainMember

/** Form of the item that is read, and of those before it. */
let form: u64 = 0
let formCount: u32 = 0
let itemFrom: usize = 0
let savedFrom: usize = 0
let savedTo: usize = 0
let items: u32 = 0
/** Depth of the member whose insides are left out; 0: none. */
let closedAt: u32 = 0

/** Makes forms differ from process to process. */
export let seed: u64 = 0x9e37_79b9_7f4a_7c15

// @ts-ignore: decorator
@inline
function mixed(hash: u64, value: u64): u64 {
  const product = (hash ^ value) * 0xff51_afd7_ed55_8ccd
  return product ^ (product >> 32)
}

function hashOf(start: usize, length: usize): u64 {
  let hash = mixed(seed, <u64>length)
  let place = start
  const whole = start + (length & ~7)
  for (; place < whole; place += 8) hash = mixed(hash, load<u64>(place))
  const rest = <u64>(length & 7)
  if (rest > 0) hash = mixed(hash, load<u64>(place) & ((<u64>1 << (rest << 3)) - 1))
  return hash
}

// @ts-ignore: decorator
@inline
function note(value: u64): void {
  form = mixed(form, value)
}

/** Goes to the next byte that is no space, and gives it. */
// @ts-ignore: decorator
@inline
function next(): u32 {
  let byte: u32 = load<u8>(at)
  while (byte == 32 || byte == 10 || byte == 13 || byte == 9) {
    at += 1
    byte = load<u8>(at)
  }
  return byte
}

/** Takes the text up to `until` into the outline. */
// @ts-ignore: decorator
@inline
function take(until: usize): void {
  const length = until - from
  if (length > 0) memory.copy(to, from, length)
  to += length
}

function isHex(byte: u32): bool {
  return byte - 48 < 10 || (byte | 32) - 97 < 6
}

/** Letters that may be behind a backslash, as bits from `"` on: `"`, `/` and the backslash, then b, f, n, r and t. */
const escapesBelow98: u64 = 0x0400_0000_0000_2001
const escapesFrom98: u64 = 0x5_1011

/** Length of the escape at `at`; 0: it is none. */
function escapeLength(): usize {
  const letter: u32 = load<u8>(at + 1)
  const place = letter - 34
  if (place < 64 ? ((escapesBelow98 >> place) & 1) != 0 : place < 128 && ((escapesFrom98 >> (place - 64)) & 1) != 0) return 2
  if (letter != 117) return 0
  for (let digit: usize = 2; digit < 6; digit += 1) if (!isHex(load<u8>(at + digit))) return 0
  return 6
}

/** From here on the string at hand may be cut: no escape goes on behind it. */
let cuttable: usize = 0
let isEscaped: bool = false

/** Goes from behind the quote that opens a string to behind the one that closes it; false: there is none, or a control character. */
function passString(start: usize): bool {
  const quotes = i8x16.splat(34)
  const slashes = i8x16.splat(92)
  const controls = i8x16.splat(32)
  cuttable = start + cutAfter
  isEscaped = false
  while (true) {
    const bytes = v128.load(at)
    const found = i8x16.bitmask(
      v128.or(v128.or(i8x16.eq(bytes, quotes), i8x16.eq(bytes, slashes)), i8x16.lt_u(bytes, controls))
    )
    if (found == 0) {
      at += 16
      continue
    }
    at += ctz(found)
    const byte = load<u8>(at)
    if (byte == 34) break
    if (byte != 92) return false
    const length = escapeLength()
    if (length == 0) return false
    isEscaped = true
    if (at < cuttable && at + length > cuttable) cuttable = at + length
    at += length
  }
  at += 1
  return at <= end
}

/** What counts of an id: its length, whether it is of letters and digits, or of these and `_` and `-`, and what it begins with. */
function noteId(start: usize, length: usize): void {
  let letters: u64 = 1
  let plain: u64 = 1
  let begin: usize = 0
  for (let index: usize = 0; index < length && index < 80; index += 1) {
    const byte: u32 = load<u8>(start + index)
    if (byte - 48 < 10 || (byte | 32) - 97 < 26) continue
    letters = 0
    if (byte != 95 && byte != 45) plain = 0
    if (byte == 95 && index < 24) begin = index + 1
  }
  note(letters | (plain << 1) | (<u64>length << 2))
  note(hashOf(start, begin))
}

/** A string: noted in the form, and cut where it is long. */
function passText(): bool {
  at += 1
  const start = at
  if (!passString(start)) return false
  if (closedAt != 0) return true
  const close = at - 1
  const length = close - start
  if (depth > 1) {
    note(5)
    if (kind == textMember && length > shortText) note(6)
    else if (kind == idMember && !isEscaped) noteId(start, length)
    else if (kind == wordMember || kind == idMember || length <= formBytes) note(hashOf(start, length))
    else {
      note(7)
      note(hashOf(start, formBytes))
    }
  }
  if (length <= cutFrom || kind == wordMember) return true
  let cut = cuttable
  while (cut < close && (load<u8>(cut) & 0xc0) == 0x80) cut += 1
  if (cut >= close) return true
  take(cut)
  from = close
  markCut()
  return true
}

function markCut(): void {
  store<u32>(tops + (topCount - 1) * topBytes + 20, 1)
}

// @ts-ignore: decorator
@inline
function isDigit(): bool {
  return <u32>load<u8>(at) - 48 < 10
}

function passDigits(): bool {
  if (!isDigit()) return false
  while (isDigit()) at += 1
  return true
}

/** https://www.rfc-editor.org/rfc/rfc8259#section-6 */
function passNumber(): bool {
  const start = at
  if (load<u8>(at) == 45) at += 1
  if (load<u8>(at) == 48) at += 1
  else if (!passDigits()) return false
  if (load<u8>(at) == 46) {
    at += 1
    if (!passDigits()) return false
  }
  if ((load<u8>(at) | 32) == 101) {
    at += 1
    const sign = load<u8>(at)
    if (sign == 43 || sign == 45) at += 1
    if (!passDigits()) return false
  }
  if (closedAt == 0) note(hashOf(start, at - start))
  return true
}

function passWord(first: u32): bool {
  const isFalse = first == 102
  if (isFalse ? load<u32>(at + 1) != 0x6573_6c61 : load<u32>(at) != (first == 116 ? 0x6575_7274 : 0x6c6c_756e)) return false
  at += isFalse ? 5 : 4
  if (closedAt == 0) note(<u64>first << 8)
  return true
}

function kindOf(hash: u64): u32 {
  let slot = <usize>hash & (classSlots - 1)
  while (true) {
    const known = load<u64>(classes + slot * 16)
    if (known == hash) return load<u32>(classes + slot * 16 + 8)
    if (known == 0) return plainMember
    slot = (slot + 1) & (classSlots - 1)
  }
  return plainMember
}

/** The name of a member and its colon; false where it is none, or one that needs more than a look at its bytes. */
function passName(): bool {
  if (load<u8>(at) != 34) return false
  at += 1
  const start = at
  const quotes = i8x16.splat(34)
  const slashes = i8x16.splat(92)
  // Bytes of letters beyond ASCII are below it, too, as signed ones.
  const controls = i8x16.splat(32)
  let found: i32 = 0
  while (true) {
    const bytes = v128.load(at)
    found = i8x16.bitmask(
      v128.or(v128.or(i8x16.eq(bytes, quotes), i8x16.eq(bytes, slashes)), i8x16.lt_s(bytes, controls))
    )
    if (found != 0) break
    at += 16
  }
  at += ctz(found)
  const length = at - start
  if (load<u8>(at) != 34 || length > maxNameBytes) return false
  at += 1
  members += 1
  if (members > maxMembers || nameCount >= maxNames) return false
  name = hashOf(start, length)
  for (let other = firstName; other < nameCount; other += 1) if (load<u64>(names + (other << 3)) == name) return false
  store<u64>(names + (nameCount << 3), name)
  nameCount += 1
  if (next() != 58) return false
  at += 1
  if (depth == 1) return beginTop(start, length)
  if (closedAt == 0) {
    note(name)
    kind = kindOf(name)
  }
  return true
}

function beginTop(start: usize, length: usize): bool {
  if (topCount >= maxTops) return false
  next()
  const top = tops + topCount * topBytes
  store<u32>(top, <u32>(start - input))
  store<u32>(top + 4, <u32>(start + length - input))
  store<u32>(top + 8, <u32>(at - input))
  store<u32>(top + 16, 0)
  store<u32>(top + 20, 0)
  topCount += 1
  kind = kindOf(name) == wordMember ? wordMember : plainMember
  return true
}

/** Enters an object or a list. */
function open(byte: u32): bool {
  if (depth >= maxDepth) return false
  values += 1
  const level = levels + (depth << 4)
  store<u32>(level, <u32>isObject)
  store<u32>(level + 4, firstName)
  store<u32>(level + 8, kind)
  if (closedAt == 0) {
    note(byte)
    if (kind == closedMember && depth > 2) {
      closedAt = depth + 1
      take(at + 1)
      from = at + 1
    }
  }
  at += 1
  depth += 1
  isObject = byte == 123
  firstName = nameCount
  if (depth == 2) {
    items = 0
    formCount = 0
  }
  return true
}

/** Leaves an object or a list at its last byte. */
function leave(): void {
  if (closedAt == depth) {
    closedAt = 0
    if (at > from) markCut()
    from = at
  }
  at += 1
  nameCount = firstName
  depth -= 1
  const level = levels + (depth << 4)
  isObject = load<u32>(level) != 0
  firstName = load<u32>(level + 4)
  kind = load<u32>(level + 8)
  if (closedAt == 0) note(3)
}

// @ts-ignore: decorator
@inline
function isItem(): bool {
  return depth == 2 && !isObject
}

/** An item of a list of the outermost object begins, after the comma before it. */
function beginItem(comma: usize): void {
  form = seed
  kind = plainMember
  itemFrom = comma
  savedFrom = from
  savedTo = to
}

/** Leaves the item out where one of its form is in the outline. */
function endItem(): void {
  items += 1
  for (let other: u32 = 0; other < formCount; other += 1) {
    if (load<u64>(forms + (other << 3)) != form) continue
    from = savedFrom
    to = savedTo
    take(itemFrom)
    from = at
    markCut()
    return
  }
  if (formCount == maxForms) return
  store<u64>(forms + (formCount << 3), form)
  formCount += 1
}

/** After a value: ends what ends here. 0: the text is not JSON; 1: another value follows; 2: the text is over. */
function afterValue(): i32 {
  while (true) {
    if (isItem()) endItem()
    if (depth == 1) {
      const top = tops + (topCount - 1) * topBytes
      store<u32>(top + 12, <u32>(at - input))
    }
    if (depth == 0) {
      next()
      return at == end ? 2 : 0
    }
    const byte = next()
    if (byte == 44) {
      if (isItem()) beginItem(at)
      at += 1
      values += 1
      if (values > maxValues) return 0
      if (!isObject) return 1
      next()
      return passName() ? 1 : 0
    }
    if (byte != (isObject ? 125 : 93)) return 0
    if (depth == 2 && !isObject) store<u32>(tops + (topCount - 1) * topBytes + 16, items)
    leave()
  }
  return 0
}

/** One value, or the beginning of one that holds others. 0: the text is not JSON; 1: another value follows; 2: the text is over. */
function passValue(): i32 {
  const byte = next()
  if (byte == 34) {
    if (!passText()) return 0
  } else if (byte == 123 || byte == 91) {
    if (!open(byte)) return 0
    const first = next()
    if (first != (isObject ? 125 : 93)) {
      if (isItem()) beginItem(at)
      return !isObject || passName() ? 1 : 0
    }
    leave()
  } else if (byte == 116 || byte == 102 || byte == 110) {
    if (!passWord(byte)) return 0
  } else if (!passNumber()) return 0
  return afterValue()
}

/**
 * Reads the text of so many bytes at `inputAt()`. 1: it is an object in JSON, within the limits, without a repeated member, and its outline is there.
 * 0: it is not, or has to be read by other means.
 */
export function scan(length: u32): i32 {
  at = input
  end = input + length
  // A text that breaks off is found at these bytes, before any loop is behind them.
  memory.fill(end, 0, 64)
  from = input
  to = outlineStart(length)
  members = values = topCount = nameCount = firstName = depth = closedAt = 0
  isObject = false
  kind = plainMember
  if (next() != 123) return 0
  let state: i32 = 1
  while (state == 1) state = passValue()
  if (state == 0) return 0
  take(end)
  return 1
}

function outlineStart(length: u32): usize {
  return (input + length + 79) & ~15
}

/** Gives members of a name a kind: `length` bytes of the name are at `inputAt()`. */
export function classify(length: u32, as: u32): void {
  memory.fill(input + length, 0, 8)
  const hash = hashOf(input, length)
  let slot = <usize>hash & (classSlots - 1)
  while (load<u64>(classes + slot * 16) != 0) slot = (slot + 1) & (classSlots - 1)
  store<u64>(classes + slot * 16, hash)
  store<u32>(classes + slot * 16 + 8, as)
}

/** Forgets the kinds of members. */
export function declassify(): void {
  memory.fill(classes, 0, classSlots * 16)
}

export function inputAt(): u32 {
  return <u32>input
}

export function outlineAt(length: u32): u32 {
  return <u32>outlineStart(length)
}

export function outlineLength(length: u32): u32 {
  return <u32>(to - outlineStart(length))
}

export function topsAt(): u32 {
  return <u32>tops
}

export function topMembers(): u32 {
  return topCount
}
