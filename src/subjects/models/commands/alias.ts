/** `gateway models alias …`: other names for models. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AliasSet, AliasView, SetAlias } from "../../aliases/routes.ts"
import { confirmOnTerminal, yes } from "../../../cli/asking/confirm.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Output from "../../../cli/output/Output.ts"
import * as Column from "../../../cli/output/Column.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const Aliases = Schema.Struct({ aliases: Schema.Array(AliasView) })

const columns: ReadonlyArray<Column.Column<AliasView>> = [
  Column.name("ALIAS", ({ alias }) => alias),
  Column.text("STANDS FOR", ({ model }) => model, { fit: "keep" })
]

const alias = Args.text({ name: "alias" })
const model = Args.text({ name: "model" }).pipe(Args.withDescription("Any id a client can ask for."))

export const aliasAdd = Command.make("add", { alias, model, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const payload = yield* body(
      SetAlias,
      { alias: given.alias, model: given.model },
      { alias: "<alias>", model: "<model>" }
    )
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "modelAliases")
    const answer = yield* client.set({ payload }).pipe(Client.orExplain(to))
    yield* Output.result({
      schema: AliasSet,
      value: answer,
      text: Output.note(`'${answer.alias}' now stands for '${answer.model}'.`),
      name: answer.alias
    })
  })
)

export const aliasList = asking("list", "modelAliases", {}, function* (client) {
  const answer = yield* client.list()
  yield* Output.list({
    schema: Aliases,
    value: answer,
    rows: answer.aliases,
    columns,
    empty: "There are no aliases. Make one with 'gateway model alias add'."
  })
})

export const aliasRemove = asking("remove", "modelAliases", { alias, yes }, function* (client, given) {
  yield* confirmOnTerminal(given, `Remove the alias '${given.alias}'?`)
  yield* client.remove({ urlParams: { alias: given.alias }, payload: null })
  yield* Output.done({ removed: given.alias }, `The alias '${given.alias}' is gone.`, given.alias)
})
