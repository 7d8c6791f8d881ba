/** Numbers of cards, accounts and persons in a text. Pure. */
import { ibanLength, isCardNumber, isCnpj, isCpf, isIban, isSsn } from "./checks.ts"

type Found = (start: number, end: number) => void

/** Thirteen to nineteen digits, in groups with one blank or dash between them. */
const cards = /(?<![\w.,+-]|\d[ -])\d(?:[ -]?\d){12,18}(?![\w]|[.,-]\d)/g
const ibans = /(?<![A-Za-z\d])[A-Z]{2}\d{2}(?: ?[A-Z\d]){11,30}(?![A-Za-z\d])/g
const ssns = /(?<![\w.-])(\d{3})([ -])(\d{2})\2(\d{4})(?![\w]|[.-]\d)/g
/** Pattern of numbers without separators, only where the text names them. */
const namedSsns = /\b(?:ssn|social security(?: number| no\.?)?)[ :#=]{1,4}(\d{3})(\d{2})(\d{4})(?!\w)/gi
const cpfs = /(?<![\w.-])\d{3}\.\d{3}\.\d{3}-\d{2}(?![\w-])/g
const cnpjs = /(?<![\w.-])\d{2}\.\d{3}\.\d{3}\/\d{4}-\d{2}(?![\w-])/g

const digitsOf = (text: string): string => text.replaceAll(/\D/g, "")

export const findCards = (text: string, found: Found): void => {
  for (const { 0: match, index } of text.matchAll(cards)) {
    if (isCardNumber(digitsOf(match))) found(index, index + match.length)
  }
}

/** The end of an IBAN of the length of its country that begins at 0; words may be behind it. */
const ibanEnd = (text: string): number | null => {
  const length = ibanLength(text.slice(0, 2))
  if (length === null) return null
  let chars = 0
  for (let end = 0; end < text.length; end += 1) {
    if (text[end] !== " ") chars += 1
    if (chars === length)
      return isBoundary(text[end + 1]) && isIban(text.slice(0, end + 1).replaceAll(" ", "")) ? end + 1 : null
  }
  return null
}

const isBoundary = (next: string | undefined): boolean => next === undefined || next === " "

export const findIbans = (text: string, found: Found): void => {
  for (const { 0: match, index } of text.matchAll(ibans)) {
    const end = ibanEnd(match)
    if (end !== null) found(index, index + end)
  }
}

export const findSsns = (text: string, found: Found): void => {
  for (const { 0: match, 1: area = "", 3: group = "", 4: serial = "", index } of text.matchAll(ssns)) {
    if (isSsn(area, group, serial)) found(index, index + match.length)
  }
  for (const { 0: match, 1: area = "", 2: group = "", 3: serial = "", index } of text.matchAll(namedSsns)) {
    const end = index + match.length
    if (isSsn(area, group, serial)) found(end - 9, end)
  }
}

const findChecked =
  (pattern: RegExp, isNumber: (digits: string) => boolean) =>
  (text: string, found: Found): void => {
    for (const { 0: match, index } of text.matchAll(pattern)) {
      if (isNumber(digitsOf(match))) found(index, index + match.length)
    }
  }

export const findCpfs = findChecked(cpfs, isCpf)
export const findCnpjs = findChecked(cnpjs, isCnpj)
