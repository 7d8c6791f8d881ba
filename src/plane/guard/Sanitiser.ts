/**
 * Takes out of a text what no person sees and a model reads: characters of the Unicode block of invisible tags, in which orders can be hidden; and halves
 * of surrogate pairs, which are no characters. The tags of flags (🏴 …) stay, and so do control characters: programs write them. Pure.
 */

import { factsOf } from "../../wire/json/LargeBodies.ts"

/** A tag character in UTF-8 begins with these; the first of them alone is rare, and searched for faster. */
const tagBytes = Buffer.from([0xf3, 0xa0])
const escape = Buffer.from("\\u")
const escapes = ["\\ud", "\\uD"].map((text) => Buffer.from(text))

const mayHoldHalves = (body: Buffer): boolean => body.includes(escape) && escapes.some((sign) => body.includes(sign))

/** Hot: checks whether a body in JSON may hold anything of it. Most bodies are searched once for each of two things. */
export const mayNeedCleaning = (body: Buffer): boolean =>
  (body.includes(tagBytes[0] ?? 0) && body.includes(tagBytes)) ||
  (factsOf(body)?.hasSurrogateEscape ?? mayHoldHalves(body))

/** A flag of a region (UTS #51): a black flag, tags, and their end. */
const tags = /(\u{1f3f4}[\u{e0020}-\u{e007e}]{1,16}\u{e007f})|[\u{e0000}-\u{e007f}]/gu

/** Pattern of half a pair; with `u`, a pair is one character. */
const loneHalf = /\p{Surrogate}/u
const loneHalves = /\p{Surrogate}/gu

const needsCleaning = /\udb40[\udc00-\udc7f]/

/** The text without them; the same text where there are none. */
export const cleaned = (text: string): string => {
  const sound = loneHalf.test(text) ? text.replaceAll(loneHalves, "\ufffd") : text
  if (!needsCleaning.test(sound)) return sound
  return sound.replaceAll(tags, (_: string, flag: string | undefined) => flag ?? "")
}
