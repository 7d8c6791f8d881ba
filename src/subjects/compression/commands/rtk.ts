/** `gateway compression filters`, `test` and `raw`. */
import * as Args from "@effect/cli/Args"
import * as Option from "effect/Option"
import { RawOutputView, RtkFilterList, RtkReport } from "../../rtk/routes.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const filterColumns: ReadonlyArray<Column.Column<(typeof RtkFilterList.Type)["filters"][number]>> = [
  Column.name("FILTER", ({ id }) => id),
  Column.text("ABOUT", ({ category }) => category),
  Column.prose("LEAVES OUT", ({ description }) => description),
  Column.text("FROM", ({ source }) => source),
  Column.text("ON", ({ enabled }) => (enabled ? "yes" : "no"))
]

export const compressionFilters = asking("filters", "rtk", {}, function* (client) {
  const value = yield* client.filters()
  yield* Output.list({
    schema: RtkFilterList,
    value,
    rows: value.filters,
    columns: filterColumns,
    empty: "There is no filter."
  })
})

const filter = Args.text({ name: "filter" }).pipe(
  Args.withDescription("Id of a filter; without it, all are tested."),
  Args.optional
)

type Result = (typeof RtkReport.Type)["results"][number]

const resultColumns: ReadonlyArray<Column.Column<Result>> = [
  Column.name("FILTER", (result) => result.filter),
  Column.prose("TEST", ({ name }) => name),
  Column.text("PASSED", ({ passed }) => (passed ? "yes" : "no")),
  Column.prose("WHY NOT", ({ reason }) => reason ?? "-")
]

export const compressionTest = asking("test", "rtk", { filter }, function* (client, given) {
  const payload = Option.match(given.filter, { onNone: () => ({}), onSome: (filterId) => ({ filterId }) })
  const value = yield* client.test({ payload })
  const rows = Option.isSome(given.filter) ? value.results : value.results.filter(({ passed }) => !passed)
  const empty = `All ${value.passed} tests passed.`
  yield* Output.list({ schema: RtkReport, value, rows, columns: resultColumns, empty })
})

const id = Args.text({ name: "id" }).pipe(Args.withDescription("The id after 'raw-output/' in a compressed text."))

export const compressionRaw = asking("raw", "rtk", { id }, function* (client, given) {
  const value = yield* client.rawOutput({ path: { id: given.id }, urlParams: {} })
  yield* Output.result({ schema: RawOutputView, value, text: Output.print(value.content), name: value.id })
})
