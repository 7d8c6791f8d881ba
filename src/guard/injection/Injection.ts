/** Finds attempts to take over a model in texts of people and of tools. Linear. Pure. */
import { type InjectionGroup, injectionRules, type Severity } from "./Rules.ts"

export interface InjectionFinding {
  /** `[start, end)` of the text. */
  readonly start: number
  readonly end: number
  readonly group: InjectionGroup
  readonly severity: Severity
}

/** Of each text only so much is looked at. */
export const scannedChars = 16_384

/** Zero-width characters, directional marks, tags, variation selectors: what is not seen. */
const invisible =
  /\u00ad|\u034f|\u061c|\u180e|[\u200b-\u200f\u202a-\u202e\u2060-\u2069]|\ufeff|[\ufe00-\ufe0f]|\udb40[\udc00-\uddef]/g
const tagRun = /(?:\udb40[\udc20-\udc7e]){4,}/g
const flag = /\ud83c\udff4(?:\udb40[\udc20-\udc7e]){1,16}\udb40\udc7f/g
/** Overrides of the direction of writing show another text than is read. */
const overriding = /[\u202d\u202e]/g
const beyondAscii = /[\u0080-\uffff]/
const base64Run = /(?<![\w+/=-])[A-Za-z0-9+/]{24,8192}={0,2}(?![\w+/=-])/g
/** Decoding is for texts, not for attachments. */
const mostDecoded = 32

interface Seen {
  /** Lower case, without what is not seen. Full-width letters are plain ones. */
  readonly text: string
  /** Where each character stands in the text; null where they are the same. */
  readonly places: ReadonlyArray<number> | null
}

const plain = (code: number): number =>
  code >= 0xff01 && code <= 0xff5e ? code - 0xfee0 : code === 0x3000 || code === 0xa0 ? 32 : code

const lowered = (text: string): string => {
  const lower = text.toLowerCase()
  // A few letters become two: then the places are no longer the same.
  return lower.length === text.length ? lower : text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

const seen = (text: string): Seen => {
  if (!beyondAscii.test(text)) return { text: lowered(text), places: null }
  const places: Array<number> = []
  let out = ""
  let at = 0
  const copy = (end: number): void => {
    for (; at < end; at += 1) {
      out += String.fromCharCode(plain(text.charCodeAt(at)))
      places.push(at)
    }
  }
  for (const { 0: run, index } of text.matchAll(invisible)) {
    copy(index)
    at = index + run.length
  }
  copy(text.length)
  return { text: lowered(out), places }
}

type Found = (finding: InjectionFinding) => void

const findWords = (text: string, found: Found): void => {
  const { places, text: lower } = seen(text)
  const placeOf = (index: number): number => (places === null ? index : (places[index] ?? text.length))
  for (const { group, pattern, severity } of injectionRules) {
    for (const { 0: words, index } of lower.matchAll(pattern)) {
      found({ start: placeOf(index), end: placeOf(index + words.length - 1) + 1, group, severity })
    }
  }
}

const findHidden = (text: string, found: Found): void => {
  if (text.includes("\udb40")) {
    const flags = [...text.matchAll(flag)].map(({ 0: run, index }) => [index, index + run.length] as const)
    for (const { 0: run, index } of text.matchAll(tagRun)) {
      if (flags.some(([start, end]) => index >= start && index < end)) continue
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

/** An instruction that is wrapped into base64 is one. */
const findWrapped = (text: string, found: Found): void => {
  let decodedRuns = 0
  for (const { 0: run, index } of text.matchAll(base64Run)) {
    if ((decodedRuns += 1) > mostDecoded) return
    const decoded = decodedOf(run)
    if (decoded === null) continue
    let worst: Severity | null = null
    findWords(decoded, ({ severity }) => {
      worst = severity === "high" || worst === "high" ? "high" : severity === "medium" ? "medium" : (worst ?? "low")
    })
    if (worst !== null) found({ start: index, end: index + run.length, group: "encoding", severity: worst })
  }
}

/** What is found in the first `scannedChars` of a text, in the order of its places; findings may overlap. */
export const findInjections = (whole: string): ReadonlyArray<InjectionFinding> => {
  const text = whole.length > scannedChars ? whole.slice(0, scannedChars) : whole
  const all: Array<InjectionFinding> = []
  const found: Found = (finding) => void all.push(finding)
  findWords(text, found)
  findHidden(text, found)
  findWrapped(text, found)
  return all.toSorted((one, other) => one.start - other.start || other.end - one.end)
}

/** Stands where an attempt stood. Hidden text leaves nothing. */
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
