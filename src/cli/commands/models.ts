/** `gateway models [provider]`: what a client can ask for; `gateway models alias …`: other names for it. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Client from "../Client.ts"
import { json } from "../Flags.ts"
import * as Output from "../output/Output.ts"
import type { Column } from "../output/Table.ts"

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

const tokens = (value: unknown): string => (typeof value === "number" ? value.toLocaleString("en-US") : "-")

const columns: ReadonlyArray<Column<Model>> = [
  { header: "MODEL", value: (model) => model.id },
  { header: "PROVIDER", value: (model) => model.owned_by },
  { header: "CONTEXT", value: (model) => tokens(model["context_length"]), align: "right" }
]

const provider = Args.text({ name: "provider" }).pipe(Args.optional)

export const modelsCommand = Command.make("models", { provider, ...Client.connection, json }, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const client = yield* Client.inference(to)
    const { data } = yield* client.models().pipe(Client.orExplain(to))
    const shown = Option.match(flags.provider, {
      onNone: () => data,
      onSome: (id) => data.filter((model) => model.owned_by === id || model.id.startsWith(`${id}/`))
    })
    yield* flags.json
      ? Output.json(Models, { data: shown })
      : Output.rows(
          shown,
          columns,
          "There are no models. Connect a provider with 'gateway setup' or 'gateway provider add'."
        )
  })
)
