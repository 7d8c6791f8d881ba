/**
 * The configuration of a gateway as a file (docs/apply.md): what `gateway apply` makes the gateway be, and what `gateway export` writes. Its parts
 * are the bodies of the management API, so that what is valid there is valid here.
 */
import * as Schema from "effect/Schema"
import { CreateCombo } from "../api/Groups/Combos.ts"
import { CreateKey } from "../api/Groups/Keys.ts"
import { CreateMcpServer } from "../api/Groups/McpServers.ts"
import { ModelPriceInput } from "../api/Groups/Pricing.ts"
import { CreateNode } from "../api/Groups/ProviderNodes.ts"
import { CreateConnection } from "../api/Groups/Providers.ts"
import { HttpUrl } from "../api/Inputs.ts"
import { GatewaySettingsPatch } from "../domain/GatewaySettings.ts"
import { field } from "../kernel/Documented.ts"

const maybe = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

const most = 1_000

/** A target may name its connection as `<provider>/<name>`, which is the same on every gateway. */
export const connectionMember = "connection"

const ComboTarget = Schema.Struct({
  model: Schema.String,
  weight: maybe(Schema.Number),
  label: maybe(Schema.String),
  connection: field(maybe(Schema.String), "Only this connection, as `<provider>/<name>`.", "openai/work")
})

const { targets: _, ...comboFields } = CreateCombo.fields
const Combo = Schema.Struct({ ...comboFields, targets: maybe(Schema.Array(ComboTarget).pipe(Schema.maxItems(most))) })

/** Programs are named only from the gateway's own machine, with a session: a file has servers with an address. */
const { command: _command, args: _args, env: _env, allowedKeys: _allowedKeys, ...serverFields } = CreateMcpServer.fields
const McpServer = Schema.Struct({
  ...serverFields,
  url: field(HttpUrl, "Where it speaks streamable HTTP.", "https://mcp.example.com/mcp"),
  allowedKeys: field(
    maybe(Schema.Array(Schema.String).pipe(Schema.maxItems(most))),
    "Names of the API keys that may use it; absent: every key with the scope `execute:skills`.",
    ["laptop"]
  )
})

/** No provider has a slash in its id, so that `<provider>/<model>` has one meaning. */
const PricedProvider = Schema.String.pipe(Schema.pattern(/^[^/]{1,200}$/))
const PricedModel = Schema.String.pipe(Schema.minLength(1))

const ApiKey = Schema.Struct({
  ...CreateKey.fields,
  allowedConnections: field(
    maybe(Schema.NullOr(Schema.Array(Schema.String.pipe(Schema.maxLength(400))).pipe(Schema.maxItems(100)))),
    "The connections that may serve it, as `<provider>/<name>`; empty: all of them.",
    ["openai/work"]
  )
})

const Alias = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(300))

const listOf = <A, I, R>(schema: Schema.Schema<A, I, R>) => maybe(Schema.Array(schema).pipe(Schema.maxItems(most)))

export const Declared = Schema.Struct({
  version: field(maybe(Schema.Literal(1)), "Version of this form.", 1),
  nodes: field(listOf(CreateNode), "Providers of your own, known by their `prefix`."),
  connections: field(listOf(CreateConnection), "Credentials at providers, known by `provider` and `name`."),
  combos: field(listOf(Combo), "Combos, known by their `name`."),
  aliases: field(maybe(Schema.Record({ key: Alias, value: Alias })), "Other names of models.", {
    best: "openai/gpt-4o"
  }),
  prices: field(
    maybe(
      Schema.Record({
        key: PricedProvider,
        value: Schema.Record({ key: PricedModel, value: ModelPriceInput })
      })
    ),
    "Prices of your own by provider and model, in USD per 1,000,000 tokens.",
    { openai: { "gpt-4o-mini": { input: 0.15, output: 0.6, cached: 0.075 } } }
  ),
  keys: field(listOf(ApiKey), "API keys, known by their `name`; the secret of a new one is shown once."),
  mcpServers: field(listOf(McpServer), "MCP servers of others whose tools are offered, known by their `name`."),
  settings: field(maybe(GatewaySettingsPatch), "Settings of the gateway; what is absent stays.")
}).annotations({
  identifier: "GatewayConfiguration",
  title: "Configuration of a gateway",
  parseOptions: { errors: "all", onExcessProperty: "error" }
})
export type Declared = typeof Declared.Type
export type DeclaredJson = typeof Declared.Encoded
