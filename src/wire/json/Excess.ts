/**
 * Limits on the structure of foreign JSON. It is counted in one pass before the text is parsed, because the parsed value costs far more
 * than its bytes. This does not validate the text.
 */

/** Nesting of objects and arrays. */
export const maxRequestDepth = 200
/** Members of all objects together. */
export const maxRequestKeys = 100_000

/** Items, objects and lists together, as the places where each begins: an empty object takes twenty times its bytes when it is parsed. */
export const maxRequestValues = 1_000_000

/** Members of the outermost object of a request: no wire has a tenth of it, and each pass over them delays other requests. */
export const maxTopMembers = 1_000

export type Excess = "depth" | "keys" | "topMembers" | "values"

/** Error messages for the sender. */
export const excessMessage: Readonly<Record<Excess, string>> = {
  depth: `The JSON is nested deeper than ${maxRequestDepth} levels, the limit.`,
  keys: `The JSON has more than ${maxRequestKeys} keys, the limit.`,
  topMembers: `The JSON has more than ${maxTopMembers} fields at its top level, the limit.`,
  values: `The JSON has more than ${maxRequestValues} values, the limit.`
}

const quote = 34
const comma = 44
const colon = 58
const backslash = 92
const openBracket = 91
const closeBracket = 93
const openBrace = 123
const closeBrace = 125

/** Shorter texts are parsed without counting: they cannot hold many keys. */
export const scannedFrom = 65_536

/** The limit that the text exceeds; null when none. */
export const excessOf = (text: string, topMembers?: number): Excess | null => {
  // A level takes at least two characters, a member at least five.
  if (text.length < 2 * maxRequestDepth) return null
  const found = countMembers(text, topMembers)
  return typeof found === "string" ? found : null
}

/**
 * The number of members of all objects in the text, repeated ones included, or the limit that it exceeds. Linear: strings are skipped from
 * quote to quote. The number of a text that is not JSON means nothing.
 */
export const countMembers = (text: string, topMembers = Number.POSITIVE_INFINITY): number | Excess => {
  let depth = 0
  let keys = 0
  let tops = 0
  let values = 0
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote: {
        do {
          at = text.indexOf('"', at + 1)
          if (at < 0) return keys
        } while (isEscaped(text, at))
        break
      }
      case colon:
        keys += 1
        if (keys > maxRequestKeys) return "keys"
        if (depth === 1) tops += 1
        if (tops > topMembers) return "topMembers"
        break
      case comma:
        values += 1
        if (values > maxRequestValues) return "values"
        break
      case openBrace:
      case openBracket:
        depth += 1
        values += 1
        if (values > maxRequestValues) return "values"
        if (depth > maxRequestDepth) return "depth"
        break
      case closeBrace:
      case closeBracket:
        depth -= 1
        break
      default:
    }
  }
  return keys
}

/** Checks whether an odd number of backslashes precedes the quote. */
const isEscaped = (text: string, at: number): boolean => {
  let slashes = 0
  while (text.charCodeAt(at - 1 - slashes) === backslash) slashes += 1
  return slashes % 2 === 1
}
