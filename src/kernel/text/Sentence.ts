/** Puts sentences together of which a part was written elsewhere. */

/** The text with a full stop behind it. One that ends a sentence already, as messages of others may, has no second one. */
export const asSentence = (text: string): string => {
  const trimmed = text.trimEnd()
  return /[.!?…]["'”’)\]]?$/u.test(trimmed.slice(-2)) ? trimmed : `${trimmed}.`
}
