/** `gateway combo auto`: the automatic ids and what each would choose from. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AutoComboView } from "../../../api/Groups/Combos.ts"
import * as Client from "../../Client.ts"
import { json } from "../../Flags.ts"
import * as Output from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"

const tokens = (value: number | null): string => (value === null ? "-" : value.toLocaleString("en-US"))

const columns: ReadonlyArray<Column<AutoComboView>> = [
  { header: "MODEL", value: ({ id }) => id },
  { header: "CANDIDATES", value: ({ candidateCount }) => String(candidateCount), align: "right" },
  { header: "CONTEXT", value: (combo) => tokens(combo.context_length), align: "right" },
  { header: "MOST OUTPUT", value: (combo) => tokens(combo.max_output_tokens), align: "right" },
  {
    header: "POOL",
    value: ({ candidatePool }) => candidatePool.map((each) => `${each.provider}/${each.model}`).join(", ")
  }
]

export const comboAuto = Command.make("auto", { ...Client.connection, json }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "combos")
    const answer = yield* client.auto().pipe(Client.orExplain(to))
    yield* given.json
      ? Output.json(Schema.Struct({ combos: Schema.Array(AutoComboView) }), answer)
      : Output.rows(answer.combos, columns, "There are no automatic ids.")
  })
)
