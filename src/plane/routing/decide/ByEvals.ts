/** Config `evalRouting`: the targets whose models did best in evaluations come first. Pure. */
import type { EvalRouting } from "../../../subjects/combos/entity/ComboPolicy.ts"
import type { EvalScore } from "../../../subjects/evals/entity.ts"
import type { Candidate } from "../candidate/Candidate.ts"
import { byStrategy } from "../candidate/Reason.ts"
import type { Ordering, Score } from "../candidate/Strategy.ts"

/** Finds the results of a model, at most one of each suite. */
export type EvalLookup = (provider: string, model: string) => ReadonlyArray<EvalScore>

const best = byStrategy("best in evaluations")

interface Measured {
  /** The part of the cases that passed, [0, 1]. */
  readonly quality: number
  /** Milliseconds of a case. */
  readonly latencyMs: number
}

const measuredOf = (scores: ReadonlyArray<EvalScore>, policy: EvalRouting, nowMs: number): Measured | null => {
  const sinceMs = nowMs - policy.maxAgeHours * 3_600_000
  let cases = 0
  let passed = 0
  let latencyMs = 0
  for (const score of scores) {
    if (score.atMs < sinceMs || (policy.suiteIds !== null && !policy.suiteIds.has(score.suiteId))) continue
    cases += score.cases
    passed += score.passed
    latencyMs += score.latencyMs
  }
  return cases === 0 || cases < policy.minCases ? null : { quality: passed / cases, latencyMs: latencyMs / cases }
}

/** Orders by the scores, those without one behind the others; equal ones keep their order. Returns the ordering itself without any score. */
export const byEvals = <Own extends Ordering>(
  ordering: Own,
  policy: EvalRouting | null,
  of: EvalLookup | undefined,
  nowMs: number
): Own => {
  if (policy === null || of === undefined) return ordering
  const measured = new Map<Candidate, Measured>()
  for (const candidate of ordering.order) {
    const { account, model } = candidate.target
    const found = measuredOf(of(account.spec.id, model), policy, nowMs)
    if (found !== null) measured.set(candidate, found)
  }
  if (measured.size === 0) return ordering
  const fastestMs = [...measured.values()].reduce((least, { latencyMs }) => Math.min(least, latencyMs), Infinity)
  const scored = Array.from(measured, ([candidate, { latencyMs, quality }]) => {
    const latency = latencyMs === 0 ? 1 : fastestMs / latencyMs
    const score: Score = {
      score: policy.qualityWeight * quality + policy.latencyWeight * latency,
      factors: { quality, latency }
    }
    return { candidate, score }
  }).toSorted((a, b) => b.score.score - a.score.score)
  const others = ordering.order.filter((candidate) => !measured.has(candidate))
  return {
    ...ordering,
    order: [...scored.map(({ candidate }) => candidate), ...others],
    reason: best,
    scores: new Map(scored.map(({ candidate, score }) => [candidate.key, score])),
    weights: { quality: policy.qualityWeight, latency: policy.latencyWeight }
  }
}
