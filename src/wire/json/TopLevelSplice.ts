/**
 * Changes top-level members of a JSON object in its own bytes, so that a relayed request otherwise stays exactly what the client wrote.
 * Works on a latin1 view (one character per byte), because all structure of JSON is ASCII.
 */
import type { JsonObject } from "./Json.ts"
import { factsOf } from "./LargeBodies.ts"
import type { TopMember } from "./SlicedJson.ts"

const quote = 34
const backslash = 92

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

export const skipSpace = (text: string, from: number): number => {
  let at = from
  while (isSpace(text.charCodeAt(at))) at += 1
  return at
}

/** Index just after the string that opens at `open`; -1 when it does not close. */
export const skipString = (text: string, open: number): number => {
  let at = open + 1
  for (;;) {
    const close = text.indexOf('"', at)
    if (close < 0) return -1
    let slashes = 0
    while (text.charCodeAt(close - 1 - slashes) === backslash) slashes += 1
    if (slashes % 2 === 0) return close + 1
    at = close + 1
  }
}

/** Index just after the value that starts at `from`; -1 when the text ends before it. */
export const skipValue = (text: string, from: number): number => {
  let depth = 0
  let at = from
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = skipString(text, at)
      if (at < 0 || depth === 0) return at
      continue
    }
    if (code === 123 || code === 91) depth += 1
    else if (code === 125 || code === 93) {
      if (depth === 0) return at
      depth -= 1
      if (depth === 0) return at + 1
    } else if (depth === 0 && (code === 44 || isSpace(code))) return at
    at += 1
  }
  return -1
}

interface Scan {
  /** Index of the opening brace. */
  readonly open: number
  readonly members: ReadonlyArray<TopMember>
}

/** Top-level members that start before `limit`; null when the scan disagrees with `JSON.parse`. */
const membersOf = (text: string, limit: number): Scan | null => {
  // A byte order mark is three characters in this view.
  const open = skipSpace(text, text.startsWith("\u00ef\u00bb\u00bf") ? 3 : 0)
  if (text[open] !== "{") return null
  const members: Array<TopMember> = []
  let at = skipSpace(text, open + 1)
  while (at < limit && text.charCodeAt(at) === quote) {
    const keyEnd = skipString(text, at)
    if (keyEnd < 0) return null
    const literal = text.slice(at, keyEnd)
    const colon = skipSpace(text, keyEnd)
    if (text[colon] !== ":") return null
    const valueStart = skipSpace(text, colon + 1)
    const valueEnd = skipValue(text, valueStart)
    if (valueEnd <= valueStart) return null
    const key: unknown = literal.includes("\\") ? JSON.parse(literal) : literal.slice(1, -1)
    const comma = skipSpace(text, valueEnd)
    const nextStart = text[comma] === "," ? skipSpace(text, comma + 1) : null
    members.push({ key: String(key), keyStart: at, valueStart, valueEnd, nextStart })
    if (nextStart === null) break
    at = nextStart
  }
  return { open, members }
}

/**
 * One past the opening quote of the last `"key"`; 0 without one. Searches forwards and for the part after that quote: an engine's
 * backward search, and one for a text that begins like every string of the body, take several times as long.
 */
const afterLastSpelling = (text: string, key: string): number => {
  const needle = `${key}"`
  let last = 0
  for (let at = text.indexOf(needle, 1); at >= 0; at = text.indexOf(needle, at + needle.length)) {
    if (text.charCodeAt(at - 1) === quote) last = at
  }
  return last
}

/** A top-level member and its new JSON text; null removes it. */
export type Edit = readonly [key: string, json: string | null]

const jsonOf = (edits: ReadonlyArray<Edit>, key: string): string | null | undefined => {
  for (const [name, json] of edits) if (name === key) return json
  return undefined
}

/** Scans the body for the positions that the edits need; null when the scan fails. */
const scanOf = (raw: Buffer, edits: ReadonlyArray<Edit>): Scan | null => {
  const facts = factsOf(raw)
  if (facts !== null) return { open: facts.open, members: facts.topMembers }
  const text = raw.toString("latin1")
  // No edited key starts after its last literal spelling, unless keys may be written with \u escapes.
  let limit = text.length
  if (!text.includes("\\u00")) {
    limit = 0
    for (const [key] of edits) limit = Math.max(limit, afterLastSpelling(text, key))
  }
  return membersOf(text, limit)
}

/**
 * Sets top-level members to the given JSON texts, or removes them: every occurrence of a key is edited (parsers differ on which
 * duplicate counts), a missing one is put first. All other bytes are kept. Falls back to serialising the object when the scan fails.
 */
export const setTopLevel = (raw: Buffer, parsed: JsonObject, edits: ReadonlyArray<Edit>): Buffer => {
  const scan = scanOf(raw, edits)
  if (scan === null) return rewritten(parsed, edits)
  const cuts: Array<Cut> = missingFirst(scan, parsed, edits)
  const begin = scan.open + 1
  let kept = begin
  for (const { key, keyStart, nextStart, valueEnd, valueStart } of scan.members) {
    const json = jsonOf(edits, key)
    if (json === null) {
      // With the comma after it, or the one before it when it is the last member.
      const alone = nextStart === null && (kept === begin || cuts.at(-1)?.to === keyStart)
      if (alone) return rewritten(parsed, edits)
      cuts.push({ from: nextStart === null ? kept : keyStart, to: nextStart ?? valueEnd, json: "" })
      continue
    }
    if (json !== undefined) cuts.push({ from: valueStart, to: valueEnd, json })
    kept = valueEnd
  }
  return spliced(raw, cuts)
}

/** Bytes `from` to `to` are replaced by `json`. */
interface Cut {
  readonly from: number
  readonly to: number
  readonly json: string
}

const missingFirst = (scan: Scan, parsed: JsonObject, edits: ReadonlyArray<Edit>): Array<Cut> => {
  let added = ""
  for (const [key, json] of edits) {
    if (json === null || scan.members.some((member) => member.key === key)) continue
    added += `${added === "" ? "" : ","}${JSON.stringify(key)}:${json}`
  }
  if (added === "") return []
  const at = scan.open + 1
  return [{ from: at, to: at, json: Object.keys(parsed).length > 0 ? `${added},` : added }]
}

const spliced = (raw: Buffer, cuts: ReadonlyArray<Cut>): Buffer => {
  let length = raw.length
  for (const { from, json, to } of cuts) length += Buffer.byteLength(json) - (to - from)
  const out = Buffer.allocUnsafe(length)
  let copied = 0
  let at = 0
  for (const { from, json, to } of cuts) {
    at += raw.copy(out, at, copied, from)
    at += out.write(json, at)
    copied = to
  }
  raw.copy(out, at, copied)
  return out
}

const rewritten = (parsed: JsonObject, edits: ReadonlyArray<Edit>): Buffer => {
  const body: Record<string, unknown> = { ...parsed }
  for (const [key, json] of edits) {
    if (json === null) delete body[key]
    else body[key] = JSON.parse(json)
  }
  return Buffer.from(JSON.stringify(body))
}

/** The client's bytes with another `model`. */
export const replaceModelBytes = (raw: Buffer, parsed: JsonObject, model: string): Buffer =>
  setTopLevel(raw, parsed, [["model", JSON.stringify(model)]])
