/** `gateway combo list` */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ComboView } from "../../../api/Groups/Combos.ts"
import * as Client from "../../Client.ts"
import { json } from "../../Flags.ts"
import * as Output from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"

const Combos = Schema.Struct({ combos: Schema.Array(ComboView) })

const columns: ReadonlyArray<Column<ComboView>> = [
  { header: "NAME", value: (combo) => combo.name },
  { header: "STRATEGY", value: (combo) => combo.strategy },
  { header: "TARGETS", value: (combo) => combo.targets.map(({ model }) => model).join(", ") || "-" },
  { header: "ACTIVE", value: (combo) => Output.yesNo(combo.isActive) },
  { header: "ID", value: (combo) => combo.id }
]

export const comboList = Command.make("list", { ...Client.connection, json }, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const client = yield* Client.group(to, "combos")
    const answer = yield* client.list().pipe(Client.orExplain(to))
    yield* flags.json
      ? Output.json(Combos, answer)
      : Output.rows(answer.combos, columns, "There are no combos yet. Make one with 'gateway combo create'.")
  })
)
