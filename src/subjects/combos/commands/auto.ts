/** `gateway combo auto`: the automatic ids and what each would choose from. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AutoComboView } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import * as Column from "../../../cli/output/Column.ts"

const columns: ReadonlyArray<Column.Column<AutoComboView>> = [
  Column.name("MODEL", ({ id }) => id),
  Column.number("CANDIDATES", ({ candidateCount }) => candidateCount),
  Column.number("CONTEXT", (combo) => combo.context_length, Column.thousands),
  Column.number("MOST OUTPUT", (combo) => combo.max_output_tokens, Column.thousands),
  Column.prose("POOL", ({ candidatePool }) => candidatePool.map((each) => `${each.provider}/${each.model}`).join(", "))
]

export const comboAuto = Command.make("auto", Client.connection, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "combos")
    const answer = yield* client.auto().pipe(Client.orExplain(to))
    yield* Output.list({
      schema: Schema.Struct({ combos: Schema.Array(AutoComboView) }),
      value: answer,
      rows: answer.combos,
      columns,
      empty: "There are no automatic ids."
    })
  })
)
