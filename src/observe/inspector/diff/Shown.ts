/** Values as a difference shows them: a long one is cut to the part where it differs. Pure. */
import type { Json } from "../../../wire/json/Json.ts"

/** Characters shown of a value, the marks of what was cut off not counted. */
export const maxShownChars = 2_000

/** Characters shown before the first one that differs. */
const leadChars = 80

/** Index of the first character that differs, never within a pair of surrogates; the length of the shorter text when it begins the other. */
export const commonChars = (left: string, right: string): number => {
  const most = Math.min(left.length, right.length)
  let at = 0
  while (at < most && left.charCodeAt(at) === right.charCodeAt(at)) at += 1
  const last = at === 0 ? 0 : left.charCodeAt(at - 1)
  return last >= 0xd800 && last < 0xdc00 ? at - 1 : at
}

/** A text of its own: a part of a text keeps the whole of it in memory. */
export const copied = (text: string): string => Buffer.from(text, "utf16le").toString("utf16le")

/** The part of a text from shortly before `at`, marked where something was cut off. */
export const windowAt = (text: string, at: number, chars = maxShownChars): string => {
  if (text.length <= chars) return text
  const from = Math.max(0, Math.min(at - leadChars, text.length - chars))
  const part = copied(text.slice(from, from + chars))
  return `${from > 0 ? "…" : ""}${part}${from + chars < text.length ? "…" : ""}`
}

const isShort = (value: Json): boolean => value === null || typeof value === "number" || typeof value === "boolean"

/** Texts of two values, and where they differ first. */
export interface ShownPair {
  readonly before: Json | undefined
  readonly after: Json | undefined
}

const cut = (value: Json | undefined, at: number, chars: number): Json | undefined => {
  if (value === undefined || isShort(value)) return value
  if (typeof value === "string") return windowAt(value, at, chars)
  const text = JSON.stringify(value)
  return text.length <= chars ? value : windowAt(text, at, chars)
}

/** Both values, cut around the first difference of two texts. What is no text is shown as JSON when it is too long. */
export const shownPair = (before: Json | undefined, after: Json | undefined, chars = maxShownChars): ShownPair => {
  const at = typeof before === "string" && typeof after === "string" ? commonChars(before, after) : 0
  return { before: cut(before, at, chars), after: cut(after, at, chars) }
}
