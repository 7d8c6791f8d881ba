/** A rule pack: words of one language that a text can do without, as data. */

export const languages = ["en", "de", "es", "fr", "pt-BR", "id", "ja", "zh"] as const
export type Language = (typeof languages)[number]

/**
 * Intensities from the one that changes least. `lite` leaves out filler, `full` also rewrites phrases, `ultra` also
 * leaves out articles.
 */
export const intensities = ["lite", "full", "ultra"] as const
export type Intensity = (typeof intensities)[number]

export type Category = "filler" | "context" | "structural" | "ultra" | "dedup"

export interface Rule {
  readonly name: string
  readonly category: Category
  /** Words and phrases in lower case; longer ones are tried first. */
  readonly words: ReadonlyArray<string>
  /** Replacement; empty: none. */
  readonly replacement: string
  readonly minIntensity: Intensity
}

export interface Pack {
  readonly language: Language
  /** Words that indicate the language; none of them is in two packs of the same script. */
  readonly tells: ReadonlyArray<string>
  /** True when it is written without blanks between words. */
  readonly isUnspaced: boolean
  readonly rules: ReadonlyArray<Rule>
}

export const rule = (
  category: Category,
  name: string,
  minIntensity: Intensity,
  words: ReadonlyArray<string>,
  replacement = ""
): Rule => ({ name, category, words, replacement, minIntensity })
