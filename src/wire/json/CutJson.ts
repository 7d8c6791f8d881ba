/** Reads JSON that ends too early, because only its beginning was read or received: complete values are still useful. */
import { maxRequestDepth } from "./Excess.ts"

const closers: Readonly<Record<string, string>> = { "{": "}", "[": "]" }

/** An incomplete escape sequence, which must not be followed by a quote. An even number of backslashes before it is text. */
const halfEscape = /(?<!\\)((?:\\\\)*)\\(?:u[\da-fA-F]{0,3})?$/

const asString = (cut: string): string => `${cut.replace(halfEscape, "$1")}"`

/** A position up to which everything is complete, and the text that closes it there. */
interface Closable {
  readonly end: number
  readonly closing: string
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/**
 * The text with its open strings, lists and objects closed; incomplete members and items are left out, except strings, which are kept as
 * far as they go. Null for text that is not the beginning of a JSON object or list, or too deep. Linear; the caller bounds `text`.
 */
export const closeCutJson = (text: string): string | null => {
  const open: Array<string> = []
  const closing = (): string => open.toReversed().join("")
  let whole: Closable = { end: 0, closing: "" }
  /** Start of the open string; -1 outside of one. */
  let stringAt = -1
  /** The open string is a member's name. */
  let isName = false
  let last = ""
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (stringAt >= 0) {
      if (char === "\\") at += 1
      else if (char === '"') {
        stringAt = -1
        last = isName ? "name" : "value"
      }
      continue
    }
    if (isBlank(char.charCodeAt(0))) continue
    const closer = closers[char]
    if (char === '"') {
      stringAt = at
      isName = open.at(-1) === "}" && last !== ":"
    } else if (closer !== undefined) {
      open.push(closer)
      if (open.length > maxRequestDepth) return null
      whole = { end: at + 1, closing: closing() }
      last = char
    } else if (char === "}" || char === "]") {
      if (open.pop() !== char) return null
      whole = { end: at + 1, closing: closing() }
      last = "value"
      if (open.length === 0) return text.slice(0, at + 1)
    } else if (char === ",") {
      whole = { end: at, closing: closing() }
      last = char
    } else last = char
    if (open.length === 0) return null
  }
  if (open.length === 0) return null
  return stringAt >= 0 && !isName ? asString(text) + closing() : text.slice(0, whole.end) + whole.closing
}
