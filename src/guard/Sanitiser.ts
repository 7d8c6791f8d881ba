/**
 * Takes out of a text what no person writes and no program needs: control characters, characters of the Unicode block of invisible tags, and halves of
 * surrogate pairs. Tabs, line ends, form feeds, backspaces and the escape character of terminal output stay, and so do the tags of flags (🏴 …). Pure.
 */

const deleteByte = 0x7f
/** A tag character in UTF-8 begins with these; the first of them alone is rare, and searched for faster. */
const tagBytes = Buffer.from([0xf3, 0xa0])
const escape = Buffer.from("\\u")
const escapes = ["\\u00", "\\u7f", "\\ud", "\\uD"].map((text) => Buffer.from(text))

/** Hot: whether a body in JSON may hold anything of it. Most bodies are searched once for each of three things. */
export const mayNeedCleaning = (body: Buffer): boolean =>
  body.includes(deleteByte) ||
  (body.includes(tagBytes[0] ?? 0) && body.includes(tagBytes)) ||
  (body.includes(escape) && escapes.some((sign) => body.includes(sign)))

// eslint-disable-next-line no-control-regex -- these are what is taken out
const controls = /[\u0000-\u0007\u000e-\u001a\u001c-\u001f\u007f]/g
/** A flag of a region (UTS #51): a black flag, tags, and their end. */
const tags = /(\u{1f3f4}[\u{e0020}-\u{e007e}]{1,16}\u{e007f})|[\u{e0000}-\u{e007f}]/gu

/** With `u`, a pair is one character. */
const loneHalf = /\p{Surrogate}/u
const loneHalves = /\p{Surrogate}/gu

// eslint-disable-next-line no-control-regex -- as above
const needsCleaning = /[\u0000-\u0007\u000e-\u001a\u001c-\u001f\u007f]|\udb40[\udc00-\udc7f]/

/** The text without them; the same text where there are none. */
export const cleaned = (text: string): string => {
  const sound = loneHalf.test(text) ? text.replaceAll(loneHalves, "\ufffd") : text
  if (!needsCleaning.test(sound)) return sound
  return sound.replaceAll(controls, "").replaceAll(tags, (_: string, flag: string | undefined) => flag ?? "")
}
