/**
 * `reset-aware`: quota that is about to be renewed is spent first. The score joins a short window (5 hours, else hourly, else daily) and
 * a long one (weekly, else monthly):
 *
 *   session = .45·remaining + .55·urgency·(1 − remaining)      weekly = .25·remaining + .75·urgency·(1 − remaining)
 *   urgency = 1 − time to the reset / length of the window      unknown window .5, unknown reset: urgency .5
 *
 * A short window with less left than the guard lowers the score to max(.05, remaining / guard) of it; `guard` names what that takes off.
 * Targets with a used-up window come last with a score of 0. Among those within the tie band of the best, whose order the score leaves
 * open (full windows are worth the same whenever they end), the soonest reset leads; who shares it to the minute takes turns.
 *
 * Config: `resetAwareSessionWeight` .35 and `resetAwareWeeklyWeight` .65 (0–1, divided by their sum), `resetAwareTieBandPercent` 5 and
 * `resetAwareExhaustionGuardPercent` 10 (0–100).
 */
import { type ComboPolicy, noPolicy } from "../../../subjects/combos/entity/ComboPolicy.ts"
import type { QuotaWindow } from "../candidate/Candidate.ts"
import type { Score, Strategy } from "../candidate/Strategy.ts"
import { ordering, ranked, scoreOf, takingTurns } from "./Ordering.ts"
import { isUsedUp, lengthMs, soonestReset, windowsNow } from "./Quota.ts"

type Windows = ReadonlyArray<QuotaWindow>
type Weights = Readonly<Record<"session" | "weekly" | "guard", number>>

const sameResetMs = 60_000

const weightsOf = (policy: Pick<ComboPolicy, "resetAwareSessionWeight" | "resetAwareWeeklyWeight">): Weights => {
  const { resetAwareSessionWeight: session, resetAwareWeeklyWeight: weekly } = policy
  const sum = session + weekly
  return sum === 0 ? weightsOf(noPolicy) : { session: session / sum, weekly: weekly / sum, guard: -1 }
}

const find = (windows: Windows, names: ReadonlyArray<QuotaWindow["window"]>): QuotaWindow | null => {
  for (const name of names) {
    const found = windows.find(({ window }) => window === name)
    if (found !== undefined) return found
  }
  return null
}

const share = (value: number): number => Math.min(1, Math.max(0, value))

/** Worth of one window, [0, 1]. `rest` is the part of what is left in it. */
const worth = (quota: QuotaWindow | null, rest: number, nowMs: number): number => {
  if (quota === null) return 0.5
  const remaining = share(quota.remaining)
  const urgency = quota.resetAtMs === null ? 0.5 : share(1 - (quota.resetAtMs - nowMs) / lengthMs[quota.window])
  return rest * remaining + (1 - rest) * urgency * (1 - remaining)
}

const scored = (windows: Windows, weights: Weights, guard: number, nowMs: number): Score => {
  const short = find(windows, ["5h", "hourly", "daily"])
  const session = worth(short, 0.45, nowMs)
  const weekly = worth(find(windows, ["weekly", "monthly"]), 0.25, nowMs)
  const whole = weights.session * session + weights.weekly * weekly
  const left = isUsedUp(windows)
    ? 0
    : short !== null && short.remaining < guard
      ? Math.max(0.05, short.remaining / guard)
      : 1
  return scoreOf(weights, { session, weekly, guard: whole * (1 - left) })
}

export const resetAware: Strategy = ({ candidates, memory, nowMs, policy }) => {
  const weights = weightsOf(policy)
  const guard = policy.resetAwareExhaustionGuardPercent / 100
  const band = policy.resetAwareTieBandPercent / 100
  const scores = new Map<string, Score>()
  const ranking = ranked(candidates, (candidate) => {
    const windows = windowsNow(candidate, nowMs)
    const score = scored(windows, weights, guard, nowMs)
    scores.set(candidate.key, score)
    return [isUsedUp(windows) ? 1 : 0, -score.score]
  })
  const [usedUp, best = 0] = ranking[0]?.measures ?? []
  // A hair of slack: the same score must tie whatever order it was added up in.
  const worst = best * (1 - band) + 1e-9
  const equals = ranking.filter(({ measures: [out, score = 0] }) => out === usedUp && score <= worst)
  const leaders = ranked(
    equals.map(({ candidate }) => candidate),
    (candidate) => [soonestReset(windowsNow(candidate, nowMs))]
  )
  const until = (leaders[0]?.measures[0] ?? Infinity) + sameResetMs
  const tied = leaders.filter(({ measures: [reset = Infinity] }) => reset <= until).length
  const { memory: after, order } = takingTurns(candidates, [...leaders, ...ranking.slice(leaders.length)], tied, memory)
  return { ...ordering(order, tied < 2 ? "best use of quota" : "its turn among equals", after), scores, weights }
}
