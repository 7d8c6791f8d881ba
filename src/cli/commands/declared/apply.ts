/** `gateway apply` */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type AnyChange, planOf } from "../../../declared/Plan.ts"
import { confirmOnTerminal, yes } from "../../asking/confirm.ts"
import { BadArgument } from "../../Failure.ts"
import * as Client from "../../gateway/Client.ts"
import * as Output from "../../output/Output.ts"
import { readDeclared } from "./File.ts"
import { make, presentAt } from "./Gateway.ts"

const flags = {
  file: Options.text("file").pipe(
    Options.withAlias("f"),
    Options.withDescription("The file, YAML or JSON; '-' is standard input.")
  ),
  dryRun: Options.boolean("dry-run").pipe(Options.withDescription("Show what would change, and change nothing.")),
  yes,
  ...Client.connection
}

const Answer = Schema.Struct({
  applied: Schema.Boolean,
  changes: Schema.Array(
    Schema.Struct({
      kind: Schema.String,
      name: Schema.String,
      action: Schema.Literal("create", "change"),
      fields: Schema.Array(Schema.String)
    })
  )
})

/** Names only: a value may be a secret. */
const lineOf = ({ fields, id, kind, name }: AnyChange): string =>
  id === null ? `+ ${kind} ${name}` : `~ ${kind} ${name}: ${fields.join(", ")}`

export const apply = Command.make("apply", flags, (given) =>
  Effect.gen(function* () {
    const wanted = yield* readDeclared(given.file)
    const to = yield* Client.target(given)
    const plan = yield* Effect.mapError(
      planOf(wanted, yield* presentAt(to)),
      (message) => new BadArgument({ message, hint: "Nothing was changed." })
    )
    yield* Effect.forEach(plan, (change) => Output.remark(lineOf(change)), { discard: true })
    const applied = !given.dryRun && plan.length > 0
    if (applied) {
      yield* confirmOnTerminal(given, `Make ${Output.counted(plan.length, "change")} at ${to.url}?`)
      yield* Effect.forEach(plan, (change) => make(to, change), { discard: true })
    }
    const sum = Output.counted(plan.length, "change")
    yield* Output.result({
      schema: Answer,
      value: {
        applied,
        changes: plan.map(({ fields, id, kind, name }) => ({
          kind,
          name,
          action: id === null ? ("create" as const) : ("change" as const),
          fields
        }))
      },
      text: Output.note(
        plan.length === 0 ? "Nothing to change." : applied ? `${sum} made at ${to.url}.` : `${sum} would be made.`
      ),
      name: given.file
    })
  })
)
