/**
 * `reset-window`: the soonest quota reset first, so that what would lapse is spent; then targets whose reset is not known, and last those
 * with a used-up window, which would refuse until then. Targets within the tie band of the soonest take turns.
 *
 * Config: `resetWindowWindows`, a name or a list of `session` (5 hours), `5h`, `hourly`, `daily`, `weekly`, `monthly`: only these windows
 * count, the soonest of them. Without it the weekly window counts, and for a target that has none its soonest other one.
 * `resetWindowTieBandMs` 60,000 (0–3,600,000).
 */
import type { QuotaWindow } from "../candidate/Candidate.ts"
import type { Strategy } from "../candidate/Strategy.ts"
import { ordering, ranked, takingTurns } from "./Ordering.ts"
import { isUsedUp, soonestReset, windowsNow } from "./Quota.ts"

type Windows = ReadonlyArray<QuotaWindow>

const resetOf = (windows: Windows, names: ReadonlyArray<string> | null): number => {
  if (names !== null) return soonestReset(windows.filter(({ window }) => names.includes(window)))
  const weekly = soonestReset(windows.filter(({ window }) => window === "weekly"))
  return weekly === Infinity ? soonestReset(windows) : weekly
}

export const resetWindow: Strategy = ({ candidates, memory, nowMs, policy }) => {
  const { resetWindowTieBandMs: bandMs, resetWindowWindows: names } = policy
  const ranking = ranked(candidates, (candidate) => {
    const windows = windowsNow(candidate, nowMs)
    return [isUsedUp(windows) ? 1 : 0, resetOf(windows, names)]
  })
  const [usedUp, first = Infinity] = ranking[0]?.measures ?? []
  const tied =
    first === Infinity
      ? 0
      : ranking.filter(({ measures: [out, reset = Infinity] }) => out === usedUp && reset <= first + bandMs).length
  const { memory: after, order } = takingTurns(candidates, ranking, tied, memory)
  const reason = first === Infinity ? "no reset is known" : tied < 2 ? "soonest reset" : "its turn among equals"
  return ordering(order, reason, after)
}
