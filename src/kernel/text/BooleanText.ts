/** Words for yes and no in variables and flags. */

const on = ["true", "1", "on", "yes"]
const off = ["false", "0", "off", "no"]

/** Every accepted spelling, in lower case; any case is. */
export const booleanTexts: ReadonlyArray<string> = [...on, ...off]

/** Null when the text is neither. */
export const booleanOf = (text: string): boolean | null => {
  const lower = text.trim().toLowerCase()
  if (on.includes(lower)) return true
  return off.includes(lower) ? false : null
}
