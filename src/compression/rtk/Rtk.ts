/**
 * The engine `rtk`: outputs of commands without what says nothing. Texts it has worked on end with a line that says how many lines were left
 * out and where the whole text is; such texts are left as they are, so that it does nothing to its own results. Pure and deterministic.
 */
import { apply, type Limits } from "./Apply.ts"
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
  /** Whether the marker with the id of the raw output stands in it. */
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
 * Hot: on outputs of tools. Null: left as it is, because no filter is for it or it would not become shorter. `keep` is called only for a
 * text that is replaced, and gives the id of the whole text, or null where it is not kept.
 */
export const reduce = (
  filters: ReadonlyArray<Compiled>,
  { command, text }: Output,
  limits: Limits,
  keep: (raw: string) => string | null
): Reduced | null => {
  if (text.length < leastChars || isReduced(text)) return null
  const filter = filterFor(filters, command, text)
  if (filter === null) return null
  const { left, of, text: applied } = apply(filter, text, limits)
  const { id } = filter.filter
  if (left === 0) return applied.length < text.length ? { text: applied, filter: id, isMarked: false } : null
  // An id has fewer characters to a token than words have: what is saved has to be more than the marker.
  const marker = markerOf(id, left, of, "x".repeat(rawIdChars))
  if (weightOf(text) - weightOf(applied) < marker.length * 2) return null
  return { text: `${applied}\n${markerOf(id, left, of, keep(text))}`, filter: id, isMarked: true }
}

/** Length of an id of a raw output. */
export const rawIdChars = 24
