/**
 * How much structure a JSON text of a stranger may have. It is counted in one pass before the text is parsed: what a parser makes of a text
 * costs far more than its bytes. Nothing here says that the text is JSON.
 */

import { isDeeper, type Json } from "./Json.ts"

/** Objects and arrays within one another. */
export const maxRequestDepth = 200
/** Members of all objects together. */
export const maxRequestKeys = 100_000

export type Excess = "depth" | "keys"

/** What to tell the sender. */
export const excessMessage: Readonly<Record<Excess, string>> = {
  depth: `The JSON is nested deeper than ${maxRequestDepth} levels, the limit.`,
  keys: `The JSON has more than ${maxRequestKeys} keys, the limit.`
}

const quote = 34
const colon = 58
const backslash = 92
const openBracket = 91
const closeBracket = 93
const openBrace = 123
const closeBrace = 125

/** Which limit the text exceeds; null when none. Linear: strings are hopped over from quote to quote. */
export const excessOf = (text: string): Excess | null => {
  // A level takes two characters and a member five at least.
  if (text.length < 2 * maxRequestDepth) return null
  let depth = 0
  let keys = 0
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote: {
        do {
          at = text.indexOf('"', at + 1)
          if (at < 0) return null
        } while (isEscaped(text, at))
        break
      }
      case colon:
        keys += 1
        if (keys > maxRequestKeys) return "keys"
        break
      case openBrace:
      case openBracket:
        depth += 1
        if (depth > maxRequestDepth) return "depth"
        break
      case closeBrace:
      case closeBracket:
        depth -= 1
        break
      default:
    }
  }
  return null
}

/** An odd number of backslashes stands before the quote. */
const isEscaped = (text: string, at: number): boolean => {
  let slashes = 0
  while (text.charCodeAt(at - 1 - slashes) === backslash) slashes += 1
  return slashes % 2 === 1
}

/** A JSON text that exceeds a limit, or is none. `message` is a sentence for the sender. */
export class Unreadable {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

const notJson = new Unreadable("The request body is not valid JSON.")
const unreadable: Readonly<Record<Excess, Unreadable>> = {
  depth: new Unreadable(excessMessage.depth),
  keys: new Unreadable(excessMessage.keys)
}

/** Below this a text is parsed first and its depth looked at in the value: it cannot hold many keys, and parsing it is quick. */
const scannedFrom = 65_536

/** The JSON of a stranger, within the limits. */
export const readForeignJson = (text: string): Json | Unreadable => {
  const excess = text.length < scannedFrom ? null : excessOf(text)
  if (excess !== null) return unreadable[excess]
  try {
    const value: Json = JSON.parse(text)
    const mayBeDeep = text.length < scannedFrom && text.length > 2 * maxRequestDepth
    return mayBeDeep && isDeeper(value, maxRequestDepth) ? unreadable.depth : value
  } catch {
    return notJson
  }
}
