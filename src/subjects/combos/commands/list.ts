/** `gateway combo list` */
import * as Schema from "effect/Schema"
import { comboListing, ComboView } from "../routes.ts"
import * as Output from "../../../cli/output/Output.ts"
import * as Column from "../../../cli/output/Column.ts"
import { serviceOf } from "../../../cli/gateway/Service.ts"
import { asking } from "../../../cli/verbs/asking.ts"
import { emptyOf, listingFlags, queryOf, tellLeftOut } from "../../../cli/verbs/listing.ts"

const Combos = Schema.Struct({ combos: Schema.Array(ComboView) })

const columns: ReadonlyArray<Column.Column<ComboView>> = [
  Column.name("NAME", (combo) => combo.name),
  Column.text("STRATEGY", (combo) => combo.strategy),
  Column.prose("TARGETS", (combo) => combo.targets.map(({ model }) => model).join(", ")),
  Column.yesNo("ACTIVE", (combo) => combo.isActive),
  Column.id("ID", (combo) => combo.id)
]

export const comboList = asking("list", "combos", listingFlags(comboListing), function* (_client, given, to) {
  const answer = yield* (yield* serviceOf(to, "combos", queryOf(given))).list()
  yield* Output.list({
    schema: Combos,
    value: answer,
    rows: answer.combos,
    columns,
    empty: emptyOf(given, "There are no combos yet. Make one with 'gateway combo create'.")
  })
  yield* tellLeftOut(answer.combos.length, answer.total)
})
