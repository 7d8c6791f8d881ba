/** Telephone numbers in a text. What looks like one is checked by Google's tables of the world's numbering plans. Pure. */
import { parsePhoneNumberFromString } from "libphonenumber-js/min"

interface Form {
  readonly pattern: RegExp
  /** Country whose numbers are written so, without its own code; undefined: the number names its country. */
  readonly country?: "US" | "BR"
}

/**
 * Patterns of telephone numbers. Groups of digits that could be other numbers are none: one needs `+`, parentheses, or
 * the groups of its country.
 */
const forms: ReadonlyArray<Form> = [
  { pattern: /(?<![\w+./-])\+\d(?:[ .()-]{0,2}\d){6,14}(?!\w|[.-]\d)/g },
  {
    pattern: /(?<![\w+./-])(?:1[ .-])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}([ .-]))[2-9]\d{2}[ .-]\d{4}(?!\w|[.-]\d)/g,
    country: "US"
  },
  { pattern: /(?<![\w+./-])\(?[1-9]{2}\)? ?9\d{4}-\d{4}(?!\w|[.-]\d)/g, country: "BR" }
]

export const findPhones = (text: string, found: (start: number, end: number) => void): void => {
  for (const { country, pattern } of forms) {
    for (const { 0: match, index } of text.matchAll(pattern)) {
      if (parsePhoneNumberFromString(match, country)?.isPossible() === true) found(index, index + match.length)
    }
  }
}
