/** The text of one channel, as it comes in pieces, and what of it is replaced. Positions are those of the characters that came. */
import type { Form } from "./Reading.ts"
import { Matcher } from "./Matcher.ts"
import { type Steps, windowsOf } from "./Steps.ts"
import { type Finding, type TextGuard, usualWindowChars } from "./TextGuard.ts"

/** `text` takes the place of `[start, end)`. */
export interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface Channel {
  readonly push: (text: string) => void
  /** Waits for nothing more to decide about what has come. */
  readonly flush: () => void
  /** Everything before is decided. */
  readonly settledTo: () => number
  readonly chars: () => number
}

export type OnEdit = (edit: TextEdit, finding: Finding) => void

const textChannel = (guard: TextGuard, onEdit: OnEdit): Channel => {
  const matcher = new Matcher(guard, 0, false, (start, end, finding) =>
    onEdit({ start, end, text: finding.placeholder }, finding)
  )
  let chars = 0
  return {
    push: (text) => {
      chars += text.length
      matcher.add(text, null, chars)
      matcher.settle(false)
    },
    flush: () => matcher.settle(true),
    settledTo: () => matcher.openAt(),
    chars: () => chars
  }
}

/** Deepest nesting of arguments that is followed; what goes deeper is taken for text. */
const maxDepth = 512

const simpleEscapes: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }
/** Pattern of the characters outside of strings in a JSON text: structure, numbers, literals. */
const outside = /[\s{}[\],:\d+\-.eEtrufalsn]/

/** Follows a JSON text as it comes, and looks at its strings. */
class ArgumentsChannel {
  readonly #guard: TextGuard
  readonly #onEdit: OnEdit
  chars = 0
  /** Matcher of the string that is open, or of the text that is no JSON; null outside of them. */
  matcher: Matcher | null = null
  #place: "outside" | "name" | "value" | "plain" = "outside"
  /** Kinds of the open containers: true for an object. */
  readonly #open: Array<boolean> = []
  #expectsName = false
  /** The escape that is not complete yet, from its backslash; empty without one. */
  escape = ""
  /** The beginning of the escape has gone out: what it stands for cannot be replaced any more. */
  isHalfOut = false
  flushedTo = 0

  constructor(guard: TextGuard, onEdit: OnEdit) {
    this.#guard = guard
    this.#onEdit = onEdit
  }

  readonly #found = (start: number, end: number, finding: Finding): void =>
    this.#onEdit({ start, end, text: JSON.stringify(finding.placeholder).slice(1, -1) }, finding)

  #say(text: string, at: number, end: number): void {
    if (this.matcher === null) return
    const places = Array.from({ length: text.length }, (_, index) => at + index)
    this.matcher.add(text, places, end)
  }

  /** Characters of an escape, all of which are where it begins. */
  #sayEscape(text: string, at: number, end: number): void {
    this.matcher?.add(text, [at], end)
  }

  #leaveString(): void {
    this.matcher?.settle(true)
    this.matcher = null
    if (this.#place === "name") this.#expectsName = false
    this.#place = "outside"
  }

  #enterString(at: number): void {
    this.#place = this.#expectsName ? "name" : "value"
    if (this.#place === "value") this.matcher = new Matcher(this.#guard, at, true, this.#found)
  }

  #becomePlain(at: number): void {
    this.#place = "plain"
    this.matcher = new Matcher(this.#guard, at, true, (start, end, finding) =>
      this.#onEdit({ start, end, text: finding.placeholder }, finding)
    )
  }

  /** Reads one character outside of strings. */
  #readOutside(char: string, at: number): void {
    if (char === '"') return this.#enterString(at + 1)
    if (!outside.test(char) || this.#open.length > maxDepth) return this.#becomePlain(at)
    if (char === "{" || char === "[") {
      this.#open.push(char === "{")
      this.#expectsName = char === "{"
    } else if (char === "}" || char === "]") {
      this.#open.pop()
      this.#expectsName = false
    } else if (char === ",") this.#expectsName = this.#open.at(-1) === true
  }

  /** Adds one character to the open escape. */
  #readEscape(char: string, at: number): void {
    this.escape += char
    const kind = this.escape[1]
    const start = at + 1 - this.escape.length
    if (kind === "u" && this.escape.length < 6 && (this.escape.length === 2 || /[\da-fA-F]/.test(char))) return
    const code = kind === "u" ? Number.parseInt(this.escape.slice(2), 16) : 0
    this.escape = ""
    if (this.isHalfOut) {
      this.isHalfOut = false
      if (this.#place === "value") this.matcher = new Matcher(this.#guard, at + 1, true, this.#found)
      return
    }
    this.#sayEscape(kind === "u" ? String.fromCharCode(code) : (simpleEscapes[char] ?? char), start, at + 1)
  }

  /** Reads a run of characters of a string, or what ends the run; the index of the last character read. */
  #readInside(text: string, from: number, base: number): number {
    const char = text[from] ?? ""
    if (this.escape !== "") this.#readEscape(char, base + from)
    else if (char === '"') this.#leaveString()
    else if (char === "\\") this.escape = char
    else {
      let end = from + 1
      while (end < text.length && text[end] !== '"' && text[end] !== "\\") end += 1
      this.#say(text.slice(from, end), base + from, base + end)
      return end - 1
    }
    return from
  }

  #isPlain(): boolean {
    return this.#place === "plain"
  }

  read(text: string, base: number): void {
    for (let at = 0; at < text.length; at += 1) {
      const char = text[at] ?? ""
      if (this.#place === "outside") this.#readOutside(char, base + at)
      else if (this.#place !== "plain") at = this.#readInside(text, at, base)
      if (this.#isPlain()) return this.#say(text.slice(at), base + at, base + text.length)
    }
  }
}

/**
 * Makes a channel for JSON in which only strings are looked at, each by itself and as it reads without escapes; names of members and numbers
 * stay as they are. Text that is no JSON is looked at as text from where it stops to be JSON.
 */
const argumentsChannel = (guard: TextGuard, onEdit: OnEdit): Channel => {
  const channel = new ArgumentsChannel(guard, onEdit)
  return {
    push: (text) => {
      const base = channel.chars
      channel.chars += text.length
      channel.read(text, base)
      channel.matcher?.settle(false)
    },
    flush: () => {
      channel.matcher?.settle(true)
      channel.isHalfOut = channel.escape !== ""
      channel.flushedTo = channel.chars
    },
    settledTo: () =>
      Math.max(
        channel.flushedTo,
        Math.min(channel.matcher?.openAt() ?? channel.chars, channel.chars - channel.escape.length)
      ),
    chars: () => channel.chars
  }
}

export const makeChannel = (form: Form, guard: TextGuard, onEdit: OnEdit): Channel =>
  form === "text" ? textChannel(guard, onEdit) : argumentsChannel(guard, onEdit)

/** The text with the edits, which are in order. */
export const edited = (text: string, edits: ReadonlyArray<TextEdit>): string => {
  let out = ""
  let from = 0
  for (const { end, start, text: instead } of edits) {
    out += text.slice(from, start) + instead
    from = end
  }
  return out + text.slice(from)
}

/** Adds a text to its channel, a part in each step. */
export const pushIn = function* (channel: Channel, text: string, guard: TextGuard): Steps<void> {
  let isFirst = true
  for (const part of windowsOf(text, guard.windowChars ?? usualWindowChars)) {
    if (!isFirst) yield
    isFirst = false
    channel.push(part)
  }
}

/** A text that is whole. */
export const editsIn = function* (
  text: string,
  form: Form,
  guard: TextGuard,
  found: (finding: Finding) => void
): Steps<ReadonlyArray<TextEdit>> {
  const edits: Array<TextEdit> = []
  const channel = makeChannel(form, guard, (edit, finding) => {
    edits.push(edit)
    found(finding)
  })
  yield* pushIn(channel, text, guard)
  channel.flush()
  return edits
}
