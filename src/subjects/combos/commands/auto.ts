/** `gateway combo auto`: the automatic ids and what each would choose from. */
import * as Schema from "effect/Schema"
import { AutoComboView } from "../routes.ts"
import * as Output from "../../../cli/output/Output.ts"
import * as Column from "../../../cli/output/Column.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const columns: ReadonlyArray<Column.Column<AutoComboView>> = [
  Column.name("MODEL", ({ id }) => id),
  Column.number("CANDIDATES", ({ candidateCount }) => candidateCount),
  Column.number("CONTEXT", (combo) => combo.context_length, Column.thousands),
  Column.number("MOST OUTPUT", (combo) => combo.max_output_tokens, Column.thousands),
  Column.prose("POOL", ({ candidatePool }) => candidatePool.map((each) => `${each.provider}/${each.model}`).join(", "))
]

export const comboAuto = asking("auto", "combos", {}, function* (client) {
  const answer = yield* client.auto()
  yield* Output.list({
    schema: Schema.Struct({ combos: Schema.Array(AutoComboView) }),
    value: answer,
    rows: answer.combos,
    columns,
    empty: "There are no automatic ids."
  })
})
