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

/**
 * Makes a channel for JSON in which only strings are looked at, each by itself and as it reads without escapes; names of members and numbers
 * stay as they are. Text that is no JSON is looked at as text from where it stops to be JSON.
 */
const argumentsChannel = (guard: TextGuard, onEdit: OnEdit): Channel => {
  const found = (start: number, end: number, finding: Finding): void =>
    onEdit({ start, end, text: JSON.stringify(finding.placeholder).slice(1, -1) }, finding)
  let chars = 0
  /** Matcher of the string that is open, or of the text that is no JSON; null outside of them. */
  let matcher: Matcher | null = null
  let place: "outside" | "name" | "value" | "plain" = "outside"
  /** Kinds of the open containers: true for an object. */
  const open: Array<boolean> = []
  let expectsName = false
  /** The escape that is not complete yet, from its backslash; empty without one. */
  let escape = ""
  /** The beginning of the escape has gone out: what it stands for cannot be replaced any more. */
  let isHalfOut = false
  let flushedTo = 0

  const say = (text: string, at: number, end: number): void => {
    if (matcher === null) return
    const places = Array.from({ length: text.length }, (_, index) => at + index)
    matcher.add(text, places, end)
  }

  /** Characters of an escape, all of which are where it begins. */
  const sayEscape = (text: string, at: number, end: number): void => matcher?.add(text, [at], end)

  const leaveString = (): void => {
    matcher?.settle(true)
    matcher = null
    if (place === "name") expectsName = false
    place = "outside"
  }

  const enterString = (at: number): void => {
    place = expectsName ? "name" : "value"
    if (place === "value") matcher = new Matcher(guard, at, true, found)
  }

  const becomePlain = (at: number): void => {
    place = "plain"
    matcher = new Matcher(guard, at, true, (start, end, finding) =>
      onEdit({ start, end, text: finding.placeholder }, finding)
    )
  }

  /** Reads one character outside of strings. */
  const readOutside = (char: string, at: number): void => {
    if (char === '"') return enterString(at + 1)
    if (!outside.test(char) || open.length > maxDepth) return becomePlain(at)
    if (char === "{" || char === "[") {
      open.push(char === "{")
      expectsName = char === "{"
    } else if (char === "}" || char === "]") {
      open.pop()
      expectsName = false
    } else if (char === ",") expectsName = open.at(-1) === true
  }

  /** Adds one character to the open escape. */
  const readEscape = (char: string, at: number): void => {
    escape += char
    const kind = escape[1]
    const start = at + 1 - escape.length
    if (kind === "u" && escape.length < 6 && (escape.length === 2 || /[\da-fA-F]/.test(char))) return
    const code = kind === "u" ? Number.parseInt(escape.slice(2), 16) : 0
    escape = ""
    if (isHalfOut) {
      isHalfOut = false
      if (place === "value") matcher = new Matcher(guard, at + 1, true, found)
      return
    }
    sayEscape(kind === "u" ? String.fromCharCode(code) : (simpleEscapes[char] ?? char), start, at + 1)
  }

  /** Reads a run of characters of a string, or what ends the run; the index of the last character read. */
  const readInside = (text: string, from: number, base: number): number => {
    const char = text[from] ?? ""
    if (escape !== "") readEscape(char, base + from)
    else if (char === '"') leaveString()
    else if (char === "\\") escape = char
    else {
      let end = from + 1
      while (end < text.length && text[end] !== '"' && text[end] !== "\\") end += 1
      say(text.slice(from, end), base + from, base + end)
      return end - 1
    }
    return from
  }

  const isPlain = (): boolean => place === "plain"

  const read = (text: string, base: number): void => {
    for (let at = 0; at < text.length; at += 1) {
      const char = text[at] ?? ""
      if (place === "outside") readOutside(char, base + at)
      else if (place !== "plain") at = readInside(text, at, base)
      if (isPlain()) return say(text.slice(at), base + at, base + text.length)
    }
  }

  return {
    push: (text) => {
      const base = chars
      chars += text.length
      read(text, base)
      matcher?.settle(false)
    },
    flush: () => {
      matcher?.settle(true)
      isHalfOut = escape !== ""
      flushedTo = chars
    },
    settledTo: () => Math.max(flushedTo, Math.min(matcher?.openAt() ?? chars, chars - escape.length)),
    chars: () => chars
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
