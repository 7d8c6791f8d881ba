/** A rule pack: words of one language that a text can do without, as data. */
import * as Schema from "effect/Schema"

export const languages = ["en", "de", "es", "fr", "pt-BR", "id", "ja", "zh"] as const
export type Language = (typeof languages)[number]

/**
 * Intensities from the one that changes least. `lite` leaves out filler, `full` also rewrites phrases, `ultra` also
 * leaves out articles.
 */
export const intensities = ["lite", "full", "ultra"] as const
export type Intensity = (typeof intensities)[number]

const Rule = Schema.Struct({
  name: Schema.String,
  category: Schema.Literal("filler", "context", "structural", "ultra", "dedup"),
  /** Words and phrases in lower case; longer ones are tried first. */
  words: Schema.Array(Schema.String),
  /** Replacement; empty: none. */
  replacement: Schema.optionalWith(Schema.String, { default: () => "" }),
  minIntensity: Schema.Literal(...intensities)
})
export type Rule = typeof Rule.Type

export const Pack = Schema.Struct({
  language: Schema.Literal(...languages),
  /** Words that indicate the language; none of them is in two packs of the same script. */
  tells: Schema.Array(Schema.String),
  /** True when it is written without blanks between words. */
  isUnspaced: Schema.Boolean,
  rules: Schema.Array(Rule)
})
export type Pack = typeof Pack.Type
