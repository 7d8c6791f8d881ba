/** `gateway eval list`, `show` and `cancel`. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { OneReport, Overview } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { caseRows, findRun, page, runArg, shownRun, runColumns, scoreColumns, suiteColumns } from "./rows.ts"
import { asking } from "../../../cli/verbs/asking.ts"

export const evalList = asking("list", "evals", {}, function* (client) {
  const answer = yield* client.overview()
  yield* Output.list({
    schema: Overview,
    value: answer,
    rows: answer.suites,
    columns: suiteColumns,
    empty: "There are no suites."
  })
  yield* Output.section(answer.recentRuns, runColumns)
  yield* Output.section(answer.scorecard.targets, scoreColumns)
  if (answer.recentRuns.length === 0) {
    yield* Output.remark("\nNothing was run yet. Try 'gateway eval run golden-set auto'.")
  }
})

export const evalShow = Command.make("show", { run: shownRun, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { client, id } = yield* findRun(to, given.run)
    const answer = yield* client.run({ path: { id } }).pipe(Client.orExplain(to))
    const { run } = answer
    yield* Output.result({ schema: OneReport, value: answer, text: page(run), csv: caseRows(run), name: id })
  })
)

export const evalCancel = Command.make("cancel", { run: runArg, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { client, id } = yield* findRun(to, given.run)
    const answer = yield* client.cancel({ path: { id } }).pipe(Client.orExplain(to))
    const asked = answer.run.cases.length
    yield* Output.result({
      schema: OneReport,
      value: answer,
      text: Output.note(`The run is cancelled; ${asked} of ${answer.run.summary.total} cases were asked.`),
      name: id
    })
  })
)
