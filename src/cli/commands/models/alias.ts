/** `gateway models alias …`: other names for models. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AliasSet, AliasView, SetAlias } from "../../../api/Groups/ModelAliases.ts"
import * as Client from "../../Client.ts"
import { about, body, json } from "../../Flags.ts"
import * as Output from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"

const Aliases = Schema.Struct({ aliases: Schema.Array(AliasView) })

const columns: ReadonlyArray<Column<AliasView>> = [
  { header: "ALIAS", value: ({ alias }) => alias },
  { header: "STANDS FOR", value: ({ model }) => model }
]

const alias = Args.text({ name: "alias" })
const model = Args.text({ name: "model" }).pipe(Args.withDescription("Any id a client can ask for."))

const add = Command.make("add", { alias, model, ...Client.connection, json }, (given) =>
  Effect.gen(function* () {
    const payload = yield* body(
      SetAlias,
      { alias: given.alias, model: given.model },
      { alias: "<alias>", model: "<model>" }
    )
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "modelAliases")
    const answer = yield* client.set({ payload }).pipe(Client.orExplain(to))
    yield* given.json
      ? Output.json(AliasSet, answer)
      : Output.note(`'${answer.alias}' now stands for '${answer.model}'.`)
  })
).pipe(
  Command.withDescription(
    about("Make a name stand for a model; a former meaning is replaced.", "models alias add best openai/gpt-4o")
  )
)

const list = Command.make("list", { ...Client.connection, json }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "modelAliases")
    const answer = yield* client.list().pipe(Client.orExplain(to))
    yield* given.json
      ? Output.json(Aliases, answer)
      : Output.rows(answer.aliases, columns, "There are no aliases. Make one with 'gateway models alias add'.")
  })
).pipe(Command.withDescription(about("List the aliases of a running gateway.", "models alias list --json")))

const remove = Command.make("remove", { alias, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "modelAliases")
    yield* client.remove({ urlParams: { alias: given.alias }, payload: null }).pipe(Client.orExplain(to))
    yield* Output.note(`The alias '${given.alias}' is gone.`)
  })
).pipe(Command.withDescription(about("Remove an alias.", "models alias remove best")))

export const modelsAlias = Command.make("alias").pipe(
  Command.withDescription(about("Administer other names for models.", "models alias list")),
  Command.withSubcommands([add, list, remove])
)
