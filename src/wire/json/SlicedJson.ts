/**
 * Parses the JSON of a large request in slices, each of which ends soon, so that other requests are served in between. The value and the
 * refusals are those of `readForeignJson`. The bytes are scanned once; members go to the engine's parser some at a time, and what is too
 * large for one slice (a list, an object, a text) is put together from its pieces.
 */
import { notJson, repeated, Unreadable, unreadable } from "./Bounds.ts"
import { type Excess, maxRequestDepth, maxRequestKeys, maxRequestValues } from "./Excess.ts"
import type { Json } from "./Json.ts"
import { maxNameChars, membersIn, repeatedMember } from "./Repeats.ts"

export interface SliceLimits {
  /** Bytes that one slice works on, about. */
  readonly sliceBytes: number
  /** Limit of members of the outermost object. */
  readonly topMembers: number
}

/** Bytes of one name: no wire has a thousandth of it. */
export const maxNameBytes = 1_048_576
const longName = new Unreadable(`The JSON has a name of more than ${maxNameBytes} bytes, the limit.`)
/** Slices that one number may take. */
const maxNumberSlices = 32
const longNumber = new Unreadable("The JSON has a number that is too long.")

/** Position of a member of the outermost object in the bytes. */
export interface TopMember {
  readonly key: string
  readonly keyStart: number
  readonly valueStart: number
  readonly valueEnd: number
  /** Offset at which the next member begins; null after the last. */
  readonly nextStart: number | null
}

/** Facts that later steps would have to search all bytes for. */
export interface BodyFacts {
  /** Index of the brace that opens it. */
  readonly open: number
  readonly topMembers: ReadonlyArray<TopMember>
  /** A text of it has half of a surrogate pair as `\ud800`. */
  readonly hasSurrogateEscape: boolean
}

/** An object or a list whose end was not read yet. */
interface Level {
  readonly isObject: boolean
  /** Index of its bracket. */
  readonly open: number
  /** Members taken so far; null while all of them are in the pending bytes of the level around it. */
  value: Array<Json> | Record<string, Json> | null
  /** Index from which on nothing was taken, and the colons before that. */
  pending: number
  pendingKeys: number
  /** Index where the current member begins, and the colons before that. */
  member: number
  memberKeys: number
  /** True when it has more than one member. */
  hasComma: boolean
  /** The current member was taken by itself: only blanks may follow it. */
  isTaken: boolean
  /** Name or index of the member that is taken by itself. */
  name: string
}

const quote = 34
const comma = 44
const colon = 58
const openBracket = 91
const backslash = 92
const closeBracket = 93
const letterD = 100
const letterU = 117
const openBrace = 123
const closeBrace = 125

const isBlank = (code: number | undefined): boolean => code === 32 || code === 10 || code === 13 || code === 9

/** Ends the reading: the body is refused. */
class Refused extends Error {
  readonly why: Unreadable

  constructor(why: Unreadable) {
    super(why.message)
    this.why = why
  }
}

const refuse = (why: Unreadable): never => {
  throw new Refused(why)
}

const excess = (which: Excess): never => refuse(unreadable[which])

const levelAt = (open: number, isObject: boolean, keys: number): Level => ({
  isObject,
  open,
  value: null,
  pending: open + 1,
  pendingKeys: keys,
  member: open + 1,
  memberKeys: keys,
  hasComma: false,
  isTaken: false,
  name: ""
})

/** A class, because each slice goes on where the one before it ended. */
export class SlicedJson {
  readonly #bytes: Buffer
  readonly #limits: SliceLimits
  /** Levels, from that of the whole text inwards. */
  readonly #levels: Array<Level>
  #at = 0
  #keys = 0
  #tops = 0
  #values = 0
  /** Index of the quote that opens the text being read; -1 outside of texts. */
  #textAt = -1
  #isName = false
  /** Text taken so far of the string being read; null where it is taken with the members around it. */
  #text: string | null = null
  #textFrom = 0
  /** Index of the first of the blanks being read; -1 elsewhere. */
  #blankAt = -1
  /** Offset of the current member of the outermost object: of its name, and of its colon. */
  #openAt = 0
  #keyStart = 0
  #keyEnd = 0
  #colonAt = 0
  readonly #topMembers: Array<Omit<TopMember, "nextStart">> = []
  #hasSurrogateEscape = false
  /** Long runs of blanks in what is pending: from and to. */
  #gaps: Array<readonly [number, number]> = []

  constructor(bytes: Buffer, limits: SliceLimits) {
    this.#bytes = bytes
    this.#limits = limits
    const around = levelAt(-1, false, 0)
    around.value = []
    this.#levels = [around]
  }

  /** Works on one slice. Null: there is more to do. */
  next(): { readonly value: Json | Unreadable } | null {
    try {
      const end = Math.min(this.#bytes.length, this.#at + this.#limits.sliceBytes)
      while (this.#at < end) {
        if (this.#textAt < 0) this.#scan(end)
        else this.#scanText(end)
      }
      return this.#at < this.#bytes.length ? null : { value: this.#whole() }
    } catch (error) {
      if (error instanceof Refused) return { value: error.why }
      if (error instanceof SyntaxError) return { value: notJson }
      throw error
    }
  }

  /** Returns the facts of an object that was read to its end. */
  facts(): BodyFacts {
    const members = this.#topMembers.map((member, index) => ({
      ...member,
      nextStart: this.#topMembers[index + 1]?.keyStart ?? null
    }))
    return { open: this.#openAt, topMembers: members, hasSurrogateEscape: this.#hasSurrogateEscape }
  }

  #whole(): Json {
    const around = this.#top()
    if (this.#levels.length > 1 || this.#textAt >= 0) return refuse(notJson)
    if (this.#blankAt >= 0) this.#afterBlanks(this.#at)
    this.#takeLast(around, this.#at)
    const [value] = around.value as ReadonlyArray<Json>
    return value === undefined ? refuse(notJson) : value
  }

  #top(): Level {
    return this.#levels[this.#levels.length - 1] as Level
  }

  /** Hot: scans the bytes between texts. */
  #scan(end: number): void {
    const bytes = this.#bytes
    let at = this.#at
    for (; at < end; at += 1) {
      const code = bytes[at]
      if (isBlank(code)) {
        if (this.#blankAt < 0) this.#blankAt = at
        continue
      }
      if (this.#blankAt >= 0) this.#afterBlanks(at)
      if (code === quote) {
        this.#openText(at)
        at += 1
        break
      }
      if (code === comma) this.#endMember(at)
      else if (code === colon) this.#countKey(at)
      else if (code === openBrace || code === openBracket) this.#open(at, code === openBrace)
      else if (code === closeBrace || code === closeBracket) this.#close(at, code === closeBrace)
    }
    this.#at = at
  }

  /** Blanks in front of what is pending are none of it; where they are within, one does for many. */
  #afterBlanks(at: number): void {
    const from = this.#blankAt
    this.#blankAt = -1
    const level = this.#top()
    if (level.pending === from) {
      level.pending = at
      if (level.member === from) level.member = at
    } else if (at - from > this.#limits.sliceBytes) this.#gaps.push([from, at])
  }

  #openText(at: number): void {
    const { isObject, isTaken, member } = this.#top()
    this.#textAt = at
    this.#textFrom = at + 1
    this.#isName = isObject && !isTaken && this.#isBlankBetween(member, at)
    if (this.#isName && this.#levels.length === 2) this.#keyStart = at
  }

  /** Stops at the first byte that is not blank. */
  #isBlankBetween(from: number, to: number): boolean {
    const [gapFrom, gapTo] = this.#gaps.at(-1) ?? [-1, -1]
    for (let at = from === gapFrom ? gapTo : from; at < to; at += 1) if (!isBlank(this.#bytes[at])) return false
    return true
  }

  /** Hot: the inside of a text. A slice ends neither in an escape nor in a character. */
  #scanText(end: number): void {
    const bytes = this.#bytes
    let at = this.#at
    while (at < end) {
      const code = bytes[at]
      if (code === quote) return this.#closeText(at)
      if (code !== backslash) at += 1
      else if (bytes[at + 1] === letterU) {
        if (((bytes[at + 2] ?? 0) | 32) === letterD) this.#hasSurrogateEscape = true
        at += 6
      } else at += 2
    }
    const most = at + 4
    while (at < most && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1
    this.#at = Math.min(at, bytes.length)
    if (this.#isName) {
      if (at - this.#textAt > maxNameBytes) refuse(longName)
    } else if (at - this.#textAt > this.#limits.sliceBytes) this.#takeText(this.#at)
  }

  #takeText(to: number): void {
    if (this.#text === null) this.#takeBefore(this.#textAt)
    this.#text = (this.#text ?? "") + String(JSON.parse(`"${this.#bytes.toString("utf8", this.#textFrom, to)}"`))
    this.#textFrom = to
  }

  #closeText(at: number): void {
    this.#at = at + 1
    this.#textAt = -1
    if (this.#isName && this.#levels.length === 2) this.#keyEnd = at + 1
    if (this.#text === null) return
    this.#takeText(at)
    this.#put(this.#levels.length - 1, this.#text)
    this.#text = null
    this.#taken(at + 1)
  }

  #countKey(at: number): void {
    this.#keys += 1
    if (this.#keys > maxRequestKeys) excess("keys")
    if (this.#levels.length !== 2) return
    this.#colonAt = at
    this.#tops += 1
    if (this.#tops > this.#limits.topMembers) excess("topMembers")
  }

  /** The member of the outermost object that ends before `end`. */
  #tellMember(end: number): void {
    const { isObject } = this.#top()
    if (!isObject || this.#keyEnd === 0 || this.#colonAt < this.#keyEnd) return
    const bytes = this.#bytes
    let [valueStart, valueEnd] = [this.#colonAt + 1, end]
    while (isBlank(bytes[valueStart])) valueStart += 1
    while (valueEnd > valueStart && isBlank(bytes[valueEnd - 1])) valueEnd -= 1
    const key = String(JSON.parse(bytes.toString("utf8", this.#keyStart, this.#keyEnd)))
    this.#topMembers.push({ key, keyStart: this.#keyStart, valueStart, valueEnd })
  }

  #countValue(): void {
    this.#values += 1
    if (this.#values > maxRequestValues) excess("values")
  }

  #open(at: number, isObject: boolean): void {
    this.#countValue()
    if (this.#levels.length === 1) this.#openAt = at
    const around = this.#top()
    this.#levels.push(levelAt(at, isObject, this.#keys))
    if (this.#levels.length - 1 > maxRequestDepth) excess("depth")
    if (around.isTaken) refuse(notJson)
    if (at - around.pending >= this.#limits.sliceBytes) this.#takeLevels()
  }

  #endMember(at: number): void {
    this.#countValue()
    const level = this.#top()
    if (this.#levels.length === 1) refuse(notJson)
    if (this.#levels.length === 2) this.#tellMember(at)
    level.hasComma = true
    if (level.isTaken) {
      if (level.pending !== at) refuse(notJson)
      level.isTaken = false
      this.#pendFrom(level, at + 1)
    } else if (at - level.pending >= this.#limits.sliceBytes) {
      this.#takeLevels()
      this.#takeMembers(this.#levels.length - 1, at, this.#keys)
      this.#pendFrom(level, at + 1)
    }
    level.member = at + 1
    level.memberKeys = this.#keys
  }

  #close(at: number, isObject: boolean): void {
    const level = this.#top()
    if (this.#levels.length === 1 || level.isObject !== isObject) refuse(notJson)
    if (this.#levels.length === 2) this.#tellMember(at)
    if (level.value !== null) this.#takeLast(level, at)
    this.#levels.pop()
    if (level.value !== null) this.#taken(at + 1)
  }

  /** Takes the rest of a level at its end. */
  #takeLast(level: Level, at: number): void {
    if (level.isTaken ? level.pending !== at : level.hasComma || level.pending !== at) {
      if (level.isTaken) refuse(notJson)
      this.#takeMembers(this.#levels.length - 1, at, this.#keys)
    }
  }

  #pendFrom(level: Level, at: number): void {
    level.pending = at
    level.pendingKeys = this.#keys
    this.#gaps = []
  }

  #taken(at: number): void {
    const level = this.#top()
    level.isTaken = true
    this.#pendFrom(level, at)
  }

  /** Gives every open level a value of its own, the outer ones first. */
  #takeLevels(): void {
    for (let depth = 1; depth < this.#levels.length; depth += 1) {
      const level = this.#levels[depth]
      if (level === undefined || level.value !== null) continue
      this.#takeMembersBefore(depth - 1, level.open)
      level.value = level.isObject ? {} : []
      this.#put(depth - 1, level.value)
    }
  }

  #takeBefore(at: number): void {
    this.#takeLevels()
    this.#takeMembersBefore(this.#levels.length - 1, at)
  }

  /** The members before the current one, whose value begins at `valueAt`, and its name. */
  #takeMembersBefore(depth: number, valueAt: number): void {
    const level = this.#levels[depth] as Level
    if (level.isTaken) refuse(notJson)
    if (level.pending < level.member) this.#takeMembers(depth, level.member - 1, level.memberKeys)
    if (level.isObject) {
      const [name, ...others] = Object.keys(JSON.parse(`{${this.#textOf(level.member, valueAt)}null}`))
      level.name = name === undefined || others.length > 0 ? refuse(notJson) : name
    } else {
      level.name = String((level.value as ReadonlyArray<Json>).length)
      if (!this.#isBlankBetween(level.member, valueAt)) refuse(notJson)
    }
    level.pending = valueAt
  }

  /** Takes the pending bytes of a level up to `to`: at least one member. */
  #takeMembers(depth: number, to: number, keys: number): void {
    const level = this.#levels[depth] as Level
    const { isObject, pending, pendingKeys, value } = level
    const text = isObject ? `{${this.#textOf(pending, to)}}` : `[${this.#textOf(pending, to)}]`
    const batch: Json = JSON.parse(text)
    if (membersIn(batch) !== keys - pendingKeys) refuse(repeated(this.#pathIn(depth, text)))
    if (Array.isArray(batch)) {
      if (batch.length === 0) refuse(notJson)
      for (const item of batch) (value as Array<Json>).push(item)
      return
    }
    const members = Object.entries(batch as Record<string, Json>)
    if (members.length === 0) refuse(notJson)
    for (const [name, member] of members) {
      level.name = name
      this.#put(depth, member)
    }
  }

  /** The path of the repeated member in `text`, the pending members of a level. */
  #pathIn(depth: number, text: string): string {
    if (depth === 0) return repeatedMember(text.slice(1, -1))
    const { isObject, value } = this.#levels[depth] as Level
    // Within a list the first step is an index, and no name is left out for being empty.
    const [index = "0", ...steps] = repeatedMember(isObject ? `[${text}]` : text).split(".")
    const own = isObject ? steps : [String(Number(index) + (value as ReadonlyArray<Json>).length), ...steps]
    return this.#pathTo(depth, ...own)
  }

  #pathTo(depth: number, ...own: ReadonlyArray<string>): string {
    const around = this.#levels.slice(1, depth).map(({ name }) => name.slice(0, maxNameChars))
    return [...around, ...own].reduce((path, step) => (path === "" ? step : `${path}.${step}`))
  }

  #put(depth: number, member: Json): void {
    const { isObject, name, value } = this.#levels[depth] as Level
    if (!isObject) return void (value as Array<Json>).push(member)
    const members = value as Record<string, Json>
    if (Object.hasOwn(members, name)) {
      refuse(repeated(this.#pathTo(depth, name.slice(0, maxNameChars))))
    }
    if (name === "__proto__") {
      Object.defineProperty(members, name, { value: member, configurable: true, enumerable: true, writable: true })
    } else members[name] = member
  }

  /** Pending text, with one blank for each long run of them. */
  #textOf(from: number, to: number): string {
    let text = ""
    let at = from
    let bytes = to - from
    for (const [gapFrom, gapTo] of this.#gaps) {
      if (gapFrom < from || gapTo > to) continue
      text += `${this.#bytes.toString("utf8", at, gapFrom)} `
      at = gapTo
      bytes -= gapTo - gapFrom
    }
    // All that may be as long without a bracket, a comma or a quote is a number.
    if (bytes > maxNameBytes + maxNumberSlices * this.#limits.sliceBytes) return refuse(longNumber)
    return text + this.#bytes.toString("utf8", at, to)
  }
}
