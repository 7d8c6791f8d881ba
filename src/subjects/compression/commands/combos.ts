/** `gateway compression combos` and `gateway context combos`. */
import { CompressionComboList } from "../../compressionCombos/routes.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const columns: ReadonlyArray<Column.Column<(typeof CompressionComboList.Type)["combos"][number]>> = [
  Column.name("COMBO", ({ name }) => name),
  Column.text("ENGINES", ({ pipeline }) => pipeline.map(({ engine }) => engine).join(" → ")),
  Column.text("ACTIVE", ({ isActive }) => (isActive ? "yes" : "no")),
  Column.text("ROUTING COMBOS", ({ routingComboIds }) => String(routingComboIds.length)),
  Column.text("ID", ({ id }) => id)
]

export const compressionCombos = asking("combos", "compressionCombos", {}, function* (client) {
  const value = yield* client.list()
  yield* Output.list({
    schema: CompressionComboList,
    value,
    rows: value.combos,
    columns,
    empty: "There is no compression combo."
  })
})
