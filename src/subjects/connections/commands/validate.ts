/** `gateway providers validate`: whether connections are complete and their providers accept them. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ConnectionView } from "../routes.ts"
import { AlreadyReported } from "../../../cli/Failure.ts"
import { validateConnections } from "../../../cli/local/connections.ts"
import * as Output from "../../../cli/output/Output.ts"
import * as Column from "../../../cli/output/Column.ts"

const One = Schema.Struct({
  ...ConnectionView.pick("id", "provider", "name").fields,
  valid: Schema.Boolean,
  problems: Schema.Array(Schema.String)
})
const All = Schema.Struct({ results: Schema.Array(One) })

const columns: ReadonlyArray<Column.Column<typeof One.Type>> = [
  Column.name("NAME", (result) => result.name),
  Column.text("PROVIDER", (result) => result.provider, { fit: "keep" }),
  Column.yesNo("VALID", (result) => result.valid, { fit: "keep" }),
  Column.prose("PROBLEMS", (result) => result.problems.join(" ")),
  Column.id("ID", (result) => result.id)
]

const offline = Options.boolean("offline").pipe(
  Options.withDescription("Ask no provider; say only what is missing. A wrong key is not found.")
)

export const providersValidate = Command.make("validate", { offline }, (flags) =>
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
    yield* Output.list({
      schema: All,
      value: { results },
      rows: results,
      columns,
      empty: "There are no connections to validate."
    })
    if (results.some(({ valid }) => !valid)) return yield* new AlreadyReported()
  })
)
