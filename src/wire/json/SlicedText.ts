/** Writes a large value as JSON piece by piece, so that other requests are served in between. The bytes are those of `JSON.stringify`. */
import { isArray, type Json, type JsonObject } from "./Json.ts"

/** A list or an object whose end was not written yet. */
interface Level {
  readonly value: ReadonlyArray<Json> | JsonObject
  /** Null in a list. */
  readonly names: ReadonlyArray<string> | null
  next: number
  /** True when a member was written. */
  hasMembers: boolean
}

const isHighHalf = (code: number): boolean => (code & 0xfc00) === 0xd800

/** A class, because each piece goes on where the one before it ended. */
export class SlicedText {
  readonly #pieceChars: number
  readonly #levels: Array<Level> = []
  readonly #pieces: Array<Buffer> = []
  #text = ""
  #bytes = 0
  /** A long text that is being written, and how much of it was. */
  #long: string | null = null
  #longAt = 0

  constructor(value: JsonObject, pieceChars: number) {
    this.#pieceChars = pieceChars
    this.#open(value)
  }

  /** Bytes of all pieces. */
  get bytes(): number {
    return this.#bytes
  }

  get pieces(): ReadonlyArray<Buffer> {
    return this.#pieces
  }

  /** Writes one piece; true when it was the last. */
  next(): boolean {
    while (this.#text.length < this.#pieceChars && (this.#long !== null || this.#levels.length > 0)) {
      if (this.#long !== null) this.#goOnWith(this.#long)
      else this.#goOn()
    }
    const piece = Buffer.from(this.#text)
    this.#text = ""
    this.#bytes += piece.length
    this.#pieces.push(piece)
    return this.#long === null && this.#levels.length === 0
  }

  #open(value: ReadonlyArray<Json> | JsonObject): void {
    const names = isArray(value) ? null : Object.keys(value)
    this.#text += names === null ? "[" : "{"
    this.#levels.push({ value, names, next: 0, hasMembers: false })
  }

  /** The next member of the innermost level, or its end. */
  #goOn(): void {
    const level = this.#levels.at(-1)
    if (level === undefined) return
    const { names, value } = level
    if (level.next >= (names ?? (value as ReadonlyArray<Json>)).length) {
      this.#text += names === null ? "]" : "}"
      this.#levels.pop()
      return
    }
    const index = level.next
    level.next += 1
    const name = names?.[index]
    const member = name === undefined ? (value as ReadonlyArray<Json>)[index] : (value as JsonObject)[name]
    if (name !== undefined && member === undefined) return
    if (level.hasMembers) this.#text += ","
    level.hasMembers = true
    if (name !== undefined) this.#text += `${JSON.stringify(name)}:`
    this.#write(member ?? null)
  }

  #write(value: Json): void {
    if (typeof value === "object" && value !== null) return this.#open(value)
    if (typeof value !== "string" || value.length <= this.#pieceChars) {
      this.#text += JSON.stringify(value)
      return
    }
    this.#text += '"'
    this.#long = value
    this.#longAt = 0
  }

  #goOnWith(long: string): void {
    const from = this.#longAt
    const end = from + this.#pieceChars
    // A pair is one character.
    const to = end < long.length && isHighHalf(long.charCodeAt(end - 1)) ? end + 1 : end
    this.#text += JSON.stringify(long.slice(from, to)).slice(1, -1)
    this.#longAt = to
    if (to < long.length) return
    this.#text += '"'
    this.#long = null
  }
}
