/**
 * Information of words, from 0 to 1, for languages with blanks between words. A word that is not listed has all of it. No word is listed
 * that denies, counts, compares, orders, points or asks, and no preposition of origin or direction.
 */
import type { Language } from "../caveman/Pack.ts"

export interface WordScores {
  /** Words that say nothing: articles, fillers. */
  readonly least: ReadonlyArray<string>
  /** Words that mostly repeat what the sentence says anyway: forms of "to be". */
  readonly low: ReadonlyArray<string>
}

export const wordScores: Readonly<Partial<Record<Language, WordScores>>> = {
  en: {
    least: ["a", "an", "the", "really", "very", "quite", "simply", "basically", "actually", "also"],
    low: ["is", "are", "was", "were", "be", "been", "being", "am", "of"]
  },
  de: {
    least: ["der", "die", "das", "den", "dem", "des", "eben", "auch", "sehr"],
    low: ["ist", "sind", "war", "waren", "bin", "bist", "dass"]
  },
  es: {
    least: ["el", "la", "los", "las", "pues", "muy", "también"],
    low: ["es", "son", "era", "eran", "ser", "está", "están", "del"]
  },
  fr: {
    least: ["le", "la", "les", "très", "donc", "aussi"],
    low: ["est", "sont", "était", "étaient", "être", "du"]
  },
  "pt-BR": {
    least: ["os", "as", "muito", "também"],
    low: ["é", "são", "era", "eram", "ser", "está", "estão", "do", "da"]
  },
  id: {
    least: ["yang", "sangat", "sekali", "pun"],
    low: ["adalah", "ialah", "merupakan", "juga"]
  }
}
