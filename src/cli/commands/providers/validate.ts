/** `gateway providers validate`: whether connections are complete and their providers accept them. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ConnectionView } from "../../../api/Groups/Providers.ts"
import { AlreadyReported } from "../../Failure.ts"
import { json } from "../../Flags.ts"
import { validateConnections } from "../../local/connections.ts"
import * as Output from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"

const One = Schema.Struct({
  ...ConnectionView.pick("id", "provider", "name").fields,
  valid: Schema.Boolean,
  problems: Schema.Array(Schema.String)
})
const All = Schema.Struct({ results: Schema.Array(One) })

const columns: ReadonlyArray<Column<typeof One.Type>> = [
  { header: "PROVIDER", value: (result) => result.provider },
  { header: "NAME", value: (result) => result.name },
  { header: "VALID", value: (result) => Output.yesNo(result.valid) },
  { header: "PROBLEMS", value: (result) => result.problems.join(" ") || "-" },
  { header: "ID", value: (result) => result.id }
]

const offline = Options.boolean("offline").pipe(
  Options.withDescription("Ask no provider; say only what is missing. A wrong key is not found.")
)

export const providersValidate = Command.make("validate", { offline, json }, (flags) =>
  Effect.gen(function* () {
    const results = (yield* validateConnections(flags.offline)).map(
      ({ connection: { id, name, provider }, problems }) => ({
        id,
        provider,
        name,
        valid: problems.length === 0,
        problems
      })
    )
    yield* flags.json
      ? Output.json(All, { results })
      : Output.rows(results, columns, "There are no connections to validate.")
    if (results.some(({ valid }) => !valid)) return yield* new AlreadyReported()
  })
)
