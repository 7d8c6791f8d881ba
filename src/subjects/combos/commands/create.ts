/** `gateway combo create` */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ComboView, CreateCombo } from "../routes.ts"
import { ComboStrategy } from "../entity.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Output from "../../../cli/output/Output.ts"

const flags = {
  name: Args.text({ name: "name" }),
  models: Args.text({ name: "model" }).pipe(
    Args.withDescription("<provider>/<model> or combo:<name>, in the order they are tried."),
    Args.atLeast(1)
  ),
  strategy: Options.choice("strategy", ComboStrategy.literals).pipe(
    Options.withDescription("How a target is chosen."),
    Options.withDefault("priority" as const)
  ),
  ...Client.connection
}

export const comboCreate = Command.make("create", flags, (given) =>
  Effect.gen(function* () {
    const payload = yield* body(
      CreateCombo,
      { name: given.name, strategy: given.strategy, targets: given.models.map((model) => ({ model })) },
      { name: "<name>", strategy: "--strategy", targets: "<model>" }
    )
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "combos")
    const answer = yield* client.create({ payload }).pipe(Client.orExplain(to))
    const { name } = answer.combo
    yield* Output.result({
      schema: Schema.Struct({ combo: ComboView }),
      value: answer,
      text: Output.note(`The combo '${name}' is there; ask for it as the model '${name}'.`),
      name
    })
  })
)
