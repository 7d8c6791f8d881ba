/** The forms in which one text may appear inside another: as it is, and in the common encodings. Pure. */

const htmlEntities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const jsonEscaped = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Lone surrogates cannot be percent-encoded: they become the replacement character. */
const percentEncoded = (text: string): string => encodeURIComponent(text.replaceAll(/\p{Cs}/gu, "\ufffd"))

/** The text itself, JSON-escaped, percent-encoded (also as forms do it) and HTML-escaped; without duplicates. */
export const encodedForms = (text: string): ReadonlyArray<string> => {
  const percent = percentEncoded(text)
  const lowerPercent = percent.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())
  const json = jsonEscaped(text)
  return [
    ...new Set([
      text,
      json,
      json.replaceAll("/", "\\/"),
      percent,
      lowerPercent,
      percent.replaceAll("%20", "+"),
      text.replaceAll(/[&<>"']/g, (char) => htmlEntities[char] ?? char)
    ])
  ]
}

/**
 * The base64 forms of a text at any position in the encoded bytes: one for each of the three alignments, in both alphabets, without
 * the characters at the edges that also depend on the neighbours.
 */
export const base64Forms = (text: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(text, "utf8")
  const forms = new Set<string>()
  for (const offset of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replaceAll("=", "")
    const tail = (offset + bytes.length) % 3 === 0 ? encoded.length : encoded.length - 1
    const own = encoded.slice(offset === 0 ? 0 : offset + 1, tail)
    if (own.length < 8) continue
    forms.add(own)
    forms.add(own.replaceAll("+", "-").replaceAll("/", "_"))
  }
  return [...forms]
}

const unescapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" }
const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " }

const charOf = (code: number): string => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : " ")

const jsonPlain = (text: string): string =>
  text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, hex: string | undefined, char: string | undefined) =>
    hex === undefined ? (unescapes[char ?? ""] ?? char ?? "") : String.fromCharCode(Number.parseInt(hex, 16))
  )

const percentPlain = (text: string): string =>
  text.replaceAll(/(?:%[0-9a-fA-F]{2})+/g, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"))

const htmlPlain = (text: string): string =>
  text.replaceAll(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-z]{2,4}));/g,
    (whole, decimal: string | undefined, hex: string | undefined, name: string | undefined) =>
      name !== undefined
        ? (entities[name] ?? whole)
        : charOf(decimal === undefined ? Number.parseInt(hex ?? "0", 16) : Number(decimal))
  )

/** The text with the three encodings decoded, each once; the same string where none was used. Linear. */
export const plainForm = (text: string): string => {
  let plain = text
  if (plain.includes("\\")) plain = jsonPlain(plain)
  if (plain.includes("%")) plain = percentPlain(plain)
  if (plain.includes("&")) plain = htmlPlain(plain)
  return plain
}
