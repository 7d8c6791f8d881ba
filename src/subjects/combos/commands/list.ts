/** `gateway combo list` */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ComboView } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import * as Column from "../../../cli/output/Column.ts"

const Combos = Schema.Struct({ combos: Schema.Array(ComboView) })

const columns: ReadonlyArray<Column.Column<ComboView>> = [
  Column.name("NAME", (combo) => combo.name),
  Column.text("STRATEGY", (combo) => combo.strategy),
  Column.prose("TARGETS", (combo) => combo.targets.map(({ model }) => model).join(", ")),
  Column.yesNo("ACTIVE", (combo) => combo.isActive),
  Column.id("ID", (combo) => combo.id)
]

export const comboList = Command.make("list", Client.connection, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const client = yield* Client.group(to, "combos")
    const answer = yield* client.list().pipe(Client.orExplain(to))
    yield* Output.list({
      schema: Combos,
      value: answer,
      rows: answer.combos,
      columns,
      empty: "There are no combos yet. Make one with 'gateway combo create'."
    })
  })
)
