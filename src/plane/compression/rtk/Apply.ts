/**
 * Applies a filter to an output. Pure, deterministic, linear in the length of the text: each line is looked at once by each pattern, and by
 * no pattern further than `seenChars` characters.
 */
import type { rtkLevels } from "../../../subjects/rtk/entity.ts"
import type { Compiled } from "./Compiled.ts"
import { cutAfter, cutBefore, holdsNothing, isUnchanged } from "../ProtectedParts.ts"
import { isFailure, isKept, isTelling } from "./Kept.ts"
import { seenChars } from "./Pattern.ts"
import { shown, shownWhole } from "./Terminal.ts"

export interface Limits {
  /** `minimal` removes what says nothing, `standard` also shortens long outputs, `aggressive` to half as much. */
  readonly level: (typeof rtkLevels)[number]
  readonly maxLines: number
  readonly maxChars: number
  /** Number of equal lines from which on they become one. */
  readonly dedupeFrom: number
}

export const usualLimits: Limits = { level: "standard", maxLines: 120, maxChars: 12_000, dedupeFrom: 3 }

export interface Applied {
  readonly text: string
  /** Lines of the output that are not in the text as they were. 0: nothing but control characters and space was removed. */
  readonly left: number
  readonly of: number
}

interface Line {
  readonly text: string
  /** Stays when the output is too long. */
  readonly isKept: boolean
  /** Stays among lines like it. */
  readonly isOwn: boolean
  /** Lines of the output that it stands for. */
  readonly stands: number
}

const countOf = (count: number): string => ` (×${count})`

/** Checks whether a line was overwritten. */
const isOverwritten = (line: string): boolean => line.lastIndexOf("\r", line.length - 2) >= 0 && line.length > 1

/**
 * Lines of success go, and those that say nothing; what has to be kept stays. What is left of a line has its numbers, paths, addresses and
 * negations as they were.
 */
const chosen = (filter: Compiled, texts: ReadonlyArray<string>, isRecoverable: boolean): ReadonlyArray<Line> => {
  const lines: Array<Line> = []
  const { deduplicate, stripAnsi } = filter.filter.rules
  const terminal = isRecoverable ? shown : shownWhole
  // Where space may mean something, such as in code, it stays.
  const read =
    stripAnsi === false
      ? (line: string) => line
      : deduplicate === false
        ? terminal
        : (line: string) => terminal(line).trimEnd()
  for (const raw of texts) {
    const before = read(raw)
    const seen = before.slice(0, seenChars)
    const own =
      (!isRecoverable && !holdsNothing(before)) ||
      (filter.keep.length > 0 && filter.keep.some((each) => each.test(seen)))
    if (!own && filter.pass.some((pattern) => pattern.test(seen))) continue
    const mustStay = own || isKept(before)
    if (!mustStay && filter.drop.some((pattern) => pattern.test(seen))) continue
    const isImportant = mustStay || isTelling(before)
    if (!isImportant && filter.include.length > 0 && seen !== "" && !filter.include.some((each) => each.test(seen)))
      continue
    let text = before
    for (const { by, pattern } of filter.replace) {
      if (text.length > seenChars) break
      const replaced = pattern.replace(text, by).trimEnd()
      if (isUnchanged(text, replaced, own || isFailure(before))) text = replaced
    }
    lines.push({
      text,
      isKept: isImportant,
      isOwn: mustStay,
      stands: text === before && !(isRecoverable && isOverwritten(raw)) ? 1 : 2
    })
  }
  return lines
}

/** Runs of equal lines as one with their number, runs of empty lines as one, no empty lines at both ends. */
const withoutRuns = (lines: ReadonlyArray<Line>, from: number): ReadonlyArray<Line> => {
  if (from === Number.POSITIVE_INFINITY) return lines
  const result: Array<Line> = []
  for (let at = 0; at < lines.length;) {
    const line = lines[at]
    if (line === undefined) break
    let end = at + 1
    while (end < lines.length && lines[end]?.text === line.text) end += 1
    const count = end - at
    if (line.text === "") {
      if (result.length > 0 && end < lines.length) result.push(line)
    } else if (count >= from) result.push({ ...line, text: line.text + countOf(count), stands: count })
    else for (let each = at; each < end; each += 1) result.push(line)
    at = end
  }
  return result
}

/** Makes the placeholder for removed lines. */
const placeholder = (text: string, stands: number): Line => ({ text, isKept: false, isOwn: false, stands })

/** Reduces a run of lines that match the same pattern to the first and the last. */
const withoutAlike = (filter: Compiled, lines: ReadonlyArray<Line>, from: number): ReadonlyArray<Line> => {
  if (filter.collapse.length === 0) return lines
  const kindOf = ({ isOwn, text }: Line): number =>
    isOwn ? -1 : filter.collapse.findIndex((pattern) => pattern.test(text.slice(0, seenChars)))
  const result: Array<Line> = []
  let run: Array<Line> = []
  let kind = -1
  const end = (): void => {
    const [first] = run
    const last = run.at(-1)
    if (first === undefined || last === undefined) return
    // Three lines would be no fewer than three.
    if (run.length < Math.max(4, from)) result.push(...run)
    else result.push(first, placeholder(`… ${run.length - 2} lines like these`, run.length - 2), last)
    run = []
  }
  for (const line of lines) {
    const own = kindOf(line)
    if (own !== kind) {
      end()
      kind = own
    }
    if (own < 0) result.push(line)
    else run.push(line)
  }
  end()
  return result
}

/**
 * Shortens a line to its beginning and its end. A line that has to be kept is cut only beyond four times as many
 * characters, and where no part of the cut has to be kept.
 */
const shortened = (line: Line, most: number, isRecoverable: boolean): Line => {
  const { isKept: mustStay, text } = line
  const allowed = mustStay ? most * 4 : most
  if (text.length <= allowed + 40) return line
  const tail = Math.trunc(allowed / 4)
  const from = cutBefore(text, allowed - tail)
  const to = cutAfter(text, text.length - tail)
  if (to - from <= 40) return line
  const cut = text.slice(from, to)
  if (mustStay && (!isRecoverable || isKept(cut) || isTelling(cut))) return line
  const short = `${text.slice(0, from)} … ${to - from} characters … ${text.slice(to)}`
  return { ...line, text: short, stands: line.stands + 1 }
}

const gapOf = (count: number): Line => placeholder(`… ${count} lines …`, count)

/** The first and the last lines, and between them what has to be kept. */
const headAndTail = (lines: ReadonlyArray<Line>, head: number, tail: number): ReadonlyArray<Line> => {
  const result: Array<Line> = []
  let missing = 0
  let waiting: Line | null = null
  const gap = (): void => {
    // One line is not longer than what would be in its place.
    if (missing === 1 && waiting !== null) result.push(waiting)
    else if (missing > 0) result.push(gapOf(missing))
    missing = 0
  }
  for (const [at, line] of lines.entries()) {
    if (at < head || at >= lines.length - tail || line.isKept) {
      gap()
      result.push(line)
    } else {
      waiting = line
      missing += 1
    }
  }
  gap()
  return result
}

/** Selects as many of the first and last lines as fit in `most` characters, two thirds of them at the end. */
const within = (lines: ReadonlyArray<Line>, most: number): ReadonlyArray<Line> => {
  let chars = 0
  for (const { text } of lines) chars += text.length + 1
  if (chars <= most) return lines
  let head = 0
  for (let room = most / 3; head < lines.length; head += 1) {
    room -= (lines[head]?.text.length ?? 0) + 1
    if (room < 0) break
  }
  let tail = 0
  for (let room = (most * 2) / 3; tail < lines.length - head; tail += 1) {
    room -= (lines[lines.length - 1 - tail]?.text.length ?? 0) + 1
    if (room < 0) break
  }
  return headAndTail(lines, head, tail)
}

const limited = (
  filter: Compiled,
  lines: ReadonlyArray<Line>,
  limits: Limits,
  isRecoverable: boolean
): ReadonlyArray<Line> => {
  if (limits.level === "minimal") return lines
  const part = limits.level === "aggressive" ? 0.5 : 1
  const { rules } = filter.filter
  const scaled = (count: number): number => Math.max(1, Math.trunc(count * part))
  const mostLines = scaled(rules.maxLines ?? limits.maxLines)
  const mostChars = scaled(rules.maxChars ?? limits.maxChars)
  const at = rules.truncateLineAt
  const cut = at === undefined ? lines : lines.map((line) => shortened(line, scaled(at), isRecoverable))
  if (cut.length <= mostLines) return within(cut, mostChars)
  const asked = rules.tailLines === undefined ? Math.trunc((mostLines * 2) / 3) : scaled(rules.tailLines)
  const tail = Math.min(asked, mostLines)
  const head = Math.min(rules.headLines === undefined ? mostLines : scaled(rules.headLines), mostLines - tail)
  return within(headAndTail(cut, head, tail), mostChars)
}

/** Checks whether lines may be hidden by a message in their place. */
const isSilent = (lines: ReadonlyArray<Line>, isRecoverable: boolean): boolean =>
  !lines.some(({ text }) => isFailure(text) || isTelling(text) || !(isRecoverable || holdsNothing(text)))

/**
 * Hot: applies a filter to a tool's output. `isRecoverable`: whether the whole text can be restored; else no line is removed that holds a
 * number, a path, an address or a negation.
 */
export const apply = (filter: Compiled, text: string, limits: Limits, isRecoverable = true): Applied => {
  const { rules } = filter.filter
  const raw = text.split("\n")
  const of = text.endsWith("\n") ? raw.length - 1 : raw.length
  const lines = chosen(filter, raw, isRecoverable)
  const said = (message: string): Applied => ({ text: message, left: of, of })
  if (filter.whole.length > 0 && isSilent(lines, isRecoverable)) {
    for (const { by, pattern } of filter.whole) {
      for (const { text: line } of lines) {
        const message = pattern.expand(line.slice(0, seenChars), by)
        if (message !== null) return said(message)
      }
    }
  }
  const from = rules.deduplicate === false ? Number.POSITIVE_INFINITY : limits.dedupeFrom
  const runs = withoutRuns(withoutAlike(filter, withoutRuns(lines, from), limits.dedupeFrom), from)
  if (runs.length === 0 && of > 0 && rules.onEmpty !== undefined) return said(rules.onEmpty)
  const result = limited(filter, runs, limits, isRecoverable)
  const untouched = result.filter(({ stands }) => stands === 1).length
  const blank = raw.filter((line) => line.trim() === "").length
  const blankNow = result.filter((line) => line.text.trim() === "").length
  const left = Math.max(0, raw.length - blank - (untouched - blankNow))
  return { text: result.map((line) => line.text).join("\n"), left, of }
}
