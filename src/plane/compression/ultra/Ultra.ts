/**
 * The engine `ultra`: prose by the rules of `caveman`, and then without the words that say least. A word's score does not
 * depend on other texts, so that the same text always becomes the same. Pure and deterministic.
 */
import { isAscii, packFor, reduceFor } from "../caveman/Caveman.ts"
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
  /** Language of the text; null: recognised by it. */
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

/** The words that may go, each with the blank behind it: not a part of one with an apostrophe or a hyphen. */
interface Going {
  readonly ascii: RegExp
  readonly others: RegExp
}

const wordsOf = (scoreOf: ReadonlyMap<string, number>, minScore: number): Going | null => {
  const words = [...scoreOf].filter(([, score]) => score < minScore).map(([word]) => word)
  if (words.length === 0) return null
  const all = words.join("|")
  const ascii = words.filter(isAscii).join("|")
  return {
    ascii: ascii === "" ? /(?!)/g : new RegExp(`(?<![A-Za-z\\d'_-])(?:${ascii})(?![A-Za-z\\d'_-]) ?`, "gi"),
    others: new RegExp(`(?<![\\p{L}\\p{M}\\p{N}'’_-])(?:${all})(?![\\p{L}\\p{M}\\p{N}'’_-]) ?`, "giu")
  }
}

const isLetter = (code: number): boolean =>
  (code > 96 && code < 123) || (code > 64 && code < 91) || code === 39 || code > 127

/** Runs of letters. */
const wordsIn = (text: string): number => {
  let count = 0
  let inWord = false
  for (let at = 0; at < text.length; at += 1) {
    const letter = isLetter(text.charCodeAt(at))
    if (letter && !inWord) count += 1
    inWord = letter
  }
  return count
}

const sentencesOf = (plain: string): ReadonlyArray<string> => plain.split(/(?<=[.!?\n])/)

const pruned = (sentence: string, going: RegExp, keepRate: number): string => {
  let gone = 0
  const out = sentence.replaceAll(going, (word: string) => {
    // A single capital is a name: "plan A".
    if (word.length <= 3 && /^\p{Lu} ?$/u.test(word)) return word
    gone += 1
    return ""
  })
  if (gone === 0) return sentence
  const all = wordsIn(sentence)
  return all - gone >= all * keepRate ? out : sentence
}

/** Most parts between what is protected hold no word that goes. */
const prunedPart = (part: string, { ascii, others }: Going, keepRate: number): string => {
  if (part.length < 2) return part
  const going = isAscii(part) ? ascii : others
  if (part.search(going) === -1) return part
  return sentencesOf(part)
    .map((sentence) => pruned(sentence, going, keepRate))
    .join("")
}

const patterns = new Map<string, Going | null>()

const goingOf = (language: Language, minScore: number): Going | null => {
  const name = `${language} ${minScore}`
  const known = patterns.get(name)
  if (known !== undefined) return known
  const made = wordsOf(scoresOf(language), minScore)
  // Of languages and settings there are few.
  if (patterns.size < 100) patterns.set(name, made)
  return made
}

/** Most passes: a removal may change which parts of a text are protected; beyond this the text is left alone. */
const mostPasses = 4

/** Null: the text stays as it is. */
export const ultra = (text: string, options: UltraOptions = defaultUltra): string | null => {
  if (text.length < options.minChars) return null
  const language = options.language ?? packFor(text)?.language ?? null
  if (language === null) return null
  const scoreOf = scoresOf(language)
  // Where words have scores, these decide about articles; `caveman` does where there are none between words.
  const intensity = scoreOf.size > 0 ? "full" : "ultra"
  const reduce = reduceFor(language, intensity)
  const going = goingOf(language, options.minScore)
  const spansOf = rememberedSpans()
  const step = (part: string, isBegin: boolean): string => {
    const plain = reduce === null ? part : reduce(part, isBegin)
    return going === null ? plain : prunedPart(plain, going, options.keepRate)
  }
  let reduced = text
  for (let pass = 0; pass < mostPasses; pass += 1) {
    const again = outsideSpans(reduced, step, spansOf)
    if (again === reduced) {
      // With fewer words its language may look like another one.
      const recognised = options.language ?? packFor(reduced)?.language ?? language
      return recognised === language && reduced.length < text.length && isFaithful(text, reduced, spansOf)
        ? reduced
        : null
    }
    reduced = again
  }
  return null
}

/** Engine for texts of users and assistants. */
export const ultraEngine: Engine = {
  name: "ultra",
  compress: ({ kind, role, text }) =>
    kind === "text" && (role === "user" || role === "assistant") ? ultra(text) : null
}
