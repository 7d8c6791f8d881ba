/** `gateway providers available`: the catalogue of providers the gateway knows. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { providerCategories, type ProviderSpec } from "../../../contract/domain/Provider.ts"
import { WireName } from "../../../contract/domain/Wire.ts"
import { loadModule } from "../../../cli/lazy.ts"
import * as Output from "../../../cli/output/Output.ts"
import * as Column from "../../../cli/output/Column.ts"

const One = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  category: Schema.Literal(...providerCategories),
  baseUrl: Schema.String,
  wires: Schema.Array(WireName),
  authType: Schema.Literal("apikey", "oauth", "none", "optional"),
  env: Schema.Array(Schema.String),
  docsUrl: Schema.NullOr(Schema.String),
  keyUrl: Schema.NullOr(Schema.String),
  keyHint: Schema.NullOr(Schema.String)
})
const All = Schema.Struct({ providers: Schema.Array(One) })

const view = ({
  auth,
  baseUrl,
  category,
  docsUrl,
  env,
  id,
  keyHint,
  keyUrl,
  name,
  wires
}: ProviderSpec): typeof One.Type => ({
  id,
  name,
  category,
  baseUrl,
  wires,
  authType: auth.type,
  env,
  docsUrl,
  keyUrl,
  keyHint
})

const columns: ReadonlyArray<Column.Column<typeof One.Type>> = [
  Column.id("ID", (provider) => provider.id, { isName: true }),
  Column.text("NAME", (provider) => provider.name),
  Column.text("CATEGORY", (provider) => provider.category),
  Column.text("KEY", (provider) => (provider.authType === "apikey" ? "needed" : provider.authType)),
  Column.text("KEY VARIABLE", (provider) => provider.env[0]),
  Column.text("WIRES", (provider) => provider.wires.join(", "))
]

const flags = {
  search: Options.text("search").pipe(
    Options.withDescription("Only providers with this text in their id, name or aliases."),
    Options.withDefault("")
  ),
  category: Options.choice("category", providerCategories).pipe(
    Options.withDescription("Only providers of this category."),
    Options.optional
  )
}

export const providersAvailable = Command.make("available", flags, (given) =>
  Effect.gen(function* () {
    const registry = yield* loadModule(() => import("../../../plane/providers/Registry.ts"))
    const providers = registry.search(given.search, Option.getOrNull(given.category)).map(view)
    yield* Output.list({
      schema: All,
      value: { providers },
      rows: providers,
      columns,
      empty: "No provider fits. Any compatible endpoint can be added as a provider node."
    })
  })
)
