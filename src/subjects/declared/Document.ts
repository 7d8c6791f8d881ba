/**
 * The configuration of a gateway as a file (docs/apply.md): what `gateway apply` makes the gateway be, and what `gateway export` writes. Its parts
 * are the bodies of the management API, so that what is valid there is valid here.
 */
import * as Schema from "effect/Schema"
import { CreateCombo } from "../combos/routes.ts"
import { CreateKey } from "../keys/routes.ts"
import { CreateMcpServer } from "../mcpServers/routes.ts"
import { ModelPriceInput } from "../pricing/routes.ts"
import { SetBudget, SetTokenLimit } from "../limits/routes.ts"
import { SetPluginConfig } from "../plugins/routes.ts"
import { ProviderModelInput } from "../models/routes.ts"
import { AssignProxy, CreateProxy } from "../proxies/routes.ts"
import { CreateQuotaGroup } from "../quotaGroups/routes.ts"
import { CreateWebhook, MailInput } from "../webhooks/routes.ts"
import { CreateNode } from "../nodes/routes.ts"
import { CreateConnection } from "../connections/routes.ts"
import { HttpUrl } from "../../contract/Inputs.ts"
import { GatewaySettingsPatch } from "../settings/entity.ts"
import { ResiliencePatch } from "../resilience/entity.ts"
import { exactOptional, field } from "../../kernel/Documented.ts"

const most = 1_000

/** A target may name its connection as `<provider>/<name>`, which is the same on every gateway. */
export const connectionMember = "connection"

const ComboTarget = Schema.Struct({
  model: Schema.String,
  weight: exactOptional(Schema.Number),
  label: exactOptional(Schema.String),
  connection: field(exactOptional(Schema.String), "Only this connection, as `<provider>/<name>`.", "openai/work")
})

const { targets: _, ...comboFields } = CreateCombo.fields
const Combo = Schema.Struct({
  ...comboFields,
  targets: exactOptional(Schema.Array(ComboTarget).pipe(Schema.maxItems(most)))
})

/** Programs are named only from the gateway's own machine, with a session: a file has servers with an address. */
const { command: _command, args: _args, env: _env, allowedKeys: _allowedKeys, ...serverFields } = CreateMcpServer.fields
const McpServer = Schema.Struct({
  ...serverFields,
  url: field(HttpUrl, "Where it speaks streamable HTTP.", "https://mcp.example.com/mcp"),
  allowedKeys: field(
    exactOptional(Schema.Array(Schema.String).pipe(Schema.maxItems(most))),
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
    exactOptional(Schema.NullOr(Schema.Array(Schema.String.pipe(Schema.maxLength(400))).pipe(Schema.maxItems(100)))),
    "The connections that may serve it, as `<provider>/<name>`; empty: all of them.",
    ["openai/work"]
  )
})

const Key = field(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(300)), "The API key, by its name.", "laptop")

const { apiKeyId: _budgetKey, ...budgetFields } = SetBudget.fields
const Budget = Schema.Struct({ key: Key, ...budgetFields })

const { apiKeyId: _limitKey, id: _limitId, ...limitFields } = SetTokenLimit.fields
const TokenLimit = Schema.Struct({ key: Key, ...limitFields })

/** Proxy without its credentials. */
const { password: _password, username: _username, ...proxyFields } = CreateProxy.fields
const Proxy = Schema.Struct(proxyFields)

const ProxyAssignment = Schema.Struct({
  scope: AssignProxy.fields.scope,
  of: field(
    exactOptional(Schema.String.pipe(Schema.maxLength(600))),
    "The name of the API key, `<provider>/<name>` of the connection, or the id of the provider; absent for `global`.",
    "openai/work"
  ),
  proxy: field(Schema.String, "The proxy, by its name.", "berlin")
})

/** Webhook without the key of its signatures and the password of its mail server. */
const { mail: _mail, secret: _secret, ...webhookFields } = CreateWebhook.fields
const { password: _mailPassword, ...mailFields } = MailInput.fields
const Webhook = Schema.Struct({ ...webhookFields, mail: exactOptional(Schema.Struct(mailFields)) })

const Weight = Schema.Number.pipe(Schema.positive())
const { allocations: _allocations, members: _members, ...groupFields } = CreateQuotaGroup.fields
const QuotaGroup = Schema.Struct({
  ...groupFields,
  members: Schema.Array(
    Schema.Struct({
      connection: field(Schema.String, "The connection, as `<provider>/<name>`.", "openai/work"),
      weight: Weight
    })
  ).pipe(Schema.maxItems(most)),
  allocations: exactOptional(Schema.Array(Schema.Struct({ key: Key, weight: Weight })).pipe(Schema.maxItems(most)))
})

const Plugin = Schema.Struct({
  name: field(Schema.String, "The plugin, which is installed already.", "rate-limiter"),
  values: SetPluginConfig.fields.values
})

const Alias = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(300))

const listOf = <A, I, R>(schema: Schema.Schema<A, I, R>) =>
  exactOptional(Schema.Array(schema).pipe(Schema.maxItems(most)))

export const Declared = Schema.Struct({
  version: field(exactOptional(Schema.Literal(1)), "Version of this form.", 1),
  nodes: field(listOf(CreateNode), "Providers of your own, known by their `prefix`."),
  connections: field(listOf(CreateConnection), "Credentials at providers, known by `provider` and `name`."),
  combos: field(listOf(Combo), "Combos, known by their `name`."),
  aliases: field(exactOptional(Schema.Record({ key: Alias, value: Alias })), "Other names of models.", {
    best: "openai/gpt-4o"
  }),
  prices: field(
    exactOptional(
      Schema.Record({
        key: PricedProvider,
        value: Schema.Record({ key: PricedModel, value: ModelPriceInput })
      })
    ),
    "Prices of your own by provider and model, in USD per 1,000,000 tokens.",
    { openai: { "gpt-4o-mini": { input: 0.15, output: 0.6, cached: 0.075 } } }
  ),
  keys: field(
    listOf(ApiKey),
    "API keys, known by their `name` (a second one of a name as `name#2`); the secret of a new one is shown once."
  ),
  mcpServers: field(listOf(McpServer), "MCP servers of others whose tools are offered, known by their `name`."),
  models: field(listOf(ProviderModelInput), "Facts of models that you declare, known by `provider` and `modelId`."),
  quotaGroups: field(listOf(QuotaGroup), "Groups of connections that share their quotas, known by their `name`."),
  budgets: field(listOf(Budget), "Budgets of API keys; each is one value, what is absent is as usual."),
  tokenLimits: field(listOf(TokenLimit), "Token limits of API keys, known by key, scope and interval."),
  proxies: field(listOf(Proxy), "Egress proxies without what they log in with, known by their `name`."),
  proxyAssignments: field(listOf(ProxyAssignment), "Which calls leave by which proxy."),
  webhooks: field(listOf(Webhook), "Receivers of events without their secrets, known by their `url`."),
  plugins: field(listOf(Plugin), "The configuration of plugins that are installed, without its secrets."),
  resilience: field(exactOptional(ResiliencePatch), "Settings of resilience; what is absent stays."),
  settings: field(exactOptional(GatewaySettingsPatch), "Settings of the gateway; what is absent stays.")
}).annotations({
  identifier: "GatewayConfiguration",
  title: "Configuration of a gateway",
  parseOptions: { errors: "all", onExcessProperty: "error" }
})
export type Declared = typeof Declared.Type
export type DeclaredJson = typeof Declared.Encoded
