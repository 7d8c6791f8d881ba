/**
 * The configuration of a gateway as a file (docs/apply.md): what `gateway apply` makes the gateway be, and what `gateway export` writes. Its parts
 * are the bodies of the management API, so that what is valid there is valid here.
 */
import * as Schema from "effect/Schema"
import { CreateCombo } from "../api/Groups/Combos.ts"
import { CreateKey } from "../api/Groups/Keys.ts"
import { CreateNode } from "../api/Groups/ProviderNodes.ts"
import { CreateConnection } from "../api/Groups/Providers.ts"
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
  keys: field(listOf(CreateKey), "API keys, known by their `name`; the secret of a new one is shown once."),
  settings: field(maybe(GatewaySettingsPatch), "Settings of the gateway; what is absent stays.")
}).annotations({
  identifier: "GatewayConfiguration",
  title: "Configuration of a gateway",
  parseOptions: { errors: "all", onExcessProperty: "error" }
})
export type Declared = typeof Declared.Type
export type DeclaredJson = typeof Declared.Encoded
