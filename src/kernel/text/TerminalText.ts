/** Makes foreign text safe to print: nothing in it may control a terminal or change the writing direction. */

/** Control characters, direction marks, line and paragraph separators, invisible tags, and the byte order mark. */
const steering = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu
const lineBreaksAndTabs = /[\n\t]/

/** One line: each such character as `?`. */
export const harmless = (text: string): string => text.replaceAll(steering, "?")

/** The same for text of several lines. */
export const harmlessLines = (text: string): string =>
  text.replaceAll(steering, (character) => (lineBreaksAndTabs.test(character) ? character : "?"))

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, index) => {
    const unit = character.charCodeAt(index).toString(16).padStart(4, "0")
    return `\\u${unit}`
  }).join("")

/** JSON in which such characters are escaped, so that it reads back as the same value. */
export const harmlessJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replaceAll(steering, (character) =>
    lineBreaksAndTabs.test(character) ? character : escaped(character)
  )
