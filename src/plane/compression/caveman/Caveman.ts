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
  /** Language of the text; null: recognised by it. */
  readonly language: Language | null
}

export const defaultCaveman: CavemanOptions = { intensity: "full", roles: ["user"], minChars: 50, language: null }

/** Characters of a text by which its language is recognised. */
const languageChars = 2_000
/** A text of another language has fewer of its words. */
const leastMatches = 3

const escaped = (word: string): string => word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")

const beyondAscii = /[^\0-\x7f]/

/** Checks whether all characters of a text are ASCII: such a text is searched several times as fast. */
export const isAscii = (text: string): boolean => !beyondAscii.test(text)

/** Makes the pattern for a language with blanks between words: not inside a word, and not before an apostrophe. */
const bounded = (words: string): string => `(?<![\\p{L}\\p{N}'’-])(?:${words})(?![\\p{L}\\p{N}'’-])`

/** The same in a text of ASCII. */
const boundedAscii = (words: string): string => `(?<![A-Za-z\\d'-])(?:${words})(?![A-Za-z\\d'-])`

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

/** Rules for texts that are ASCII only, and for all others. */
interface RuleSets {
  readonly ascii: Rules
  readonly others: Rules
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

const rulesFor = (pack: Pack, rules: ReadonlyArray<Rule>): Rules => {
  const words = alternatives(rules.flatMap((rule) => rule.words))
  return {
    all: rules.map((rule) => readyOf(pack, rule)),
    any: new RegExp(pack.isUnspaced ? words : bounded(words), "iu")
  }
}

/** Words with other characters are in no text of ASCII. */
const asciiRulesFor = (rules: ReadonlyArray<Rule>): Rules => {
  const own = rules
    .map(({ replacement, words }) => ({ replacement, words: words.filter(isAscii) }))
    .filter(({ words }) => words.length > 0)
  return {
    all: own.map(({ replacement, words }) => ({
      pattern: new RegExp(`${boundedAscii(alternatives(words))}${replacement === "" ? ",?" : ""}`, "gi"),
      replacement
    })),
    any: own.length === 0 ? /(?!)/ : new RegExp(boundedAscii(alternatives(own.flatMap(({ words }) => words))), "i")
  }
}

const ready = new Map<string, RuleSets>()

const rulesOf = (pack: Pack, intensity: Intensity): RuleSets => {
  const name = `${pack.language} ${intensity}`
  const known = ready.get(name)
  if (known !== undefined) return known
  const most = intensities.indexOf(intensity)
  const rules = pack.rules.filter(({ minIntensity }) => intensities.indexOf(minIntensity) <= most)
  const others = rulesFor(pack, rules)
  const made: RuleSets = { others, ascii: pack.isUnspaced ? others : asciiRulesFor(rules) }
  ready.set(name, made)
  return made
}

const none: ReadonlyArray<number> = []

/** Packs, by their place in `packs`, that a word indicates. */
const packsByWord = new Map<string, ReadonlyArray<number>>()
for (const [at, { isUnspaced, tells }] of packs.entries()) {
  if (!isUnspaced) for (const word of tells) packsByWord.set(word, [...(packsByWord.get(word) ?? []), at])
}

const occurrences = (text: string, part: string): number => {
  let count = 0
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count += 1
  return count
}

/** The pack whose words are in the text most often; null when none does often enough. */
export const packFor = (text: string): Pack | null => {
  const sample = text.slice(0, languageChars).toLowerCase()
  const isPlain = isAscii(sample)
  const counts = packs.map(({ isUnspaced, tells }) =>
    isUnspaced && !isPlain ? tells.reduce((sum, word) => sum + occurrences(sample, word), 0) : 0
  )
  for (const word of sample.match(isPlain ? /[a-z]+/g : /\p{L}+/gu) ?? []) {
    for (const at of packsByWord.get(word) ?? none) counts[at] = (counts[at] ?? 0) + 1
  }
  let best: Pack | null = null
  let most = leastMatches - 1
  for (const [at, pack] of packs.entries()) {
    const count = counts[at] ?? 0
    if (count > most) [best, most] = [pack, count]
  }
  // Chinese signs are in Japanese texts, too.
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

/** Changes what is not protected of a text, once. */
type Reduce = (plain: string, isBegin: boolean) => string

const reduceBy =
  ({ ascii, others }: RuleSets): Reduce =>
  (plain, isBegin) => {
    if (plain === "") return plain
    const { all, any } = isAscii(plain) ? ascii : others
    if (!any.test(plain)) return plain
    let out = plain
    for (const { pattern, replacement } of all) out = out.replaceAll(pattern, replacement)
    if (out === plain) return plain
    const tidy = tidied(out)
    return isBegin ? tidy.trimStart() : tidy
  }

const packOf = (language: Language): Pack | null => packs.find((each) => each.language === language) ?? null

/** Makes the function for the rules of a language; null when it has none. */
export const reduceFor = (language: Language, intensity: Intensity): Reduce | null => {
  const pack = packOf(language)
  return pack === null ? null : reduceBy(rulesOf(pack, intensity))
}

/** Most passes: a removal may bring together parts that are removed then; beyond this the text is left alone. */
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
    const pack = language === null ? packFor(reduced) : packOf(language)
    const again = pack === null ? reduced : outsideSpans(reduced, reduceBy(rulesOf(pack, intensity)), spansOf)
    if (again === reduced) return reduced.length < text.length && isFaithful(text, reduced, spansOf) ? reduced : null
    reduced = again
  }
  return null
}

export const cavemanEngine = (options: CavemanOptions): Engine => ({
  name: "caveman",
  compress: ({ kind, role, text }) => (kind === "text" && options.roles.includes(role) ? caveman(text, options) : null)
})
