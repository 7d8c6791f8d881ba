/**
 * Removes secrets from foreign text: upstreams repeat the credential they were sent in error messages, as it is, escaped or encoded.
 * Time is linear in the length of the text; secrets are few.
 */
import { base64Forms, encodedForms } from "../text/TextForms.ts"

const mark = "[redacted]"

/** A shorter secret is removed only where it is a whole word: elsewhere it would break words apart. */
const leastLength = 8
/** A secret as short as a common word is removed only where it appears as a value. */
const leastWordLength = 4
/**
 * Fewest characters of a secret that are removed at the end of a text that was visibly cut, and of any other text:
 * ordinary words begin like secrets, too.
 */
const leastCut = 6
const leastUnmarkedCut = 12

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** Makes the pattern of a secret after a quote, an assignment sign or the name of a scheme. */
const asValue = (form: string): RegExp =>
  new RegExp(`(["'\`:=(\\[]\\s?|\\b(?:bearer|basic|key|token)\\s)${literal(form)}(?![\\p{L}\\p{N}_-])`, "giu")

const asWord = (form: string): RegExp => new RegExp(`(?<![\\p{L}\\p{N}_-])${literal(form)}(?![\\p{L}\\p{N}_-])`, "gu")

const withoutForm = (text: string, form: string): string => {
  if (!text.includes(form)) return text
  if (form.length >= leastLength) return text.replaceAll(form, mark)
  if (form.length >= leastWordLength) return text.replaceAll(asWord(form), mark)
  return text.replaceAll(asValue(form), (_, lead: string) => lead + mark)
}

/** Texts are cut before they are shown: the beginning of a secret at the end is removed as well. */
const withoutCut = (text: string, secret: string): string => {
  const isMarked = text.endsWith("…")
  const end = isMarked ? text.length - 1 : text.length
  const least = isMarked ? leastCut : leastUnmarkedCut
  if (secret.length <= least) return text
  const beginning = secret.slice(0, least)
  for (let at = text.indexOf(beginning, Math.max(0, end - secret.length + 1)); at >= 0 && at + least <= end;) {
    if (secret.startsWith(text.slice(at, end))) return text.slice(0, at) + mark
    at = text.indexOf(beginning, at + 1)
  }
  return text
}

/** The characters that encoders put a backslash before; encoding twice adds another. */
const escapable = /["'/\\]/g
const mostEscapes = 15

/** The secret however often its quotes and slashes were escaped; null where there is nothing to escape. */
const escapedForm = (secret: string): RegExp | null => {
  if (secret.length < leastLength || secret.search(escapable) < 0) return null
  const parts = secret.split(escapable).map(literal)
  const marks = secret.match(escapable) ?? []
  const pattern = parts.map((part, at) => {
    const character = marks[at]
    return character === undefined ? part : `${part}\\\\{0,${mostEscapes}}${literal(character)}`
  })
  return new RegExp(pattern.join(""), "g")
}

const formsOf = (secret: string): ReadonlyArray<string> =>
  [...encodedForms(secret), ...(secret.length < leastLength ? [] : base64Forms(secret))].toSorted(
    (one, other) => other.length - one.length
  )

/**
 * Removes the secrets from texts, in every encoded form. Longer ones go first, because one may be part of another. The forms are
 * computed when the first text comes.
 */
export const scrubber = (secrets: ReadonlyArray<string>): ((text: string) => string) => {
  let known: ReadonlyArray<readonly [string, ReadonlyArray<string>, RegExp | null]> | null = null
  return (text) => {
    if (text === "") return text
    known ??= [...new Set(secrets)]
      .filter((secret) => secret.trim() !== "")
      .toSorted((one, other) => other.length - one.length)
      .map((secret) => [secret, formsOf(secret), escapedForm(secret)])
    let clean = text
    for (const [secret, forms, escaped] of known) {
      for (const form of forms) clean = withoutForm(clean, form)
      if (escaped !== null) clean = clean.replaceAll(escaped, mark)
      if (secret.length >= leastLength) clean = withoutCut(clean, secret)
    }
    return clean
  }
}

/** One text without the secrets. */
export const scrub = (text: string, secrets: ReadonlyArray<string>): string => scrubber(secrets)(text)

/**
 * The secret parts of a header's value: all of it, and what follows the name of a scheme, or is inside a cookie or `Basic`.
 */
export const secretParts = (value: string): ReadonlyArray<string> => {
  const parts = [value]
  const credential = /^\s*(bearer|basic|token|apikey|key)\s+(.+)$/i.exec(value)
  const [, scheme = "", rest = ""] = credential ?? []
  if (rest !== "") parts.push(rest.trim())
  if (scheme.toLowerCase() === "basic") {
    const plain = Buffer.from(rest.trim(), "base64").toString("utf8")
    const colon = plain.indexOf(":")
    parts.push(plain, ...(colon < 0 ? [] : [plain.slice(colon + 1)]))
  }
  for (const pair of value.split(";")) {
    const sign = pair.indexOf("=")
    if (sign > 0 && pair.length - sign > leastLength) parts.push(pair.slice(sign + 1).trim())
  }
  return parts
}
