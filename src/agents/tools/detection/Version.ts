/** The version in what a program says of itself. Pure. */

/** Lines after these are of no interest. */
const mostChars = 2_000

/** `1.2.3`, also with a suffix; null: there is none. */
export const versionIn = (text: string): string | null =>
  /(?<![\w.])v?(\d{1,6}\.\d{1,6}(?:\.\d{1,8})?(?:[.-][\dA-Za-z][\w.+-]{0,40})?)(?![\w])/.exec(
    text.slice(0, mostChars)
  )?.[1] ?? null
