/**
 * The engine `caveman`: prose without the words that it can do without, by the rule pack of its language. What is protected (`Spans`) stays
 * as it is; a text whose language is not known is left alone. Pure and deterministic.
 */
import type { Engine, Role } from "../Engine.ts"
import { isFaithful, outsideSpans, rememberedSpans, type SpansOf } from "../Spans.ts"
import { intensities, type Intensity, type Language, type Pack, type Rule } from "./Pack.ts"
import { packs } from "./packs.ts"

export interface CavemanOptions {
  readonly intensity: Intensity
  readonly roles: ReadonlyArray<Role>
  /** Shorter texts are left alone. */
  readonly minChars: number
  /** Null: told from the text. */
  readonly language: Language | null
}

export const defaultCaveman: CavemanOptions = { intensity: "full", roles: ["user"], minChars: 50, language: null }

/** Characters of a text by which its language is told. */
const languageChars = 4_000
/** A text of another language has fewer of its words. */
const leastTold = 3

const escaped = (word: string): string => word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** Of a language with blanks between words: not inside a word, and not before an apostrophe. */
const bounded = (words: string): string => `(?<![\\p{L}\\p{N}'’-])(?:${words})(?![\\p{L}\\p{N}'’-])`

interface Ready {
  readonly pattern: RegExp
  readonly replacement: string
}

/** The rules of a pack at one intensity. */
interface Rules {
  readonly all: ReadonlyArray<Ready>
  /** Matches where one of them does: most texts between what is protected are searched once. */
  readonly any: RegExp
}

const alternatives = (words: ReadonlyArray<string>): string =>
  words
    .toSorted((one, other) => other.length - one.length)
    .map(escaped)
    .join("|")

const readyOf = ({ isUnspaced }: Pack, { replacement, words }: Rule): Ready => {
  const all = alternatives(words)
  // A comma behind what goes is no longer of use.
  const body = isUnspaced ? `(?:${all})[，、]?` : `${bounded(all)}${replacement === "" ? ",?" : ""}`
  return { pattern: new RegExp(body, "giu"), replacement }
}

const ready = new Map<string, Rules>()

const rulesOf = (pack: Pack, intensity: Intensity): Rules => {
  const name = `${pack.language} ${intensity}`
  const known = ready.get(name)
  if (known !== undefined) return known
  const most = intensities.indexOf(intensity)
  const rules = pack.rules.filter(({ minIntensity }) => intensities.indexOf(minIntensity) <= most)
  const words = alternatives(rules.flatMap((rule) => rule.words))
  const made: Rules = {
    all: rules.map((rule) => readyOf(pack, rule)),
    any: new RegExp(pack.isUnspaced ? words : bounded(words), "iu")
  }
  ready.set(name, made)
  return made
}

/** The pack whose words stand in the text most often; null when none does often enough. */
export const packFor = (text: string): Pack | null => {
  const sample = text.slice(0, languageChars).toLowerCase()
  const counts = new Map<string, number>()
  for (const word of sample.match(/\p{L}+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1)
  let best: Pack | null = null
  let most = leastTold - 1
  for (const pack of packs) {
    const told = pack.tells.reduce(
      (sum, word) => sum + (pack.isUnspaced ? sample.split(word).length - 1 : (counts.get(word) ?? 0)),
      0
    )
    if (told > most) [best, most] = [pack, told]
  }
  // Chinese signs stand in Japanese texts, too.
  if (best?.language === "zh" && /[\u3040-\u30ff]/.test(sample))
    return packs.find(({ language }) => language === "ja") ?? null
  return best
}

/** Blanks that are left where a word went. */
const tidied = (plain: string): string =>
  plain
    .replaceAll(/ {2,}/g, " ")
    .replaceAll(/ (?=[,.;:!?](?:\s|$))/g, "")
    .replaceAll(/(?<=\n) /g, "")

const reducedOnce = (text: string, { all, any }: Rules, spansOf: SpansOf): string =>
  outsideSpans(
    text,
    (plain, isBegin) => {
      if (plain === "" || !any.test(plain)) return plain
      let out = plain
      for (const { pattern, replacement } of all) out = out.replaceAll(pattern, replacement)
      if (out === plain) return plain
      const tidy = tidied(out)
      return isBegin ? tidy.trimStart() : tidy
    },
    spansOf
  )

/** What goes may bring together what goes then; beyond this the text is left alone. */
const mostPasses = 4

/** Null: the text stays as it is. */
export const caveman = (
  text: string,
  { intensity, language, minChars }: CavemanOptions,
  spansOf: SpansOf = rememberedSpans()
): string | null => {
  if (text.length < minChars) return null
  let reduced = text
  for (let pass = 0; pass < mostPasses; pass += 1) {
    // What is left may be of another language.
    const pack = language === null ? packFor(reduced) : (packs.find((each) => each.language === language) ?? null)
    const again = pack === null ? reduced : reducedOnce(reduced, rulesOf(pack, intensity), spansOf)
    if (again === reduced) return reduced.length < text.length && isFaithful(text, reduced, spansOf) ? reduced : null
    reduced = again
  }
  return null
}

export const cavemanEngine = (options: CavemanOptions): Engine => ({
  name: "caveman",
  compress: ({ kind, role, text }) => (kind === "text" && options.roles.includes(role) ? caveman(text, options) : null)
})
