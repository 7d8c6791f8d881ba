/** Sums the results of the last complete run of each suite over each target. Pure. */
import type { EvalRun, EvalTarget } from "./entity.ts"

interface Sums {
  readonly total: number
  readonly passed: number
  /** Part of the cases that passed, from 0 to 1; 0 without cases. */
  readonly passRate: number
}

export interface SuiteScore extends Sums {
  readonly id: string
  readonly name: string
  readonly runId: string
  readonly finishedAtMs: number | null
}

export interface TargetScore extends Sums {
  readonly target: EvalTarget
  /** Milliseconds of a case, on average; null without cases. */
  readonly avgLatencyMs: number | null
  readonly costNanoUsd: number
  readonly suites: ReadonlyArray<SuiteScore>
}

export interface Scorecard extends Sums {
  /** Best first. */
  readonly targets: ReadonlyArray<TargetScore>
}

export const rateOf = (passed: number, total: number): number => (total === 0 ? 0 : passed / total)

const sumOf = <A>(list: ReadonlyArray<A>, of: (item: A) => number): number =>
  list.reduce((sum, item) => sum + of(item), 0)

const sumsOf = (runs: ReadonlyArray<EvalRun>): Sums => {
  const total = sumOf(runs, (run) => run.total)
  const passed = sumOf(runs, (run) => run.passed)
  return { total, passed, passRate: rateOf(passed, total) }
}

const suiteScore = (run: EvalRun): SuiteScore => ({
  id: run.suiteId,
  name: run.suiteName,
  runId: run.id,
  finishedAtMs: run.finishedAtMs,
  ...sumsOf([run])
})

/** `runs`: newest first. */
export const scorecardOf = (runs: ReadonlyArray<EvalRun>): Scorecard => {
  const byTarget = new Map<string, { readonly target: EvalTarget; readonly suites: Map<string, EvalRun> }>()
  for (const run of runs) {
    if (run.status !== "completed") continue
    const key = `${run.target.type} ${run.target.id}`
    const known = byTarget.get(key) ?? { target: run.target, suites: new Map<string, EvalRun>() }
    byTarget.set(key, known)
    if (!known.suites.has(run.suiteId)) known.suites.set(run.suiteId, run)
  }
  const last = [...byTarget.values()].map(({ suites, target }) => ({ target, runs: [...suites.values()] }))
  const targets = last.map(({ runs: own, target }): TargetScore => {
    const sums = sumsOf(own)
    return {
      target,
      ...sums,
      avgLatencyMs: sums.total === 0 ? null : sumOf(own, (run) => run.latencyMs) / sums.total,
      costNanoUsd: sumOf(own, (run) => run.costNanoUsd),
      suites: own.map(suiteScore)
    }
  })
  return {
    ...sumsOf(last.flatMap(({ runs: own }) => own)),
    targets: targets.toSorted((a, b) => b.passRate - a.passRate)
  }
}
