/** What a gateway shall hold, as a file: the members are those of the management API, found by name instead of by id (`docs/apply.md`). */
import * as Schema from "effect/Schema"
import { CreateCombo } from "../api/Groups/Combos.ts"
import { CreateNode } from "../api/Groups/ProviderNodes.ts"
import { CreateConnection } from "../api/Groups/Providers.ts"
import { Name, optional } from "../api/Inputs.ts"
import { field } from "../kernel/Documented.ts"

/** Tokens of OAuth accounts are renewed by the gateway: a file that holds them would be old within the hour. */
const { max_concurrent: _otherSpelling, oauth: _tokens, ...connectionFields } = CreateConnection.fields

export const DeclaredConnection = Schema.Struct({
  ...connectionFields,
  name: field(Name, "Its name; with the provider it tells which connection is meant.", "work account")
}).annotations({ identifier: "DeclaredConnection" })
export type DeclaredConnection = typeof DeclaredConnection.Type

const most = 10_000

export const Document = Schema.Struct({
  version: field(Schema.Literal(1), "Version of this format."),
  nodes: field(optional(Schema.Array(CreateNode).pipe(Schema.maxItems(most))), "Provider nodes, found by `prefix`."),
  connections: field(
    optional(Schema.Array(DeclaredConnection).pipe(Schema.maxItems(most))),
    "Connections, found by `provider` and `name`."
  ),
  combos: field(optional(Schema.Array(CreateCombo).pipe(Schema.maxItems(most))), "Combos, found by `name`.")
}).annotations({ identifier: "GatewayFile", parseOptions: { errors: "all", onExcessProperty: "error" } })
export type Document = typeof Document.Type
