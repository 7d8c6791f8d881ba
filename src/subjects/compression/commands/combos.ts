/** `gateway compression combos` and `gateway context combos`. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { CompressionComboList } from "../../compressionCombos/routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"

const columns: ReadonlyArray<Column.Column<(typeof CompressionComboList.Type)["combos"][number]>> = [
  Column.name("COMBO", ({ name }) => name),
  Column.text("ENGINES", ({ pipeline }) => pipeline.map(({ engine }) => engine).join(" → ")),
  Column.text("ACTIVE", ({ isActive }) => (isActive ? "yes" : "no")),
  Column.text("ROUTING COMBOS", ({ routingComboIds }) => String(routingComboIds.length)),
  Column.text("ID", ({ id }) => id)
]

export const compressionCombos = Command.make("combos", Client.connection, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "compressionCombos")
    const value = yield* client.list().pipe(Client.orExplain(to))
    yield* Output.list({
      schema: CompressionComboList,
      value,
      rows: value.combos,
      columns,
      empty: "There is no compression combo."
    })
  })
)
