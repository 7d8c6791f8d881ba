/** What has to be found: made with right check digits from a seed, and written by hand in the forms that people use. */
import type { DetectorId } from "../../../src/plane/guard/Finding.ts"

export interface Positive {
  readonly text: string
  /** What must not be in the text any more. */
  readonly secret: string
}

/** A linear congruential generator: the corpus is the same on every machine. */
export const makeDice = (seed: number) => {
  let state = seed
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 4_294_967_296) * limit)
  }
  const from = (alphabet: string, length: number): string =>
    Array.from({ length }, () => alphabet.charAt(below(alphabet.length))).join("")
  const one = (choices: ReadonlyArray<string>): string => choices[below(choices.length)] ?? ""
  const digits = (length: number): string => from("0123456789", length)
  return { below, from, one, digits }
}

type Dice = ReturnType<typeof makeDice>

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const alphanumeric = `${letters}0123456789`

const luhnDigit = (body: string): string => {
  const sum = [...body].toReversed().reduce((total, character, index) => {
    const digit = Number(character) * (index % 2 === 0 ? 2 : 1)
    return total + (digit > 9 ? digit - 9 : digit)
  }, 0)
  return String((10 - (sum % 10)) % 10)
}

const card = ({ digits, below, one }: Dice): string => {
  const isAmex = below(4) === 0
  const body = isAmex ? `37${digits(12)}` : `${one(["4", "51", "55", "6011"])}${digits(15)}`.slice(0, 15)
  const number = body + luhnDigit(body)
  const sign = one(["", " ", "-"])
  const groups = isAmex ? [number.slice(0, 4), number.slice(4, 10), number.slice(10)] : (number.match(/.{4}/g) ?? [])
  return groups.join(sign)
}

const mod97 = (text: string): number =>
  [...text].reduce((rest, character) => {
    const value = Number.parseInt(character, 36)
    return (rest * (value > 9 ? 100 : 10) + value) % 97
  }, 0)

const iban = ({ digits, one, below }: Dice): string => {
  const [country, length] = one(["DE 18", "ES 20", "FR 23", "AT 16", "PL 24", "CH 17", "IT 23"]).split(" ")
  const account = country === "IT" ? `X${digits(22)}` : digits(Number(length))
  const check = String(98 - mod97(`${account}${country}00`)).padStart(2, "0")
  const whole = `${country}${check}${account}`
  return below(2) === 0 ? whole : (whole.match(/.{1,4}/g) ?? []).join(" ")
}

const brazilian = (digits: string, highest: number): string => {
  const sum = [...digits]
    .toReversed()
    .reduce((total, digit, index) => total + Number(digit) * (2 + (index % (highest - 1))), 0)
  return String(sum % 11 < 2 ? 0 : 11 - (sum % 11))
}

const registered = (base: string, highest: number): string => {
  const first = brazilian(base, highest)
  return base + first + brazilian(base + first, highest)
}

const crcTable = Array.from({ length: 256 }, (_, index) =>
  Array.from({ length: 8 }).reduce<number>((value) => (value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1), index)
)

const withChecksum = (body: string): string => {
  const crc = [...body].reduce(
    (value, character) => (crcTable[(value ^ character.charCodeAt(0)) & 255] ?? 0) ^ (value >>> 8),
    0xffffffff
  )
  const base62 = `0123456789${letters}`
  let value = (crc ^ 0xffffffff) >>> 0
  let sum = ""
  for (let index = 0; index < 6; index += 1) {
    sum = base62.charAt(value % 62) + sum
    value = Math.floor(value / 62)
  }
  return body + sum
}

const key = ({ from, digits, one }: Dice): string =>
  one([
    `ghp_${withChecksum(from(alphanumeric, 30))}`,
    `npm_${withChecksum(from(alphanumeric, 30))}`,
    `sk-proj-${from(alphanumeric, 39)}7`,
    `sk-ant-api03-${from(alphanumeric, 60)}4`,
    `sk_live_${from(alphanumeric, 24)}`,
    `AKIA${from("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)}`,
    `AIza${from(alphanumeric, 35)}`,
    `xoxb-${digits(12)}-${from(alphanumeric, 24)}`,
    `hf_${from(letters, 34)}`,
    `glpat-${from(alphanumeric, 20)}`,
    `SG.${from(alphanumeric, 22)}.${from(alphanumeric, 43)}`,
    `eyJ${from(alphanumeric, 30)}.eyJ${from(alphanumeric, 60)}.${from(alphanumeric, 43)}`
  ])

const ip = ({ below, one, from }: Dice): string =>
  below(3) === 0
    ? `2001:db8:${from("0123456789abcdef", 4)}::${from("123456789", 3)}:${from("123456789", 2)}`
    : `${one(["203", "198", "192", "172", "84", "10"])}.${below(256)}.${below(256)}.${1 + below(254)}`

const phone = ({ digits, one }: Dice): string => {
  const line = `555-${one(["01", "26", "38", "47"])}${digits(2)}`
  return one([
    `+49 151 ${digits(4)}${digits(4)}`,
    `+44 20 7${digits(3)} ${digits(4)}`,
    `(212) ${line}`,
    `415-${line}`,
    `+1 650 ${line.replace("-", " ")}`,
    `(11) 9${one(["1", "6", "8"])}${digits(3)}-${digits(4)}`
  ])
}

const email = ({ below, from, one }: Dice): string =>
  `${from("abcdefghijklmnopqrstuvwxyz", 3 + below(6))}${one(["", ".x", "+tag", "_9", "-k"])}@${from("abcdefghijklmnop", 4 + below(6))}.${one(["com", "org", "de", "co.uk", "io", "com.br"])}`

const ssn = ({ below, digits, one }: Dice): string =>
  [String(1 + below(665)).padStart(3, "0"), String(1 + below(99)).padStart(2, "0"), `${1 + below(9)}${digits(3)}`].join(
    one(["-", "-", " "])
  )

const cpf = ({ digits }: Dice): string => registered(digits(9), 11).replace(/(...)(...)(...)(..)/, "$1.$2.$3-$4")
const cnpj = ({ digits }: Dice): string =>
  registered(`${digits(8)}0001`, 9).replace(/(..)(...)(...)(....)(..)/, "$1.$2.$3/$4-$5")

const makers: Readonly<Record<DetectorId, (dice: Dice) => string>> = {
  "api-key": key,
  iban,
  "credit-card": card,
  email,
  ssn,
  cpf,
  cnpj,
  phone,
  ip
}

const frames: ReadonlyArray<readonly [before: string, after: string]> = [
  ["", ""],
  ["Mine is ", "."],
  ["Please use ", ", and tell no one"],
  ['{"value": "', '", "n": 1}'],
  ["- ", "\n- next"],
  ["(", ")"],
  ["| a | ", " | b |"],
  ["it's '", "' I think"]
]

const perDetector = 220

const byHand: Partial<Record<DetectorId, ReadonlyArray<string>>> = {
  email: [
    "o'neil@example.ie",
    "a@b.co",
    "first.last+news@mail.example.co.uk",
    "JOHN@EXAMPLE.COM",
    "x_y-z@sub.example.museum",
    "jo\u00eb@example.com",
    "joe (at) example.com"
  ],
  "credit-card": [
    "4111 1111 1111 1111",
    "4111-1111-1111-1111",
    "3782 822463 10005",
    "6011000990139424",
    "5555 5555 5555 4444"
  ],
  ssn: ["123-45-6789", "078-05-1120", "219 09 9999"],
  iban: [
    "DE89 3704 0044 0532 0130 00",
    "GB82WEST12345698765432",
    "NO93 8601 1117 947",
    "BR1800360305000010009795493C1"
  ],
  phone: [
    "+1 (415) 555-2671",
    "1-800-555-0199",
    "+33 1 42 68 53 00",
    "(11) 91234-5678",
    "+91 98765 43210",
    "+55 11 91234-5678",
    "4155552671",
    "030 1234567",
    "020 7946 0958"
  ],
  ip: ["203.0.113.7", "2001:db8::8a2e:370:7334", "192.168.1.20", "fe80::1ff:fe23:4567:890a"],
  "api-key": [
    "AKIAIOSFODNN7EXAMPLE",
    "sk-proj-abcdefghijklmnopqrstuvwx1234567890",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
  ],
  cpf: ["529.982.247-25"],
  cnpj: ["11.222.333/0001-81"]
}

export const positivesOf = (id: DetectorId): ReadonlyArray<Positive> => {
  const dice = makeDice(id.length * 7_919)
  const made = Array.from({ length: perDetector }, () => makers[id](dice))
  return [...made, ...(byHand[id] ?? [])].map((secret, index) => {
    const [before, after] = frames[index % frames.length] ?? ["", ""]
    return { text: before + secret + after, secret }
  })
}
