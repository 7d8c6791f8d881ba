/**
 * Finds in what a user said, and in what was answered, the sentences that are worth remembering: preferences, decisions and habits. By rules,
 * not by a model. What is quoted, code, questions, conditions and whatever reads like an instruction to a model is passed over. Pure.
 */
import type { Memory } from "../../subjects/memory/entity.ts"
import { slugOf } from "./SearchTerms.ts"

/** Characters of a text that are read, from its end. */
export const readChars = 65_536
/** Most sentences that are learned from one turn. */
export const mostPerTurn = 5

const minChars = 8
const maxChars = 300
const maxSentences = 2_000

export type Learned = Pick<Memory, "type" | "key" | "content">

interface Rule {
  readonly category: "preference" | "decision" | "pattern"
  readonly pattern: RegExp
}

const typeOf = { preference: "factual", decision: "episodic", pattern: "procedural" } as const

const rule = (category: Rule["category"], pattern: RegExp): Rule => ({ category, pattern })

/** Patterns of statements that people make about themselves, in English and German. */
const ofUsers: ReadonlyArray<Rule> = [
  rule(
    "decision",
    /\b(?:i|we)(?:['’]ve| have|['’]re| are)? (?:just |finally |now )?(?:decided|agreed|chosen|chose|settled on|picked|going with)\b/i
  ),
  rule("decision", /\blet['’]?s (?:go with|use|stick with|settle on)\b/i),
  rule("decision", /\b(?:ich habe mich|wir haben uns)\b.*\bentschieden\b|\bwir haben beschlossen\b/i),
  rule("pattern", /\b(?:i|we) (?:always|usually|typically|normally|often|never|tend to)\b/i),
  rule("pattern", /\b(?:whenever|every time) (?:i|we)\b|\b(?:ich|wir) \S+ (?:immer|meistens|normalerweise|nie)\b/i),
  rule(
    "preference",
    /\bi(?: really| also| strongly| much| generally| would)? (?:prefer|like|love|enjoy|hate|dislike|favou?r)\b/i
  ),
  rule("preference", /\bmy (?:favou?rite|preferred|name is|job is|role is|time ?zone is)\b/i),
  rule("preference", /\bi (?:live in|work (?:as|at|for|in|with|on)|am allergic to|am an?|speak)\b/i),
  rule("preference", /\bi['’]m (?:an?|allergic to|based in)\b/i),
  rule("preference", /\b(?:always|never|please) (?:answer|reply|respond|write|format|call me|address me)\b/i),
  rule("preference", /\bich (?:bevorzuge|mag|hasse|heiße|arbeite|wohne|benutze|nutze)\b|\bmein name ist\b/i)
]

/** Patterns of statements about the user in an answer. */
const ofAnswers: ReadonlyArray<Rule> = [
  rule("decision", /\b(?:you|we)(?:['’]ve| have)? (?:decided|agreed|chosen|settled on)\b/i),
  rule("pattern", /\byou (?:always|usually|typically|normally|tend to)\b/i),
  rule("preference", /\byou(?: really| also)? (?:prefer|like|love|dislike|hate)\b/i),
  rule("preference", /\byour (?:favou?rite|preferred)\b/i)
]

/** Conditions and suppositions say nothing of what is. */
const supposed = /^(?:if|suppose|imagine|assum|let['’]s say|unless|would|wenn|falls|angenommen|stell dir vor)/i

/** Pattern of text that tries to give instructions to later readers. */
const commanding =
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|previous|prior|above|rules?|prompt|system)\b|\bsystem prompt\b|\bjailbreak\b|\byou are now\b|<\|/i

/** Numbers and words that look like a card, an account, a key or a password. */
const secretive =
  /\d[\d -]{7,}\d|\b[A-Z]{2}\d{2}[ A-Z\d]{10,}|\b(?=[\w-]*\d)[\w-]{20,}|\b(?:password|passphrase|passwort|kennwort|secret|api.?key|token|pin)\b/i

/** Characters of what a user says that are read: longer texts are pasted, and were written by others. */
const mostSaidChars = 4_000

/** Blocks that tools of the user have put into the turn. */
const taggedBlock = /<([a-z][\w-]*)>[^]*?<\/\1>/g

const isQuoted = (line: string): boolean => /^(?: {4}|\t)|^\s*(?:>|\||\$ |#|\d+\||[+-]{3} |@@)/.test(line)

/** The lines of a text outside of blocks of code, without what is quoted. */
const proseOf = (text: string): string => {
  let isCode = false
  const prose: Array<string> = []
  for (const line of text.slice(-readChars).split("\n")) {
    if (/^ {0,3}(?:```|~~~)/.test(line)) isCode = !isCode
    else if (!isCode && !isQuoted(line)) prose.push(line.replace(/^ {0,3}[*•-] /, ""))
  }
  return prose.join("\n")
}

const isPlain = (sentence: string): boolean =>
  sentence.length >= minChars &&
  sentence.length <= maxChars &&
  !/[?？]$/.test(sentence) &&
  !/["“”«»„`{}<>]|https?:/.test(sentence) &&
  !supposed.test(sentence) &&
  !commanding.test(sentence) &&
  !secretive.test(sentence)

const sentencesOf = (text: string): ReadonlyArray<string> =>
  proseOf(text)
    .split(/(?<=[.!?…。！？])\s|\n/)
    .slice(-maxSentences)
    .map((sentence) => sentence.trim())
    .filter(isPlain)

const keyOf = (category: Rule["category"], sentence: string): string => `${category}:${slugOf(sentence)}`

const learnedFrom = (text: string, rules: ReadonlyArray<Rule>): ReadonlyArray<Learned> =>
  sentencesOf(text).flatMap((content) => {
    const found = rules.find(({ pattern }) => pattern.test(content))
    return found === undefined ? [] : [{ type: typeOf[found.category], key: keyOf(found.category, content), content }]
  })

const ownWords = (said: string): string => (said.length > mostSaidChars ? "" : said.replaceAll(taggedBlock, "\n"))

/**
 * Collects the facts of a turn, each once. `answer`: null where it must not be learned from, because it may come from a tool.
 */
export const learnedOf = (said: string, answer: string | null): ReadonlyArray<Learned> => {
  const all = [...learnedFrom(ownWords(said), ofUsers), ...(answer === null ? [] : learnedFrom(answer, ofAnswers))]
  return [...new Map(all.map((learned) => [learned.key, learned])).values()].slice(0, mostPerTurn)
}
