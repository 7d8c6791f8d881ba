/**
 * Decides which of an upstream's words the caller may have written. Upstreams repeat model ids, parameters, prompts and file names
 * in their complaints; a phrase that is in the request as well is no evidence against an account.
 *
 * Built only when a failure's words are about to count. Everything is bounded and linear; a request too large to be looked through
 * counts as holding any words.
 */
import { encodedForms, plainForm } from "../../../kernel/text/TextForms.ts"

/** Text that a caller sent. */
export interface CallerText {
  /** The parsed body. */
  readonly body: unknown
  /** Other text: ids of models, the path, values of headers that went along. */
  readonly beside: ReadonlyArray<string>
  /** Identifies the request; the same for one that is sent again. */
  readonly fingerprint: () => string
}

export interface Echo {
  /** The caller sent these words, alone or within longer ones, in whatever case, spacing or encoding. */
  readonly holds: (words: string) => boolean
  /** The caller sent exactly this, as a string of its own. */
  readonly isSent: (code: string) => boolean
  /** A lower-case text without the caller's own strings; every other character stays where it was. */
  readonly without: (text: string) => string
}

/** Limits beyond which a request counts as holding any words. Characters are those of all strings together. */
const maxStrings = 200_000
const maxChars = 2 * 1_048_576
/** Most strings that are searched for as a whole: first those that upstreams put into sentences without quotes. */
const maxTaken = 512
/** A shorter string of a prompt is not taken out: it may well be the provider's own word. */
const leastTaken = 8
const maxAsked = 64
/** Letters of the longest encoded file that is still read. */
const minBlobChars = 4_096

const blanked = "\ufffc"

interface Strings {
  readonly all: ReadonlyArray<string>
  /** Values of parameters, and names of tools and files. */
  readonly names: ReadonlyArray<string>
  readonly isWhole: boolean
}

const isName = (key: string): boolean => /(?:name|model|id)$/i.test(key)

const stringsOf = ({ beside, body }: CallerText): Strings => {
  const all: Array<string> = [...beside]
  const names: Array<string> = [...beside]
  const left: Array<{ readonly value: unknown; readonly key: string; readonly inList: boolean }> = [
    { value: body, key: "", inList: false }
  ]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (all.length > maxStrings || left.length > maxStrings) return { all, names, isWhole: false }
    const { inList, key, value } = next
    if (typeof value === "string") {
      all.push(value)
      if (!inList || isName(key)) names.push(value)
    } else if (Array.isArray(value)) {
      if (value.length > maxStrings) return { all, names, isWhole: false }
      for (const each of value) left.push({ value: each, key: "", inList: true })
    } else if (typeof value === "object" && value !== null) {
      for (const [name, each] of Object.entries(value)) {
        all.push(name)
        left.push({ value: each, key: name, inList })
      }
    }
  }
  return { all, names, isWhole: true }
}

const isPlainAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

/** Nothing but letters and digits, in one case: upstreams change quotes, spaces and line breaks. */
export const folded = (text: string): string =>
  isPlainAscii(text)
    ? text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "")
    : text
        .normalize("NFKC")
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}]+/gu, "")

const base64 = /^(?:data:[\w.+/-]{1,100};base64,)?([A-Za-z0-9+/]{16,}={0,2})$/

/** The text inside of base64; null when it is no base64, empty when it is a picture or the like. */
const fileText = (text: string): string | null => {
  const encoded = base64.exec(text)?.[1]
  if (encoded === undefined) return null
  // The head may end inside of a letter.
  const head = Buffer.from(encoded.slice(0, 128), "base64")
    .toString("utf8")
    .replace(/\ufffd$/, "")
  return /\ufffd|[^\P{Cc}\s]/u.test(head) ? "" : Buffer.from(encoded, "base64").toString("utf8")
}

const separator = "\n"

/** All that the caller sent, folded; null when it is too much. */
const foldedAll = ({ all, isWhole }: Strings): string | null => {
  if (!isWhole) return null
  const parts: Array<string> = []
  let chars = 0
  for (const text of new Set(all)) {
    const inside = text.length < 24 ? null : fileText(text)
    if (inside === "" && text.length > minBlobChars) continue
    chars += text.length + (inside?.length ?? 0)
    if (chars > maxChars) return null
    parts.push(folded(text))
    const plain = plainForm(text)
    if (plain !== text) {
      const twice = plainForm(plain)
      parts.push(folded(plain))
      if (twice !== plain) parts.push(folded(twice))
    }
    if (inside !== null && inside !== "") parts.push(folded(inside))
  }
  return parts.join(separator)
}

/** A body without the id of the model it asks for, which the operator wants to read. */
const withoutModel = (body: unknown): unknown =>
  typeof body === "object" && body !== null && !Array.isArray(body)
    ? Object.fromEntries(Object.entries(body).filter(([key]) => key !== "model"))
    : body

/** All of a body but the id of its model, folded; null when it is too much. */
export const foldedBody = ({ body }: CallerText): string | null =>
  foldedAll(stringsOf({ body: withoutModel(body), beside: [], fingerprint: () => "" }))

const isWordChar = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}_]/u.test(char)

/** Marks every place of `needle` in `text`; a short one only where it is as a word of its own. */
const mark = (text: string, needle: string, marks: Uint8Array): void => {
  if (needle === "" || needle.length > text.length) return
  const isShort = needle.length < leastTaken
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
    const end = at + needle.length
    if (isShort && (isWordChar(text[at - 1]) || isWordChar(text[end]))) continue
    marks.fill(1, at, end)
  }
}

const withoutStrings = ({ all, names }: Strings, text: string): string => {
  const marks = new Uint8Array(text.length)
  const fitting = (each: string): boolean => each.length <= text.length && each.trim() !== ""
  const long = (each: string): boolean => each.length >= leastTaken && fitting(each)
  const taken = new Set(names.filter(fitting).slice(0, maxTaken))
  for (const each of all) {
    if (taken.size >= maxTaken) break
    if (long(each)) taken.add(each)
  }
  for (const each of taken) {
    for (const form of encodedForms(each)) mark(text, form.toLowerCase(), marks)
    const plain = plainForm(each)
    if (plain !== each) mark(text, plain.toLowerCase(), marks)
  }
  let out = ""
  for (let at = 0; at < text.length;) {
    let end = at
    while (end < text.length && marks[end] === marks[at]) end += 1
    out += marks[at] === 1 ? blanked.repeat(end - at) : text.slice(at, end)
    at = end
  }
  return out
}

/** Null when it is not known what was sent; then all words count as the upstream's own. */
export const makeEcho = (sent: CallerText | null): Echo | null => {
  if (sent === null) return null
  const strings = stringsOf(sent)
  const asked = new Map<string, boolean>()
  let everything: string | null | undefined
  let exact: ReadonlySet<string> | null = null
  const find = (words: string): boolean => {
    if (asked.size >= maxAsked) return true
    everything = everything === undefined ? foldedAll(strings) : everything
    const needle = folded(words)
    const isRepeated = everything === null || needle === "" || everything.includes(needle)
    asked.set(words, isRepeated)
    return isRepeated
  }
  return {
    holds: (words) => asked.get(words) ?? find(words),
    isSent: (code) => {
      exact ??= new Set(strings.all.filter((each) => each.length <= 256).map((each) => each.trim().toLowerCase()))
      return !strings.isWhole || exact.has(code)
    },
    without: (text) => withoutStrings(strings, text)
  }
}
