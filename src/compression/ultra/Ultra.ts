/**
 * The engine `ultra`: prose by the rules of `caveman`, and then without the words that say least. A word's score does not
 * depend on other texts, so that the same text always becomes the same. Pure and deterministic.
 */
import { caveman, packFor } from "../caveman/Caveman.ts"
import type { Language } from "../caveman/Pack.ts"
import type { Engine } from "../Engine.ts"
import { isFaithful, outsideSpans, rememberedSpans } from "../Spans.ts"
import { wordScores } from "./words.ts"

export interface UltraOptions {
  /** The least part of a sentence's words that has to be left; else the sentence stays whole. */
  readonly keepRate: number
  /** Words with a lower score go. */
  readonly minScore: number
  /** Shorter texts are left alone. */
  readonly minChars: number
  /** Null: told from the text. */
  readonly language: Language | null
}

export const defaultUltra: UltraOptions = { keepRate: 0.5, minScore: 0.3, minChars: 50, language: null }

const leastScore = 0.1
const lowScore = 0.2

const scores = new Map<Language, ReadonlyMap<string, number>>()

const scoresOf = (language: Language): ReadonlyMap<string, number> => {
  const known = scores.get(language)
  if (known !== undefined) return known
  const listed = wordScores[language]
  const made = new Map<string, number>()
  for (const word of listed?.low ?? []) made.set(word, lowScore)
  for (const word of listed?.least ?? []) made.set(word, leastScore)
  scores.set(language, made)
  return made
}

/** A word with the blank behind it. Words with an apostrophe or a hyphen are one. */
const words = /(?<![\p{L}\p{M}\p{N}'’_-])[\p{L}\p{M}]+(?![\p{L}\p{M}\p{N}'’_-]) ?/gu

/** The same, in a text of ASCII only, where it is found faster. */
const asciiWords = /(?<![A-Za-z\d'_-])[A-Za-z]+(?![A-Za-z\d'_-]) ?/g
const beyondAscii = /[^\0-\x7f]/

const sentencesOf = (plain: string): ReadonlyArray<string> => plain.split(/(?<=[.!?\n])/)

const pruned = (
  sentence: string,
  scoreOf: ReadonlyMap<string, number>,
  { keepRate, minScore }: UltraOptions
): string => {
  let all = 0
  let left = 0
  const out = sentence.replaceAll(beyondAscii.test(sentence) ? words : asciiWords, (word: string) => {
    all += 1
    // A single capital is a name: "plan A".
    const isName = word.length <= 3 && /^\p{Lu} ?$/u.test(word)
    if (!isName && (scoreOf.get(word.trim().toLowerCase()) ?? 1) < minScore) return ""
    left += 1
    return word
  })
  return left >= all * keepRate ? out : sentence
}

/** What goes may change what of a text is protected; beyond this the text is left alone. */
const mostPasses = 4

/** Null: the text stays as it is. */
export const ultra = (text: string, options: UltraOptions = defaultUltra): string | null => {
  if (text.length < options.minChars) return null
  const language = options.language ?? packFor(text)?.language ?? null
  if (language === null) return null
  const scoreOf = scoresOf(language)
  // Where words have scores, these decide about articles; `caveman` does where there are none between words.
  const intensity = scoreOf.size > 0 ? "full" : "ultra"
  const spansOf = rememberedSpans()
  let reduced = text
  for (let pass = 0; pass < mostPasses; pass += 1) {
    const plain = caveman(reduced, { ...options, language, intensity, roles: [] }, spansOf) ?? reduced
    const again = outsideSpans(
      plain,
      (part) =>
        part.length < 2
          ? part
          : sentencesOf(part)
              .map((sentence) => pruned(sentence, scoreOf, options))
              .join(""),
      spansOf
    )
    if (again === reduced) {
      // With fewer words its language may look like another one.
      const told = options.language ?? packFor(reduced)?.language ?? language
      return told === language && reduced.length < text.length && isFaithful(text, reduced, spansOf) ? reduced : null
    }
    reduced = again
  }
  return null
}

/** Of users and assistants. */
export const ultraEngine: Engine = {
  name: "ultra",
  compress: ({ kind, role, text }) =>
    kind === "text" && (role === "user" || role === "assistant") ? ultra(text) : null
}
