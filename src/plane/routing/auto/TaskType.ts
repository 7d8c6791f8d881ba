/**
 * Guesses the task of a request from a bounded sample of its last user message (for the factor `taskFit`). Pure; the sample is read once
 * and only the result is kept: a decision record holds features, never text.
 */
import type { TaskType } from "../candidate/Candidate.ts"
import { signalWords, taskScriptWords, taskWords, type NamedTask } from "./TaskTerms.ts"

/** Characters of a sample that are looked at. */
export const sampleLength = 4_096

/** Counts of marks in the sample; each is bounded by the sample's length. */
export interface TextSignals {
  readonly taskType: TaskType
  readonly code: number
  readonly math: number
  readonly reasoning: number
  readonly domain: number
}

type Mark = NamedTask | "math" | "reasoning" | "domain"

/** Tasks in the order in which they win a tie: the narrower before the wider. */
const tasks: ReadonlyArray<NamedTask> = ["debugging", "review", "documentation", "coding", "planning", "analysis"]

const shortestStem = 4
const scripts = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/

/** Marks of a word, or of every word that begins with it. */
interface Entry {
  readonly text: string
  readonly isWhole: boolean
  readonly mark: Mark
}

/** Entries by their first letters: those that may match a word are found in one step. */
const entries = new Map<string, Array<Entry>>()
const anywhere: Array<readonly [string, Mark]> = []

const beginOf = (word: string): string => word.slice(0, shortestStem)

const put = (entry: Entry): void => {
  const begin = beginOf(entry.text)
  const known = entries.get(begin)
  if (known === undefined) entries.set(begin, [entry])
  else known.push(entry)
}

const learn = (words: string, mark: Mark): void => {
  for (const word of words.split(" ")) {
    if (scripts.test(word)) anywhere.push([word, mark])
    else if (word.endsWith("$")) put({ text: word.slice(0, -1), isWhole: true, mark })
    else put({ text: word, isWhole: word.length < shortestStem, mark })
  }
}

for (const task of tasks) {
  learn(taskWords[task], task)
  for (const word of taskScriptWords[task]) anywhere.push([word, task])
}
learn(signalWords.math, "math")
learn(signalWords.reasoning, "reasoning")
learn(signalWords.domain, "domain")

const letters = 26
const firstLetter = 97

/** Place of two small letters in the table below; -1 for anything else. */
const pairOf = (one: number, two: number): number => {
  const high = one - firstLetter
  const low = two - firstLetter
  return high >= 0 && high < letters && low >= 0 && low < letters ? high * letters + low : -1
}

/** Pairs of letters that an entry begins with: the first two letters of most words show that they have no mark. */
const begins = new Uint8Array(letters * letters)
for (const begin of entries.keys()) {
  const pair = pairOf(begin.charCodeAt(0), begin.charCodeAt(1))
  if (pair >= 0) begins[pair] = 1
}

const codeMark = /```|=>|\(\)|[;{}]\s*\n|\b(?:const|def|fn|func|import|return|SELECT|#include)\b/g
const crashMark =
  /\bat [\w.$<>]+ ?\([^)\n]{0,200}:\d+(?::\d+)?\)|Traceback \(most recent|panicked at|\b\w+(?:Error|Exception):/
const mathMark = /\$\$|\\(?:frac|int|sum|sqrt)|[∑∫√≤≥∂]/g

const matches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

const isAscii = /^[\0-\x7f]*$/

const isWordCode = (code: number): boolean =>
  (code >= firstLetter && code < firstLetter + letters) || (code >= 48 && code <= 57) || code === 45

/** Words of small letters, digits and hyphens that may have a mark. */
const eachAsciiWord = (lower: string, use: (word: string) => void): void => {
  const end = lower.length
  for (let at = 0; at < end; at += 1) {
    if (!isWordCode(lower.charCodeAt(at))) continue
    const start = at
    while (at < end && isWordCode(lower.charCodeAt(at))) at += 1
    const pair = at - start < 2 ? -1 : pairOf(lower.charCodeAt(start), lower.charCodeAt(start + 1))
    if (pair < 0 || begins[pair] === 1) use(lower.slice(start, at))
  }
}

const countMarks = (lower: string): Map<Mark, number> => {
  const counts = new Map<Mark, number>()
  const found = new Set<Mark>()
  // Once per word, however many entries it fits.
  const count = (): void => {
    for (const mark of found) counts.set(mark, (counts.get(mark) ?? 0) + 1)
    found.clear()
  }
  const read = (word: string): void => {
    const candidates = entries.get(beginOf(word))
    if (candidates === undefined) return
    for (const { isWhole, mark, text } of candidates) {
      if (isWhole ? word === text : word.startsWith(text)) found.add(mark)
    }
    if (found.size > 0) count()
  }
  if (isAscii.test(lower)) {
    eachAsciiWord(lower, read)
    return counts
  }
  for (const word of lower.split(/[^\p{L}\p{N}-]+/u)) read(word)
  if (scripts.test(lower)) {
    for (const [word, mark] of anywhere) {
      if (!lower.includes(word)) continue
      found.add(mark)
      count()
    }
  }
  return counts
}

/** Reads the first `sampleLength` characters of a text. */
export const readSample = (sample: string): TextSignals => {
  const text = sample.slice(0, sampleLength)
  const counts = countMarks(text.toLowerCase())
  const code = matches(text, codeMark)
  if (crashMark.test(text)) counts.set("debugging", (counts.get("debugging") ?? 0) + 2)
  // Pasted code alone is a weak sign: "review this" followed by a page of code is a review.
  if (code >= 2) counts.set("coding", (counts.get("coding") ?? 0) + 0.5)
  let taskType: TaskType = "default"
  let best = 0
  for (const task of tasks) {
    const count = counts.get(task) ?? 0
    if (count > best) {
      best = count
      taskType = task
    }
  }
  return {
    taskType,
    code: code + (counts.get("coding") ?? 0),
    math: matches(text, mathMark) + (counts.get("math") ?? 0),
    reasoning: counts.get("reasoning") ?? 0,
    domain: counts.get("domain") ?? 0
  }
}
