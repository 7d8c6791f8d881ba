/**
 * What a request is about, told from a bounded sample of its last user message (for the factor `taskFit`). Pure; the sample is read once
 * and only the result is kept: a decision record holds features, never text.
 */
import type { TaskType } from "../candidate/Candidate.ts"
import { signalWords, taskScriptWords, taskWords, type NamedTask } from "./TaskWords.ts"

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

/** The one named first wins a tie: the narrower task before the wider one. */
const tasks: ReadonlyArray<NamedTask> = ["debugging", "review", "documentation", "coding", "planning", "analysis"]

const shortestStem = 4
const longestStem = 14
const scripts = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/

const whole = new Map<string, Array<Mark>>()
const stems = new Map<string, Array<Mark>>()
const anywhere: Array<readonly [string, Mark]> = []

const put = (into: Map<string, Array<Mark>>, word: string, mark: Mark): void => {
  const marks = into.get(word)
  if (marks === undefined) into.set(word, [mark])
  else marks.push(mark)
}

const learn = (words: string, mark: Mark): void => {
  for (const word of words.split(" ")) {
    if (scripts.test(word)) anywhere.push([word, mark])
    else if (word.endsWith("$")) put(whole, word.slice(0, -1), mark)
    else put(word.length < shortestStem ? whole : stems, word, mark)
  }
}

for (const task of tasks) {
  learn(taskWords[task], task)
  for (const word of taskScriptWords[task]) anywhere.push([word, task])
}
learn(signalWords.math, "math")
learn(signalWords.reasoning, "reasoning")
learn(signalWords.domain, "domain")

const codeMark = /```|=>|\(\)|[;{}]\s*\n|\b(?:const|def|fn|func|import|return|SELECT|#include)\b/g
const crashMark =
  /\bat [\w.$<>]+ ?\([^)\n]{0,200}:\d+(?::\d+)?\)|Traceback \(most recent|panicked at|\b\w+(?:Error|Exception):/
const mathMark = /\$\$|\\(?:frac|int|sum|sqrt)|[∑∫√≤≥∂]/g

const matches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

const countMarks = (lower: string): Map<Mark, number> => {
  const counts = new Map<Mark, number>()
  const found = new Set<Mark>()
  const note = (marks: ReadonlyArray<Mark> | undefined): void => {
    for (const mark of marks ?? []) found.add(mark)
  }
  // Once per word, however many stems it fits.
  const count = (): void => {
    for (const mark of found) counts.set(mark, (counts.get(mark) ?? 0) + 1)
    found.clear()
  }
  for (const word of lower.split(/[^\p{L}\p{N}-]+/u)) {
    note(whole.get(word))
    const most = Math.min(word.length, longestStem)
    for (let length = shortestStem; length <= most; length++) note(stems.get(word.slice(0, length)))
    if (found.size > 0) count()
  }
  if (scripts.test(lower)) {
    for (const [word, mark] of anywhere) {
      if (!lower.includes(word)) continue
      note([mark])
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
