/** `gateway combo list` */
import * as Schema from "effect/Schema"
import { ComboView } from "../routes.ts"
import * as Output from "../../../cli/output/Output.ts"
import * as Column from "../../../cli/output/Column.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const Combos = Schema.Struct({ combos: Schema.Array(ComboView) })

const columns: ReadonlyArray<Column.Column<ComboView>> = [
  Column.name("NAME", (combo) => combo.name),
  Column.text("STRATEGY", (combo) => combo.strategy),
  Column.prose("TARGETS", (combo) => combo.targets.map(({ model }) => model).join(", ")),
  Column.yesNo("ACTIVE", (combo) => combo.isActive),
  Column.id("ID", (combo) => combo.id)
]

export const comboList = asking("list", "combos", {}, function* (client) {
  const answer = yield* client.list()
  yield* Output.list({
    schema: Combos,
    value: answer,
    rows: answer.combos,
    columns,
    empty: "There are no combos yet. Make one with 'gateway combo create'."
  })
})
