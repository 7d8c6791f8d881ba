/**
 * Finds personal data and secrets in texts. Each detector is a cheap look for what could be one, bounded so that the work is linear, and a
 * check of it. Pure.
 */
import { findAddresses } from "./Addresses.ts"
import { findEmails } from "./Emails.ts"
import { type DetectorId, detectorIds, type Finding, placeholderOf } from "./Finding.ts"
import { findKeys, maxPrivateKeyChars } from "./Keys.ts"
import { findCards, findCnpjs, findCpfs, findIbans, findSsns } from "./Numbers.ts"
import { findPhones } from "./Phones.ts"

/** A pattern of the operator's own, ready to run. */
export interface CustomPattern {
  readonly name: string
  readonly replacement: string
  /** Cost for each character of a text (`LinearPattern.ts`). */
  readonly steps: number
  /** Calls `found` for each place, in order. Linear. */
  readonly find: (text: string, found: (start: number, end: number) => void) => void
}

export interface DetectorOptions {
  readonly disabled: ReadonlySet<string>
  readonly custom: ReadonlyArray<CustomPattern>
}

type Find = (text: string, found: (start: number, end: number) => void) => void

const detectors: Readonly<Record<DetectorId, Find>> = {
  "api-key": findKeys,
  iban: findIbans,
  "credit-card": findCards,
  email: findEmails,
  ssn: findSsns,
  cpf: findCpfs,
  cnpj: findCnpjs,
  phone: findPhones,
  ip: findAddresses
}

/** Detectors that need digits: a text without any has none of their findings. */
const needDigits: ReadonlySet<DetectorId> = new Set(["iban", "credit-card", "ssn", "cpf", "cnpj", "phone"])

const digit = /\d/
const alphanumeric = /[\dA-Za-z]/
/** A group of a number: one of digits, or the letters of a bank. */
const isGroup = (text: string): boolean => digit.test(text) || /^[A-Z]{4}$/.test(text)

/** Findings in their order, none over another: where two meet, the one whose detector is first in `detectorIds`, custom ones last. */
const withoutOverlaps = (ranked: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  if (ranked.length < 2) return ranked
  const sorted = ranked
    .map((finding, rank) => ({ finding, rank }))
    .toSorted((one, other) => one.finding.start - other.finding.start || one.rank - other.rank)
  const kept: Array<{ readonly finding: Finding; readonly rank: number }> = []
  for (const each of sorted) {
    const last = kept.at(-1)
    if (last === undefined || last.finding.end <= each.finding.start) kept.push(each)
    else if (each.rank < last.rank) kept[kept.length - 1] = each
  }
  return kept.map(({ finding }) => finding)
}

/** Findings in their order, none over another. Linear in the text. */
export const findPersonalData = (text: string, { custom, disabled }: DetectorOptions): ReadonlyArray<Finding> => {
  const all: Array<Finding> = []
  const hasDigits = digit.test(text)
  for (const id of detectorIds) {
    if (disabled.has(id) || (!hasDigits && needDigits.has(id))) continue
    const placeholder = placeholderOf(id)
    detectors[id](text, (start, end) => all.push({ start, end, detector: id, placeholder }))
  }
  for (const { find, name, replacement } of custom) {
    find(text, (start, end) => all.push({ start, end, detector: name, placeholder: replacement }))
  }
  return withoutOverlaps(all)
}

export interface Redacted {
  readonly text: string
  readonly findings: ReadonlyArray<Finding>
}

/** The text with placeholders in place of what was found; the same text where nothing was. */
export const redact = (text: string, options: DetectorOptions): Redacted => {
  const findings = findPersonalData(text, options)
  if (findings.length === 0) return { text, findings }
  let out = ""
  let at = 0
  for (const { end, placeholder, start } of findings) {
    out += text.slice(at, start) + placeholder
    at = end
  }
  return { text: out + text.slice(at), findings }
}

/** Longest text that can be a finding. */
export const longestMatchChars = maxPrivateKeyChars
/** Longest text without blanks that can be one, but for tokens of `eyJ`. */
const longestWordChars = 512
/** Longest number that is written in groups: an IBAN with its blanks. */
const longestGroupsChars = 45
/** A custom pattern may match over blanks; further back it is taken as settled. */
export const longestCustomChars = 256

/** Checks whether a character may be in a word that is a finding; other alphabets are none of it. */
const isWordChar = (code: number): boolean => code > 32 && code < 127

/** Checks whether a character may be in numbers in groups: digits, capitals, and `+ ( ) - . /`. */
const isGroupChar = (code: number): boolean =>
  (code >= 40 && code <= 57 && code !== 44 && code !== 42) || (code >= 65 && code <= 90) || code === 43

const wordStart = (text: string): number => {
  let start = text.length
  while (start > 0 && isWordChar(text.charCodeAt(start - 1))) start -= 1
  if (text.length - start <= longestWordChars) return start
  // The payload of a token begins like its header.
  const token = text.indexOf("eyJ", start)
  return token >= start ? Math.max(token, text.length - longestMatchChars) : text.length - longestWordChars
}

/** Groups in front of the last word, with one blank between them. */
const groupsStart = (text: string, word: number): number => {
  for (let at = word; at < text.length; at += 1) if (!isGroupChar(text.charCodeAt(at))) return word
  const least = Math.max(0, text.length - longestGroupsChars)
  let start = word
  for (let at = word; at > least;) {
    if (text.charCodeAt(at - 1) !== 32) break
    at -= 1
    const end = at
    while (at > least && isGroupChar(text.charCodeAt(at - 1))) at -= 1
    if (at === end) break
    const isWhole = at === 0 || !alphanumeric.test(text.charAt(at - 1))
    if (!isWhole || !isGroup(text.slice(at, end))) break
    start = at
  }
  return start
}

const privateKeyStart = (text: string): number => {
  const begin = text.lastIndexOf("-----BEGIN")
  if (begin === -1 || text.length - begin > longestMatchChars) return text.length
  const ending = text.indexOf("-----END", begin)
  return ending === -1 || !text.includes("KEY-----", ending) ? begin : text.length
}

/**
 * Finds the position from which the text can be the beginning of a finding that goes on behind its end; its length when
 * there is none.
 */
export const openFrom = (text: string, { custom }: DetectorOptions): number => {
  const word = wordStart(text)
  const groups = groupsStart(text, word)
  const ofCustom = custom.length === 0 ? text.length : Math.max(0, text.length - longestCustomChars)
  return Math.min(groups, privateKeyStart(text), ofCustom)
}
