/** `gateway providers available`: the catalogue of providers the gateway knows. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { ProviderSpec } from "../../../domain/Provider.ts"
import { WireName } from "../../../domain/Wire.ts"
import { json } from "../../Flags.ts"
import { loadRoom } from "../../lazy.ts"
import * as Output from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"

const categories = ["frontier", "gateway", "inference", "regional", "enterprise", "free", "oauth", "local"] as const

const One = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  category: Schema.Literal(...categories),
  baseUrl: Schema.String,
  wires: Schema.Array(WireName),
  authType: Schema.Literal("apikey", "oauth", "none", "optional"),
  env: Schema.Array(Schema.String),
  docsUrl: Schema.NullOr(Schema.String)
})
const All = Schema.Struct({ providers: Schema.Array(One) })

const view = ({ auth, baseUrl, category, docsUrl, env, id, name, wires }: ProviderSpec): typeof One.Type => ({
  id,
  name,
  category,
  baseUrl,
  wires,
  authType: auth.type,
  env,
  docsUrl
})

const columns: ReadonlyArray<Column<typeof One.Type>> = [
  { header: "ID", value: (provider) => provider.id },
  { header: "NAME", value: (provider) => provider.name },
  { header: "CATEGORY", value: (provider) => provider.category },
  { header: "WIRES", value: (provider) => provider.wires.join(", ") },
  { header: "KEY", value: (provider) => (provider.authType === "apikey" ? "needed" : provider.authType) },
  { header: "KEY VARIABLE", value: (provider) => Output.orDash(provider.env[0]) }
]

const flags = {
  search: Options.text("search").pipe(
    Options.withDescription("Only providers with this text in their id, name or aliases."),
    Options.withDefault("")
  ),
  category: Options.choice("category", categories).pipe(
    Options.withDescription("Only providers of this category."),
    Options.optional
  ),
  json
}

export const providersAvailable = Command.make("available", flags, (given) =>
  Effect.gen(function* () {
    const registry = yield* loadRoom(() => import("../../../providers/Registry.ts"))
    const providers = registry.search(given.search, Option.getOrNull(given.category)).map(view)
    yield* given.json
      ? Output.json(All, { providers })
      : Output.rows(providers, columns, "No provider fits. Any compatible endpoint can be added as a provider node.")
  })
)
