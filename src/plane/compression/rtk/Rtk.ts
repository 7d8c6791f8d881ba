/**
 * The engine `rtk`: outputs of commands without what says nothing. Texts it has worked on end with a line that says how many lines were left
 * out and where the whole text is; such texts are left as they are, so that it does nothing to its own results. Pure and deterministic.
 */
import { type Applied, apply, type Limits } from "./Apply.ts"
import type { Compiled } from "./Compiled.ts"
import { filterFor } from "./Detect.ts"

/** An output of a tool, with the command that wrote it as the tool was called with it; null: not known. */
export interface Output {
  readonly text: string
  readonly command: string | null
}

export interface Reduced {
  readonly text: string
  /** Id of the filter. */
  readonly filter: string
  /** True when the marker with the id of the raw output is in it. */
  readonly isMarked: boolean
}

/** Shorter texts are not worth the line that says what was left out. */
export const leastChars = 200

const markerStart = "[rtk "
const marked = /\n\[rtk [a-z0-9._-]{1,64}: [^\n]{1,200}\]$/

/** `rawId` null: the whole text is not kept. */
const markerOf = (filter: string, left: number, of: number, rawId: string | null): string => {
  const where = rawId === null ? "" : `; whole output: raw-output/${rawId}`
  return `${markerStart}${filter}: ${left} of ${of} lines left out or shortened${where}]`
}

export const isReduced = (text: string): boolean => marked.test(text.slice(-300))

/** Characters, with those of a run of space as one: it is one token. */
const weightOf = (text: string): number => text.replaceAll(/\s+/g, " ").length

/**
 * Hot: reduces a tool's output. Null: left as it is, because there is no filter for it or it would not become shorter. `keep` is called
 * only for a text that is replaced, and returns the id of the whole text, or null where it is not stored: then no line is removed that
 * holds a number, a path, an address or a negation. `affords`: whether as many steps of foreign patterns may be taken.
 */
export const reduce = (
  filters: ReadonlyArray<Compiled>,
  { command, text }: Output,
  limits: Limits,
  keep: (raw: string) => string | null,
  affords: (steps: number) => boolean = () => true
): Reduced | null => {
  if (text.length < leastChars || isReduced(text)) return null
  const filter = filterFor(filters, command, text)
  if (filter === null || !affords(2 * filter.steps * text.length)) return null
  const applied = apply(filter, text, limits)
  const { id } = filter.filter
  if (applied.left === 0) return plainly(id, text, applied)
  if (!isWorth(id, text, applied)) return null
  const rawId = keep(text)
  if (rawId !== null) return markedWith(id, applied, rawId)
  const faithful = apply(filter, text, limits, false)
  if (faithful.left === 0) return plainly(id, text, faithful)
  return isWorth(id, text, faithful) ? markedWith(id, faithful, null) : null
}

const plainly = (filter: string, before: string, { text }: Applied): Reduced | null =>
  text.length < before.length ? { text, filter, isMarked: false } : null

/** An id has fewer characters to a token than words have: what is saved has to be more than the marker. */
const isWorth = (filter: string, before: string, { left, of, text }: Applied): boolean =>
  weightOf(before) - weightOf(text) >= markerOf(filter, left, of, "x".repeat(rawIdChars)).length * 2

const markedWith = (filter: string, { left, of, text }: Applied, rawId: string | null): Reduced => ({
  text: `${text}\n${markerOf(filter, left, of, rawId)}`,
  filter,
  isMarked: true
})

/** Length of an id of a raw output. */
export const rawIdChars = 24
