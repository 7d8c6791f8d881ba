/** `/api/evals`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Evals as EvalsGroup } from "./routes.ts"
import type { ResultView, RunReport as ReportView, RunView, SuiteView } from "./routes.ts"
import type { EvalResult, EvalRun, EvalSuite } from "./entity.ts"
import { Evals, type RunReport } from "./service.ts"
import { rateOf, type Scorecard } from "./Scorecard.ts"
import { currentPrincipal } from "../../entry/handling/AuditTrail.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { iso, isoOrNull, usd } from "../../entry/handling/Views.ts"

const suiteView = (suite: EvalSuite): SuiteView => ({
  id: suite.id,
  name: suite.name,
  builtIn: suite.createdAtMs === null,
  cases: suite.cases,
  createdAt: isoOrNull(suite.createdAtMs),
  updatedAt: isoOrNull(suite.updatedAtMs)
})

const averageOf = (sum: number, count: number): number | null => (count === 0 ? null : Math.round(sum / count))

const runView = (run: EvalRun): RunView => {
  const asked = run.passed + run.failed
  return {
    id: run.id,
    status: run.status,
    suiteId: run.suiteId,
    suiteName: run.suiteName,
    target: run.target,
    apiKeyId: run.apiKeyId,
    comparedWith: run.comparedWith,
    reason: run.reason,
    summary: {
      total: run.total,
      passed: run.passed,
      failed: run.failed,
      passRate: rateOf(run.passed, asked),
      costUsd: usd(run.costNanoUsd),
      avgLatencyMs: averageOf(run.latencyMs, asked)
    },
    startedAt: iso(run.startedAtMs),
    finishedAt: isoOrNull(run.finishedAtMs)
  }
}

const resultView = (result: EvalResult): ResultView => ({
  id: result.caseId,
  name: result.name,
  passed: result.passed,
  latencyMs: result.latencyMs,
  output: result.output,
  reason: result.reason,
  requestId: result.requestId,
  provider: result.provider,
  model: result.model,
  costUsd: usd(result.costNanoUsd)
})

/** Cases that passed in one run and did not in the other, of those that both have. */
const onlyIn = (here: ReadonlyArray<EvalResult>, there: ReadonlyArray<EvalResult>): ReadonlyArray<string> => {
  const failedThere = new Set(there.filter(({ passed }) => !passed).map(({ position }) => position))
  return here.filter(({ passed, position }) => passed && failedThere.has(position)).map(({ caseId }) => caseId)
}

const reportView = ({ other, results, run }: RunReport): ReportView => {
  const comparison =
    other === null
      ? null
      : {
          runId: other.run.id,
          status: other.run.status,
          target: other.run.target,
          summary: runView(other.run).summary,
          onlyHere: onlyIn(results, other.results),
          onlyThere: onlyIn(other.results, results)
        }
  return { ...runView(run), cases: results.map(resultView), comparison }
}

const scorecardView = ({ passRate, passed, targets, total }: Scorecard) => ({
  total,
  passed,
  passRate,
  targets: targets.map(({ avgLatencyMs, costNanoUsd, suites, ...score }) => ({
    ...score,
    avgLatencyMs: avgLatencyMs === null ? null : Math.round(avgLatencyMs),
    costUsd: usd(costNanoUsd),
    suites: suites.map(({ finishedAtMs, ...suite }) => ({ ...suite, finishedAt: isoOrNull(finishedAtMs) }))
  }))
})

const begun = ({ id, status }: EvalRun) => ({ id, status })

export const layer = HttpApiBuilder.group(contractOf(EvalsGroup), "evals", (handlers) =>
  Effect.map(Evals, (evals) =>
    handlers
      .handle("overview", () =>
        answered(
          Effect.map(evals.overview, ({ recentRuns, scorecard, suites }) => ({
            suites: suites.map(suiteView),
            recentRuns: recentRuns.map(runView),
            scorecard: scorecardView(scorecard)
          }))
        )
      )
      .handle("start", ({ payload }) =>
        answered(
          Effect.map(
            Effect.flatMap(currentPrincipal, (starter) => evals.start(payload, starter)),
            ({ compareRun, run }) => ({
              run: begun(run),
              compareRun: compareRun === null ? null : begun(compareRun)
            })
          )
        )
      )
      .handle("run", ({ path }) => answered(Effect.map(evals.run(path.id), (report) => ({ run: reportView(report) }))))
      .handle("cancel", ({ path }) =>
        answered(Effect.map(evals.cancel(path.id), (report) => ({ run: reportView(report) })))
      )
      .handle("createSuite", ({ payload }) =>
        answered(Effect.map(evals.createSuite(payload), (suite) => ({ suite: suiteView(suite) })))
      )
      .handle("suite", ({ path }) =>
        answered(Effect.map(evals.suite(path.id), (suite) => ({ suite: suiteView(suite) })))
      )
      .handle("updateSuite", ({ path, payload }) =>
        answered(Effect.map(evals.updateSuite(path.id, payload), (suite) => ({ suite: suiteView(suite) })))
      )
      .handle("removeSuite", ({ path }) => answered(evals.removeSuite(path.id)))
  )
)
