/** Config `predictiveTtftMs`: who is known to be slower to begin than that comes after all others. Pure. */
import type { ComboPolicy } from "../../../subjects/combos/entity/ComboPolicy.ts"
import type { Candidate } from "../candidate/Candidate.ts"

/** Fewer measured calls say nothing. */
const leastSamples = 5

export interface Predicted {
  readonly order: ReadonlyArray<Candidate>
  /** Candidates that were put last, with their usual time in ms; empty when all are slow. */
  readonly slow: ReadonlyMap<Candidate, number>
  /** All are slow: none was put last. */
  readonly relaxed: boolean
}

const noSlow: ReadonlyMap<Candidate, number> = new Map()

export const slowLast = (
  order: ReadonlyArray<Candidate>,
  { predictiveTtftMs: limitMs }: Pick<ComboPolicy, "predictiveTtftMs">
): Predicted => {
  if (limitMs === 0) return { order, slow: noSlow, relaxed: false }
  const slow = new Map<Candidate, number>()
  for (const candidate of order) {
    const { performance } = candidate
    if (performance === null || performance.samples < leastSamples) continue
    if (performance.ttftMs !== null && performance.ttftMs > limitMs) slow.set(candidate, performance.ttftMs)
  }
  if (slow.size === order.length) return { order, slow: noSlow, relaxed: slow.size > 0 }
  return { order: [...order.filter((candidate) => !slow.has(candidate)), ...slow.keys()], slow, relaxed: false }
}
