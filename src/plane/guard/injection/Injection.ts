/** Finds attempts to take over a model in texts of people and of tools. Linear. Pure. */
import { type InjectionGroup, injectionRules, type Severity } from "./Rules.ts"

export interface InjectionFinding {
  /** `[start, end)` of the text. */
  readonly start: number
  readonly end: number
  readonly group: InjectionGroup
  readonly severity: Severity
}

/** Zero-width characters, directional marks, tags, variation selectors: what is not seen. */
const invisible =
  /\u00ad|\u034f|\u061c|\u180e|[\u200b-\u200f\u202a-\u202e\u2060-\u2069]|\ufeff|[\ufe00-\ufe0f]|\udb40[\udc00-\uddef]/g
/** First half of a tag. */
const tagHalf = 0xdb40
const tagRun = /(?:\udb40[\udc20-\udc7e]){4,}/g
const flag = /\ud83c\udff4(?:\udb40[\udc20-\udc7e]){1,16}\udb40\udc7f/g
/** Overrides of the direction of writing show another text than is read. */
const overriding = /[\u202d\u202e]/g
const beyondAscii = /[\u0080-\uffff]/
/** Full-width letters and signs, and blanks that are no blanks. */
const wide = /[\uff01-\uff5e\u3000\u00a0]/g
/** Longer ones are attachments, and no texts. */
const base64Run = /(?<![\w+/=-])[A-Za-z0-9+/]{24,8192}={0,2}(?![\w+/=-])/g

interface Seen {
  /** Lower case, without what is not seen. Full-width letters are plain ones. */
  readonly text: string
  /** Finds the position of a character of it in the text. */
  readonly placeOf: (index: number) => number
}

const plain = (sign: string): string => {
  const code = sign.charCodeAt(0)
  return code >= 0xff01 ? String.fromCharCode(code - 0xfee0) : " "
}

/** Pattern of an escape in JSON within a text, whose letter touches the next word. */
const escape = /\\[nrtbf]/g
const blankFor = (written: string): string => (written === "\\n" ? " \n" : "  ")

const lowered = (text: string): string => {
  const lower = text.toLowerCase()
  // A few letters become two: then the places are no longer the same.
  return lower.length === text.length ? lower : text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

const unescaped = (text: string): string => (text.includes("\\") ? text.replaceAll(escape, blankFor) : text)

const same = (index: number): number => index

const seen = (text: string): Seen => {
  if (!beyondAscii.test(text)) return { text: unescaped(lowered(text)), placeOf: same }
  /**
   * Positions at which something was left out, counted without it, and the number of characters left out up to there.
   */
  const gaps: Array<number> = []
  const shifts: Array<number> = []
  const parts = text.split(invisible)
  let at = 0
  for (const part of parts) {
    at += part.length
    // What follows it was left out: one character, or the two halves of one.
    const left = text.charCodeAt(at) === tagHalf ? 2 : 1
    shifts.push((shifts.at(-1) ?? 0) + left)
    at += left
    gaps.push(at - (shifts.at(-1) ?? 0))
  }
  const visible = parts.join("")
  return {
    text: unescaped(lowered(visible.replaceAll(wide, plain))),
    placeOf: parts.length === 1 ? same : (index) => index + (shifts[lastUpTo(gaps, index)] ?? 0)
  }
}

/** Index of the last entry that is not above `limit`; -1 where all are. `ascending` may repeat values. */
const lastUpTo = (ascending: ReadonlyArray<number>, limit: number): number => {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ascending[middle] ?? 0) <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}

const ranks: Readonly<Record<Severity, number>> = { low: 0, medium: 1, high: 2 }

type Found = (finding: InjectionFinding) => void

const findWords = (text: string, found: Found): void => {
  const { placeOf, text: lower } = seen(text)
  for (const { group, pattern, severity } of injectionRules) {
    for (const { 0: words, index } of lower.matchAll(pattern)) {
      found({ start: placeOf(index), end: placeOf(index + words.length - 1) + 1, group, severity })
    }
  }
}

/** A character as JSON may write it: results of tools are often JSON in a text. */
const escapedCharacter = /\\u([\da-f]{4})/gi
const escapeChars = 6

/** Words of which some characters are escaped. Where none is, `findWords` has found them. */
const findEscaped = (text: string, found: Found): void => {
  if (!text.includes("\\u")) return
  /** Places of the characters in the text without escapes. */
  const places: Array<number> = []
  const plainText = text.replaceAll(escapedCharacter, (_, digits: string, index: number) => {
    places.push(index - places.length * (escapeChars - 1))
    return String.fromCharCode(Number.parseInt(digits, 16))
  })
  if (places.length === 0) return
  const before = (index: number): number => lastUpTo(places, index - 1) + 1
  findWords(plainText, ({ end, start, ...rest }) => {
    const [first, last] = [before(start), before(end)]
    if (first === last) return
    found({ ...rest, start: start + first * (escapeChars - 1), end: end + last * (escapeChars - 1) })
  })
}

const findHidden = (text: string, found: Found): void => {
  if (text.includes("\udb40")) {
    const flags = [...text.matchAll(flag)].map(({ 0: run, index }) => ({ start: index, end: index + run.length }))
    const starts = flags.map(({ start }) => start)
    for (const { 0: run, index } of text.matchAll(tagRun)) {
      if (index < (flags[lastUpTo(starts, index)]?.end ?? 0)) continue
      found({ start: index, end: index + run.length, group: "hidden-text", severity: "high" })
    }
  }
  for (const { index } of text.matchAll(overriding)) {
    found({ start: index, end: index + 1, group: "hidden-text", severity: "medium" })
  }
}

const isSpeech = (text: string): boolean => /^[\t\n\r\u0020-\u007e]{16,}$/.test(text) && text.includes(" ")

const decodedOf = (run: string): string | null => {
  const whole = run.replace(/=+$/, "")
  if (whole.length % 4 === 1) return null
  const text = atob(whole)
  return isSpeech(text) ? text : null
}

/** Separator of texts that are looked at as one: begins a line, and ends none. */
const between = "\u0000\n"

/** An instruction that is wrapped into base64 is one. What is unwrapped is looked at in one go: a text may hold very many. */
const findWrapped = (text: string, found: Found): void => {
  const runs: Array<{ readonly start: number; readonly end: number }> = []
  const starts: Array<number> = []
  const texts: Array<string> = []
  let chars = 0
  for (const { 0: run, index } of text.matchAll(base64Run)) {
    const decoded = decodedOf(run)
    if (decoded === null) continue
    runs.push({ start: index, end: index + run.length })
    starts.push(chars)
    texts.push(decoded)
    chars += decoded.length + between.length
  }
  if (texts.length === 0) return
  const worst = new Map<number, Severity>()
  findWords(texts.join(between), ({ severity, start }) => {
    const at = lastUpTo(starts, start)
    const known = worst.get(at)
    worst.set(at, known === undefined || ranks[severity] > ranks[known] ? severity : known)
  })
  for (const [at, severity] of worst) {
    const run = runs[at]
    if (run !== undefined) found({ ...run, group: "encoding", severity })
  }
}

/**
 * Finds attempts in the order of their positions; findings may overlap. The caller limits the text (`scannedChars` in
 * `Limits`).
 */
export const findInjections = (text: string): ReadonlyArray<InjectionFinding> => {
  const all: Array<InjectionFinding> = []
  const found: Found = (finding) => void all.push(finding)
  findWords(text, found)
  findEscaped(text, found)
  findHidden(text, found)
  findWrapped(text, found)
  return all.toSorted((one, other) => one.start - other.start || other.end - one.end)
}

/** Replacement for an attempt. Hidden text is removed without one. */
export const injectionMark = "[INJECTION_REDACTED]"

/** The text without the findings. `findings`: in their order. */
export const withoutInjections = (text: string, findings: ReadonlyArray<InjectionFinding>): string => {
  let out = ""
  let at = 0
  for (const { end, group, start } of findings) {
    if (start >= at) out += text.slice(at, start) + (group === "hidden-text" ? "" : injectionMark)
    at = Math.max(at, end)
  }
  return out + text.slice(at)
}
