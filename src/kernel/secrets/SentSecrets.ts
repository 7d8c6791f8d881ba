/**
 * Finds credentials in bytes and texts that come back from whom they were sent to, in every usual encoding, and takes them out. Bytes that hold
 * none stay the same object. Linear: most positions are skipped (Wu and Manber's search), whatever the number of forms.
 */
import { isSecretHeader } from "../text/Masking.ts"
import { secretParts } from "./Scrub.ts"
import { base64Forms, encodedForms } from "../text/TextForms.ts"

/** Replacement for a credential. */
const mark = "[redacted]"
const markBytes = Buffer.from(mark)

/**
 * Fewest characters of a credential that is searched for: a shorter one cannot be distinguished from the words of an
 * answer.
 */
const leastChars = 8
/** A credential without a digit is a word, too (`not-needed`, `lm-studio`), unless it is longer than words are. */
const leastWordChars = 12
/** Most characters of a form that may be sent before it shows that a credential follows. */
export const leastHeld = 6
/** Fewest characters of a form at the end of a text that count as a credential that was cut. */
const leastCut = 12
/** Escaping twice is as much as JSON in JSON in JSON needs. */
const escapeDepth = 3

/** Checks whether an answer with this text certainly holds the credential, and not a word that it shares with it. */
export const isTelling = (secret: string): boolean =>
  secret.length >= leastChars && (secret.length >= leastWordChars || /\d/.test(secret)) && secret.trim() === secret

const escapedOften = (text: string): ReadonlyArray<string> => {
  const forms: Array<string> = []
  for (let depth = 0, form = text; depth < escapeDepth; depth += 1) {
    form = JSON.stringify(form).slice(1, -1)
    forms.push(form, form.replaceAll("/", "\\/"))
  }
  return forms
}

const unicodeEscaped = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")

const hexForms = (text: string): ReadonlyArray<string> => {
  const hex = Buffer.from(text).toString("hex")
  const pairs = hex.match(/../g) ?? []
  return [hex, hex.toUpperCase(), ...["%", "\\x"].flatMap((lead) => [lower(pairs, lead), upper(pairs, lead)])]
}

const lower = (pairs: ReadonlyArray<string>, lead: string): string => pairs.map((pair) => lead + pair).join("")
const upper = (pairs: ReadonlyArray<string>, lead: string): string =>
  pairs.map((pair) => lead + pair.toUpperCase()).join("")

/** The forms in which a credential may come back. */
export const secretForms = (secret: string): ReadonlyArray<string> => {
  const unicode = unicodeEscaped(secret)
  const inBase64 = base64Forms(secret)
  return [
    ...new Set([
      ...encodedForms(secret),
      ...escapedOften(secret),
      unicode,
      unicode.replaceAll(/[a-f]/g, (digit) => digit.toUpperCase()),
      ...hexForms(secret),
      ...inBase64.flatMap((form) => [form, encodeURIComponent(form), form.replaceAll("/", "\\/")])
    ])
  ].filter((form) => form.length >= leastChars)
}

/** Two bytes to a row of the tables; rows are shared, which costs a comparison now and then. */
const rows = 4_096
const rowOf = (first: number, second: number): number => ((first << 5) ^ second) & (rows - 1)

type Units = (at: number) => number

class Finder {
  readonly #forms: ReadonlyArray<string>
  readonly #least: number
  /** Steps by which the window may move when it ends with the pair of a row. */
  readonly #shift = new Uint8Array(rows)
  /** Forms whose first window ends with the pair of a row, longest first. */
  readonly #ending = new Map<number, ReadonlyArray<string>>()
  /** Forms by their first character. */
  readonly #beginning = new Map<number, ReadonlyArray<string>>()
  readonly #occurs = new Uint8Array(256)
  /** First characters of the forms, for a look without the map. */
  readonly #begins = new Uint8Array(256)
  readonly longest: number

  /** `forms`: each character a unit (a byte, or a UTF-16 unit). */
  constructor(forms: ReadonlyArray<string>) {
    this.#forms = [...new Set(forms)].toSorted((one, other) => other.length - one.length)
    this.longest = this.#forms[0]?.length ?? 0
    this.#least = Math.min(200, this.#forms.at(-1)?.length ?? 0)
    this.#shift.fill(Math.max(1, this.#least - 1))
    for (const form of this.#forms) this.#learn(form)
  }

  #learn(form: string): void {
    const least = this.#least
    for (let at = 1; at < least; at += 1) {
      const row = rowOf(form.charCodeAt(at - 1), form.charCodeAt(at))
      this.#shift[row] = Math.min(this.#shift[row] ?? 0, least - 1 - at)
      if (at === least - 1) this.#ending.set(row, [...(this.#ending.get(row) ?? []), form])
    }
    const first = form.charCodeAt(0)
    this.#begins[first & 255] = 1
    this.#beginning.set(first, [...(this.#beginning.get(first) ?? []), form])
    for (let at = 0; at < form.length; at += 1) this.#occurs[form.charCodeAt(at) & 255] = 1
  }

  static #agrees(form: string, unit: Units, from: number, length: number): boolean {
    for (let at = 0; at < length; at += 1) if (form.charCodeAt(at) !== unit(from + at)) return false
    return true
  }

  /** The first form at or behind `from`: `[start, end)`; null without one. */
  find(unit: Units, from: number, to: number): readonly [start: number, end: number] | null {
    const reach = this.#least - 1
    for (let end = from + reach; end < to;) {
      const row = rowOf(unit(end - 1), unit(end))
      const shift = this.#shift[row] ?? 1
      if (shift > 0) {
        end += shift
        continue
      }
      const start = end - reach
      for (const form of this.#ending.get(row) ?? []) {
        if (start + form.length <= to && Finder.#agrees(form, unit, start, form.length))
          return [start, start + form.length]
      }
      end += 1
    }
    return null
  }

  /** Checks whether the unit occurs in a form. */
  mayEnd(unit: number): boolean {
    return this.#occurs[unit & 255] === 1
  }

  /** Finds the position from which the rest is the beginning of a form that may go on; `to` where there is none. */
  openFrom(unit: Units, from: number, to: number): number {
    let start = to
    const first = Math.max(from, to - this.longest + 1)
    while (start > first && this.#occurs[unit(start - 1) & 255] === 1) start -= 1
    for (; start < to; start += 1) {
      if (this.#begins[unit(start) & 255] === 0) continue
      for (const form of this.#beginning.get(unit(start)) ?? []) {
        if (form.length > to - start && Finder.#agrees(form, unit, start, to - start)) return start
      }
    }
    return to
  }
}

/** The credentials of one request. The tables are made when the first answer comes. */
export interface SentSecrets {
  /** True when there is nothing to search for. */
  readonly isEmpty: boolean
  /** The bytes without credentials; the same object where there was none. `sameLength`: as many bytes as before. */
  readonly bytes: (bytes: Buffer, sameLength?: boolean) => Buffer
  readonly text: (text: string) => string
  /** Every string and name of a JSON value without credentials; the same value where there was none. */
  readonly json: <A>(value: A) => A
  readonly stream: (sameLength?: boolean) => ScrubbedBytes
  readonly finder: () => SecretFinder
}

/** Texts in pieces: positions are those of UTF-16 units. */
export interface SecretFinder {
  /** The first credential at or behind `from`; null without one. */
  readonly find: (text: string, from: number) => readonly [start: number, end: number] | null
  /** Finds the position from which the text is the beginning of a credential that may go on. */
  readonly openFrom: (text: string, from: number) => number
  /** The text holds no credential, and does not end with the beginning of one. */
  readonly isClosed: (text: string) => boolean
}

/** Bytes that come in pieces. What can still become a credential is held back until the next piece. */
export interface ScrubbedBytes {
  readonly push: (chunk: Buffer) => Buffer
  /** Returns the held bytes, without the beginning of a credential that was cut. */
  readonly end: () => Buffer
}

const nothing = Buffer.alloc(0)

const marked = (length: number, sameLength: boolean): Buffer => (sameLength ? Buffer.alloc(length, "*") : markBytes)

/** The bytes behind `gone` without credentials, and where what comes behind the last one begins. */
const cleaned = (finder: Finder, bytes: Buffer, gone: number, sameLength: boolean) => {
  const unit: Units = (at) => bytes[at] ?? -1
  const pieces: Array<Buffer> = []
  let from = 0
  for (let found = finder.find(unit, 0, bytes.length); found !== null; found = finder.find(unit, from, bytes.length)) {
    const [start, end] = found
    pieces.push(bytes.subarray(Math.max(gone, from), Math.max(gone, start)))
    pieces.push(marked(end - Math.max(gone, start), sameLength))
    from = end
  }
  return { pieces, from }
}

const joined = (pieces: ReadonlyArray<Buffer>, rest: Buffer): Buffer =>
  pieces.length === 0 ? rest : Buffer.concat([...pieces, rest])

const streamed = (finder: Finder, sameLength: boolean): ScrubbedBytes => {
  /** The beginning of what may become a credential, and how much of it has left. */
  let open = nothing
  let gone = 0
  return {
    push: (chunk) => {
      const bytes = open.length === 0 ? chunk : Buffer.concat([open, chunk])
      const { from, pieces } = cleaned(finder, bytes, gone, sameLength)
      const openAt = finder.openFrom((at) => bytes[at] ?? -1, from, bytes.length)
      const leavesTo = bytes.length - openAt < leastHeld ? bytes.length : Math.max(gone, openAt)
      const rest = bytes.subarray(Math.max(gone, from), leavesTo)
      open = openAt === bytes.length ? nothing : Buffer.from(bytes.subarray(openAt))
      gone = leavesTo - openAt
      return joined(pieces, rest.length === bytes.length ? bytes : rest)
    },
    end: () => {
      const rest = open.subarray(gone)
      const isCut = open.length >= leastCut && rest.length > 0
      open = nothing
      gone = 0
      return isCut ? marked(rest.length, sameLength) : rest
    }
  }
}

const textWithout = (finder: Finder, text: string): string => {
  const unit: Units = (at) => text.charCodeAt(at)
  let clean = ""
  let from = 0
  for (let found = finder.find(unit, 0, text.length); found !== null; found = finder.find(unit, from, text.length)) {
    clean += text.slice(from, found[0]) + mark
    from = found[1]
  }
  return from === 0 ? text : clean + text.slice(from)
}

const jsonWithout = (clean: (text: string) => string, value: unknown): unknown => {
  if (typeof value === "string") return clean(value)
  if (Array.isArray(value)) {
    const items = value.map((item) => jsonWithout(clean, item))
    return items.some((item, at) => item !== value[at]) ? items : value
  }
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value)
  const kept = entries.map(([name, member]) => [clean(name), jsonWithout(clean, member)] as const)
  const isSame = kept.every(([name, member], at) => name === entries[at]?.[0] && member === entries[at]?.[1])
  return isSame ? value : Object.fromEntries(kept)
}

const keepsAll: ScrubbedBytes = { push: (chunk) => chunk, end: () => nothing }

/** Secrets of requests that carry no credential, and of those whose answer is a credential. */
export const noSecrets: SentSecrets = {
  isEmpty: true,
  bytes: (bytes) => bytes,
  text: (text) => text,
  json: (value) => value,
  stream: () => keepsAll,
  finder: () => ({ find: () => null, openFrom: (text) => text.length, isClosed: () => true })
}

const inBytes = (form: string): string => Buffer.from(form).toString("latin1")

export const sentSecrets = (secrets: ReadonlyArray<string>): SentSecrets => {
  const telling = [...new Set(secrets)].filter(isTelling)
  if (telling.length === 0) return noSecrets
  let ofBytes: Finder | null = null
  let ofText: Finder | null = null
  const bytesFinder = (): Finder => (ofBytes ??= new Finder(telling.flatMap(secretForms).map(inBytes)))
  const textFinder = (): Finder => (ofText ??= new Finder(telling.flatMap(secretForms)))
  const text = (given: string): string => textWithout(textFinder(), given)
  return {
    isEmpty: false,
    bytes: (bytes, sameLength = false) => {
      const { from, pieces } = cleaned(bytesFinder(), bytes, 0, sameLength)
      return from === 0 ? bytes : joined(pieces, bytes.subarray(from))
    },
    text,
    json: <A>(value: A): A => jsonWithout(text, value) as A,
    stream: (sameLength = false) => streamed(bytesFinder(), sameLength),
    finder: () => {
      const finder = textFinder()
      const find: SecretFinder["find"] = (given, from) => finder.find((at) => given.charCodeAt(at), from, given.length)
      const openFrom: SecretFinder["openFrom"] = (given, from) =>
        finder.mayEnd(given.charCodeAt(given.length - 1))
          ? finder.openFrom((at) => given.charCodeAt(at), from, given.length)
          : given.length
      return { find, openFrom, isClosed: (given) => openFrom(given, 0) === given.length && find(given, 0) === null }
    }
  }
}

/** Both sets together. */
export const bothSecrets = (one: SentSecrets, other: SentSecrets): SentSecrets => {
  if (one.isEmpty) return other
  if (other.isEmpty) return one
  return {
    isEmpty: false,
    bytes: (bytes, sameLength) => other.bytes(one.bytes(bytes, sameLength), sameLength),
    text: (text) => other.text(one.text(text)),
    json: (value) => other.json(one.json(value)),
    stream: (sameLength) => {
      const first = one.stream(sameLength)
      const second = other.stream(sameLength)
      return {
        push: (chunk) => second.push(first.push(chunk)),
        end: () => Buffer.concat([second.push(first.end()), second.end()])
      }
    },
    // Events in which a proxy's password is spread over deltas do not come from the model behind it.
    finder: one.finder
  }
}

/** The credentials among the headers of a request, a flat list of names and values. */
export const secretsInHeaders = (headers: ReadonlyArray<string>): SentSecrets =>
  sentSecrets(
    headers.flatMap((value, at) =>
      at % 2 === 1 && isSecretHeader(headers[at - 1] ?? "", value) ? secretParts(value) : []
    )
  )
