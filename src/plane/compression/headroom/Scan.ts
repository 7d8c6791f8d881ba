/**
 * Finds the positions of the values of a JSON text, so that they can be written elsewhere as they were spelled. Linear;
 * depth is bounded.
 */

export type Kind = "string" | "number" | "boolean" | "null" | "array" | "object"

export interface Node {
  readonly kind: Kind
  readonly start: number
  /** Place behind its last character. */
  readonly end: number
  /** Names of an object's members as they are spelled, with their quotes. */
  readonly names: ReadonlyArray<string>
  /** Values of an object or an array. */
  readonly values: ReadonlyArray<Node>
}

const mostDepth = 100
const none: ReadonlyArray<never> = []
const primitive = /-?\d[-+.\deE]*|true|false|null/y
const space = /[ \t\r\n]*/y

/**
 * Error where the text is no JSON from here on; one object for all, since a trace of each would cost more than reading
 * does.
 */
const unreadable = new Error("no JSON")

class Scanner {
  readonly #text: string
  at: number

  constructor(text: string, at: number) {
    this.#text = text
    this.at = at
  }

  value(depth: number): Node {
    this.#skip()
    const start = this.at
    switch (this.#text.charAt(start)) {
      case '"':
        this.#string()
        return { kind: "string", start, end: this.at, names: none, values: none }
      case "{":
        return this.#members(start, depth + 1)
      case "[":
        return this.#elements(start, depth + 1)
      default:
        return this.#primitive(start)
    }
  }

  #skip(): void {
    // Most values have no space before them.
    if (this.#text.charCodeAt(this.at) > 32) return
    space.lastIndex = this.at
    space.test(this.#text)
    this.at = space.lastIndex
  }

  #primitive(start: number): Node {
    primitive.lastIndex = start
    if (!primitive.test(this.#text)) throw unreadable
    this.at = primitive.lastIndex
    const sign = this.#text.charAt(start)
    const kind = sign === "t" || sign === "f" ? "boolean" : sign === "n" ? "null" : "number"
    return { kind, start, end: this.at, names: none, values: none }
  }

  #string(): void {
    let end = this.at
    for (;;) {
      end = this.#text.indexOf('"', end + 1)
      if (end < 0) {
        this.at = this.#text.length
        throw unreadable
      }
      let escapes = 0
      while (this.#text.charAt(end - 1 - escapes) === "\\") escapes += 1
      if (escapes % 2 === 0) break
    }
    this.at = end + 1
  }

  /** Reads on in a list, and returns whether it goes on; its end is read. */
  #hasMore(close: string, isFirst: boolean): boolean {
    this.#skip()
    const sign = this.#text.charAt(this.at)
    if (sign === close) {
      this.at += 1
      return false
    }
    if (isFirst) return true
    if (sign !== ",") throw unreadable
    this.at += 1
    return true
  }

  #members(start: number, depth: number): Node {
    if (depth > mostDepth) throw unreadable
    this.at += 1
    const names: Array<string> = []
    const values: Array<Node> = []
    while (this.#hasMore("}", names.length === 0)) {
      this.#skip()
      const from = this.at
      if (this.#text.charAt(from) !== '"') throw unreadable
      this.#string()
      names.push(this.#text.slice(from, this.at))
      this.#skip()
      if (this.#text.charAt(this.at) !== ":") throw unreadable
      this.at += 1
      values.push(this.value(depth))
    }
    return { kind: "object", start, end: this.at, names, values }
  }

  #elements(start: number, depth: number): Node {
    if (depth > mostDepth) throw unreadable
    this.at += 1
    const values: Array<Node> = []
    while (this.#hasMore("]", values.length === 0)) values.push(this.value(depth))
    return { kind: "array", start, end: this.at, names: none, values }
  }
}

export interface Scanned {
  /** Null: no value is there. */
  readonly node: Node | null
  /** Position at which reading ended. */
  readonly end: number
}

/** The value that begins at `start`, or as far as it could be read. Brackets are those of JSON; what is inside strings is not judged. */
export const scan = (text: string, start: number): Scanned => {
  const scanner = new Scanner(text, start)
  try {
    const node = scanner.value(0)
    return { node, end: node.end }
  } catch (error) {
    if (error === unreadable) return { node: null, end: scanner.at }
    throw error
  }
}
