/** Check digits and ranges: they distinguish a number with a meaning from one that only looks like it. Pure. */

const digitAt = (text: string, index: number): number => text.charCodeAt(index) - 48

/** ISO/IEC 7812-1, annex B. `digits`: nothing but digits. */
export const isLuhn = (digits: string): boolean => {
  let sum = 0
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digitAt(digits, digits.length - 1 - index)
    const doubled = index % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

interface Issuer {
  /** Length of the prefix that is compared. */
  readonly prefix: number
  readonly from: number
  readonly to: number
  readonly lengths: ReadonlyArray<number>
}

/** Number ranges of card schemes: https://en.wikipedia.org/wiki/Payment_card_number#Issuer_identification_number_(IIN) */
const issuers: ReadonlyArray<Issuer> = [
  { prefix: 1, from: 4, to: 4, lengths: [13, 16, 19] },
  { prefix: 2, from: 51, to: 55, lengths: [16] },
  { prefix: 4, from: 2221, to: 2720, lengths: [16] },
  { prefix: 2, from: 34, to: 34, lengths: [15] },
  { prefix: 2, from: 37, to: 37, lengths: [15] },
  { prefix: 4, from: 6011, to: 6011, lengths: [16, 19] },
  { prefix: 3, from: 644, to: 659, lengths: [16, 19] },
  { prefix: 3, from: 300, to: 305, lengths: [14] },
  { prefix: 2, from: 36, to: 36, lengths: [14] },
  { prefix: 2, from: 38, to: 39, lengths: [14] },
  { prefix: 4, from: 3528, to: 3589, lengths: [16, 19] },
  { prefix: 2, from: 62, to: 62, lengths: [16, 17, 18, 19] },
  { prefix: 2, from: 50, to: 50, lengths: [16, 19] },
  { prefix: 2, from: 56, to: 58, lengths: [16, 19] }
]

/** A number of a card scheme with a right check digit. `digits`: nothing but digits. */
export const isCardNumber = (digits: string): boolean =>
  issuers.some(({ from, lengths, prefix, to }) => {
    const begin = Number(digits.slice(0, prefix))
    return begin >= from && begin <= to && lengths.includes(digits.length)
  }) && isLuhn(digits)

/** Lengths by country: https://www.swift.com/standards/data-standards/iban-international-bank-account-number */
const ibanLengths: ReadonlyMap<string, number> = new Map(
  (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 " +
    "FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 " +
    "MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 " +
    "SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
  )
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))])
)

/** Characters of an IBAN of this country; null for letters that are none. */
export const ibanLength = (country: string): number | null => ibanLengths.get(country) ?? null

/** ISO 13616: the number, its first four characters moved behind it and letters counted from 10, is 1 modulo 97. Upper case, no blanks. */
export const isIban = (text: string): boolean => {
  if (text.length !== ibanLength(text.slice(0, 2))) return false
  let rest = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt((index + 4) % text.length)
    const value = code >= 65 ? code - 55 : code - 48
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

/** Numbers that were never given out: https://www.ssa.gov/employer/randomizationfaqs.html */
export const isSsn = (area: string, group: string, serial: string): boolean =>
  area !== "000" && area !== "666" && Number(area) < 900 && group !== "00" && serial !== "0000"

const weighted = (digits: string, weights: ReadonlyArray<number>): number =>
  weights.reduce((sum, weight, index) => sum + weight * digitAt(digits, index), 0)

const isOneDigit = (digits: string): boolean => digits === digits.charAt(0).repeat(digits.length)

const downFrom = (first: number, count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, index) => first - index)

const cpfCheck = (digits: string, count: number): number =>
  ((weighted(digits, downFrom(count + 1, count)) * 10) % 11) % 10

/** Brazil's number of a person, eleven digits: https://www.gov.br/receitafederal */
export const isCpf = (digits: string): boolean =>
  digits.length === 11 &&
  !isOneDigit(digits) &&
  cpfCheck(digits, 9) === digitAt(digits, 9) &&
  cpfCheck(digits, 10) === digitAt(digits, 10)

const cnpjWeights = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]

const cnpjCheck = (digits: string, count: number): number => {
  const rest = weighted(digits, cnpjWeights.slice(13 - count)) % 11
  return rest < 2 ? 0 : 11 - rest
}

/** Brazil's number of a company, fourteen digits. */
export const isCnpj = (digits: string): boolean =>
  digits.length === 14 &&
  !isOneDigit(digits) &&
  cnpjCheck(digits, 12) === digitAt(digits, 12) &&
  cnpjCheck(digits, 13) === digitAt(digits, 13)

const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value >>> 0
})

const crc32 = (text: string): number => {
  let crc = 0xffffffff
  for (let index = 0; index < text.length; index += 1) {
    crc = (crcTable[(crc ^ text.charCodeAt(index)) & 0xff] ?? 0) ^ (crc >>> 8)
  }
  return (crc ^ 0xffffffff) >>> 0
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/**
 * Checks whether the last six characters are the CRC-32 of the thirty before them, as in tokens of GitHub (`ghp_` and 36 characters)
 * and npm: https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/
 */
export const hasTokenChecksum = (random: string): boolean => {
  let value = crc32(random.slice(0, -6))
  let expected = ""
  for (let index = 0; index < 6; index += 1) {
    expected = base62.charAt(value % 62) + expected
    value = Math.floor(value / 62)
  }
  return random.slice(-6) === expected
}
