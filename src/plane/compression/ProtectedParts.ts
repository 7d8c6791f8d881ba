/**
 * Finds the parts that no engine may change in a text that it shortens: numbers, paths, addresses and negations. A line may be removed as a
 * whole where the whole text is kept; the rest of a line has each of these as it was. Pure, linear.
 */

/** Pattern of one word between two of these characters. */
const words = /[^\s"'`()<>{}[\],;=|]+/g

const negations =
  /^(?:no|not|none|nothing|never|neither|nor|without|cannot|unless|except|nicht|kein\w{0,2}|nie|ohne|nunca|sin|jamais|sans|não|nem|sem|tidak|bukan|jangan)$|^\w{2,7}n['’]t$/i

/** A digit, what separates folders, or a dot inside a name. */
const sign = /[\d/\\]|\w\.\w/

/** Words of a text with one of these, and negations, in their order. A sign at the end belongs to the sentence. */
export const protectedIn = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (const [word] of text.matchAll(words)) {
    if (sign.test(word) || (word.length <= 10 && negations.test(word))) found.push(word.replace(/[.:!?]+$/, ""))
  }
  return found
}

/** Checks whether a text holds none of these. */
export const holdsNothing = (text: string): boolean => !sign.test(text) && protectedIn(text).length === 0

/**
 * Checks whether all such parts of the second text are in the first, as they are and in their order. `isAll`: and none
 * of the first is missing.
 */
export const isUnchanged = (before: string, after: string, isAll: boolean): boolean => {
  if (before === after) return true
  const all = protectedIn(before)
  const left = protectedIn(after)
  if (isAll && all.length !== left.length) return false
  let at = 0
  for (const word of left) {
    const found = all.indexOf(word, at)
    if (found < 0) return false
    at = found + 1
  }
  return true
}

/** Longer words are none of these: code, pictures, keys. */
const longestWord = 4_096

const isBetween = (text: string, at: number): boolean =>
  at <= 0 || at >= text.length || /[\s"'`()<>{}[\],;=|]/.test(text.charAt(at - 1) + text.charAt(at))

/** The last place up to `at` at which no word is cut. */
export const cutBefore = (text: string, at: number): number => {
  const least = Math.max(0, at - longestWord)
  for (let place = at; place > least; place -= 1) if (isBetween(text, place)) return place
  return least === 0 ? 0 : whole(text, at)
}

/** The first place from `at` on at which no word is cut. */
export const cutAfter = (text: string, at: number): number => {
  const most = Math.min(text.length, at + longestWord)
  for (let place = at; place < most; place += 1) if (isBetween(text, place)) return place
  return most === text.length ? most : whole(text, at)
}

/** Moves a position out of a pair of code units that are one character. */
const whole = (text: string, at: number): number => {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code < 0xe000 ? at - 1 : at
}
