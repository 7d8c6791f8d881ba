/** Suites, runs and cases as tables, and how they are found. */
import * as Args from "@effect/cli/Args"
import * as Effect from "effect/Effect"
import type { ResultView, RunReport, RunView, SuiteView, TargetScore } from "../routes.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { pick } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import { fields } from "../../../cli/output/Table.ts"
import * as Output from "../../../cli/output/Output.ts"
import { noun } from "../../../cli/verbs/noun.ts"

export const percent = (rate: number): string => `${Math.round(rate * 1_000) / 10} %`

export const dollars = (usd: number): string => `$${usd.toFixed(usd !== 0 && usd < 0.01 ? 6 : 4)}`

const passedOf = ({ failed, passed, total }: RunView["summary"]): string =>
  passed + failed === total ? `${passed} of ${total}` : `${passed} of ${passed + failed}, ${total} in all`

export const suiteColumns: ReadonlyArray<Column.Column<SuiteView>> = [
  Column.name("SUITE", ({ id }) => id),
  Column.text("NAME", ({ name }) => name),
  Column.number("CASES", ({ cases }) => cases.length),
  Column.yesNo("BUILT IN", ({ builtIn }) => builtIn)
]

export const runColumns: ReadonlyArray<Column.Column<RunView>> = [
  Column.id("RUN", ({ id }) => id, { isName: true }),
  Column.time("BEGUN", ({ startedAt }) => startedAt),
  Column.text("SUITE", ({ suiteName }) => suiteName),
  Column.text("TARGET", ({ target }) => target.id, { fit: "keep" }),
  Column.text("STATUS", (run) => run.status, { fit: "keep" }),
  Column.text("PASSED", ({ summary }) => passedOf(summary)),
  Column.number("COST", ({ summary }) => summary.costUsd, dollars)
]

export const scoreColumns: ReadonlyArray<Column.Column<TargetScore>> = [
  Column.name("TARGET", ({ target }) => target.id),
  Column.number("PASSED", ({ passRate }) => passRate, percent),
  Column.number("CASES", ({ total }) => total),
  Column.number("SUITES", ({ suites }) => suites.length),
  Column.number("MS", ({ avgLatencyMs }) => avgLatencyMs),
  Column.number("COST", ({ costUsd }) => costUsd, dollars)
]

const resultColumns: ReadonlyArray<Column.Column<ResultView>> = [
  Column.name("CASE", ({ name }) => name),
  Column.text("RESULT", ({ passed }) => (passed ? "passed" : "failed"), { fit: "keep" }),
  Column.number("MS", ({ latencyMs }) => latencyMs),
  Column.number("COST", ({ costUsd }) => costUsd, dollars),
  Column.prose("WHY", ({ reason }) => reason),
  Column.prose("ANSWER", ({ output }) => output?.replace(/\s+/g, " ")),
  Column.text("MODEL", ({ model, provider }) => (provider === null ? null : `${provider}/${model ?? ""}`), {
    in: "wide"
  }),
  Column.text("REQUEST", ({ requestId }) => requestId, { in: "wide" })
]

const summaryLine = ({ avgLatencyMs, costUsd, passRate, ...counts }: RunView["summary"]): string =>
  `${passedOf({ avgLatencyMs, costUsd, passRate, ...counts })} passed (${percent(passRate)}), ${dollars(costUsd)}${avgLatencyMs === null ? "" : `, ${avgLatencyMs} ms each`}`

export const caseRows = ({ cases }: RunReport): Effect.Effect<void> =>
  Output.rows(cases, resultColumns, "No case was asked yet.")

/** A run for people: how it went, then its cases. */
export const page = (run: RunReport): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { comparison } = run
    const names = new Map(run.cases.map(({ id, name }) => [id, name]))
    const named = (ids: ReadonlyArray<string>): string => Output.orDash(ids.map((id) => names.get(id) ?? id).join(", "))
    const lines: ReadonlyArray<readonly [string, string]> = [
      ["Suite", run.suiteName],
      ["Target", run.target.id],
      ["Status", run.reason === null ? run.status : `${run.status}: ${run.reason}`],
      ["Result", summaryLine(run.summary)],
      ...(comparison === null
        ? []
        : [
            ["Compared with", `${comparison.target.id} (${comparison.status})`] as const,
            ["Result there", summaryLine(comparison.summary)] as const,
            ["Passed only here", named(comparison.onlyHere)] as const,
            ["Passed only there", named(comparison.onlyThere)] as const
          ]),
      ["Run", run.id]
    ]
    yield* Output.print(fields(lines))
    yield* Output.print("")
    yield* caseRows(run)
  })

export const runArg = Args.text({ name: "run" }).pipe(
  Args.withDescription("Id of a run or the beginning of it; 'last' for the newest.")
)

export const shownRun = Args.withDefault(runArg, "last")

/** One of the last runs by a word, or by an id that is older than those. */
export const findRun = Effect.fnUntraced(function* (to: Client.Target, word: string) {
  const client = yield* Client.group(to, "evals")
  if (/^[\da-f-]{36}$/.test(word)) return { client, id: word }
  const { recentRuns } = yield* client.overview().pipe(Client.orExplain(to))
  const [newest] = recentRuns
  if (word === "last") {
    if (newest !== undefined) return { client, id: newest.id }
    return yield* new BadArgument({
      message: "Nothing was run yet.",
      hint: "Begin with 'gateway eval run golden-set auto'."
    })
  }
  const named = recentRuns.map(({ id }) => ({ id, name: id }))
  return { client, id: (yield* pick("run", named, word, "gateway eval list")).id }
})

export const suiteArg = Args.text({ name: "suite" }).pipe(
  Args.withDescription("Id or name of a suite; 'gateway eval list' shows them.")
)

export const suites = noun({
  what: "suite",
  group: "evals",
  argument: suiteArg,
  listing: "gateway eval list",
  list: (client) => client.overview(),
  rows: (answer) => answer.suites,
  one: (client, id) => Effect.map(client.suite({ path: { id } }), (answer) => answer.suite),
  nameOf: ({ name }) => name
})
