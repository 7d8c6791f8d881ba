/** "Did you mean" for mistyped words. */
import { closest } from "../../kernel/text/Closest.ts"

const leastLikely = 4

const lettersShared = (left: string, right: string): number =>
  [...new Set(left)].filter((letter) => right.includes(letter)).length

/** The known names that a word may have been meant for. */
export const near = (word: string, known: ReadonlyArray<string>): ReadonlyArray<string> =>
  // Between two words of three letters nearly everything is near.
  closest(word, known, 2).filter(
    (each) => word.length >= leastLikely || (each[0] === word[0] && lettersShared(each, word) >= 2)
  )

/** "Did you mean" in words; undefined when there is nothing to propose. */
export const didYouMean = (names: ReadonlyArray<string>): string | undefined =>
  names.length === 0 ? undefined : `Did you mean ${names.map((each) => `'${each}'`).join(" or ")}?`
