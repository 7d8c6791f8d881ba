/** `gateway models [provider]`: what a client can ask for; `gateway models alias …`: other names for it. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { behindNoThinking } from "../../../plane/routing/resolve/ModelIds.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { emptyOf, listingFlags, picked, tellLeftOut } from "../../../cli/verbs/listing.ts"
import * as Column from "../../../cli/output/Column.ts"

interface Model {
  readonly id: string
  readonly owned_by: string
  readonly [field: string]: unknown
}

const Models = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({ id: Schema.String, owned_by: Schema.String }, { key: Schema.String, value: Schema.Unknown })
  )
})

const contextOf = (model: Model): number | null =>
  typeof model["context_length"] === "number" ? model["context_length"] : null

const columns: ReadonlyArray<Column.Column<Model>> = [
  Column.name("MODEL", (model) => model.id),
  Column.text("PROVIDER", (model) => model.owned_by),
  Column.number("CONTEXT", contextOf, Column.thousands)
]

const provider = Args.text({ name: "provider" }).pipe(Args.optional)

const all = Options.boolean("all").pipe(
  Options.withAlias("a"),
  Options.withDescription("Also the variants of 'auto', and models with their reasoning off.")
)

/** Another way to ask for what is on the list already. */
const isVariant = ({ id }: Model): boolean => id.startsWith("auto/") || behindNoThinking(id) !== null

const listing = { searched: "id, provider", sorts: ["id", "provider", "contextLength"] } as const

const valueOf = (model: Model, name: string) =>
  name === "contextLength" ? contextOf(model) : name === "provider" ? model.owned_by : model.id

const flagsOfList = listingFlags(listing)

export const modelsCommand = Command.make("models", { provider, all, ...flagsOfList, ...Client.connection }, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const client = yield* Client.inference(to)
    const { data } = yield* client.models().pipe(Client.orExplain(to))
    const fitting = Option.match(flags.provider, {
      onNone: () => data,
      onSome: (id) => data.filter((model) => model.owned_by === id || model.id.startsWith(`${id}/`))
    })
    const listed = flags.all ? fitting : fitting.filter((model) => !isVariant(model))
    const left = fitting.length - listed.length
    const { items: shown, total } = picked(listed, flags, ({ id, owned_by }) => [id, owned_by], valueOf)
    yield* Output.list({
      schema: Models,
      value: { data: shown },
      rows: shown,
      columns,
      empty: emptyOf(flags, "There are no models. Connect a provider with 'gateway setup' or 'gateway provider add'.")
    })
    yield* tellLeftOut(shown.length, total)
    if (left > 0) yield* Output.remark(`${Output.counted(left, "variant")} left out: '--all' shows them.`)
  })
)
