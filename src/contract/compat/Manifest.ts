/** The known providers as `/api/v1/provider-plugin-manifest` shows them: for other routers, and for pages that add a connection. */
import * as Schema from "effect/Schema"
import { connectionNeeds } from "../domain/Provider.ts"
import { WireName } from "../domain/Wire.ts"
import { field } from "../../kernel/Documented.ts"

const maybe = <A, I>(schema: Schema.Schema<A, I>) => Schema.NullOr(schema)
const Text = Schema.String
const PerWire = Schema.Record({ key: Text, value: Text })

const ManifestModel = Schema.Struct({
  id: field(Text, "The model's id at the provider.", "gpt-4o"),
  contextLength: field(maybe(Schema.Number), "Tokens; null: not known.", 128_000),
  maxOutputTokens: field(maybe(Schema.Number), "Tokens; null: not known.", 16_384),
  vision: field(maybe(Schema.Boolean), "Whether it takes pictures; null: not known.", true),
  reasoning: field(maybe(Schema.Boolean), "Whether it reasons; null: not known.", false),
  toolCalling: field(maybe(Schema.Boolean), "Whether it calls tools; null: not known.", true),
  structuredOutput: field(maybe(Schema.Boolean), "Whether it answers in a schema; null: not known.", true)
}).annotations({ identifier: "ManifestModel", description: "A model that the registry names, by what its name tells." })
export type ManifestModel = typeof ManifestModel.Type

const ManifestProvider = Schema.Struct({
  id: field(Text, "Id of the provider.", "openai"),
  name: field(Text, "Name for people.", "OpenAI"),
  aliases: field(Schema.Array(Text), "Other names of it.", []),
  category: field(Text, "Kind of provider.", "frontier"),
  baseUrl: field(
    Text,
    "May hold `{placeholders}` that a connection's own base URL fills.",
    "https://api.openai.com/v1"
  ),
  wires: field(Schema.Array(WireName), "Wire formats it speaks, preferred first.", ["responses", "chat"]),
  paths: field(PerWire, "Path below `baseUrl` per wire; `{model}` stands for the model.", {
    chat: "/chat/completions"
  }),
  modelsPath: field(maybe(Text), "Path of its list of models; null: it has none.", "/models"),
  auth: field(
    Schema.Struct({
      type: field(Text, "Kind of credential: apikey, oauth, optional or none.", "apikey"),
      header: field(Text, "Request header that carries it.", "authorization"),
      prefix: field(Text, "Text before it, with its trailing space.", "Bearer ")
    }),
    "Where the credential stands."
  ),
  docsUrl: field(maybe(Text), "Its documentation; null: not known.", "https://platform.openai.com/docs"),
  keyUrl: field(maybe(Text), "Page where keys are made; null: not known.", "https://platform.openai.com/api-keys"),
  keyHint: field(maybe(Text), "Beginning of its keys; null: none, or not known.", "sk-…"),
  needs: field(Schema.Array(Schema.Literal(...connectionNeeds)), "What a connection cannot do without.", ["apiKey"]),
  signIn: field(
    Schema.NullOr(Schema.Literal("device", "browser")),
    "How an account signs in, with a code or in a browser; null: it does not.",
    null
  ),
  models: field(Schema.Array(ManifestModel), "Models that are known without asking.", []),
  sidecar: field(
    Schema.Struct({
      eligible: field(Schema.Boolean, "Whether a key and this entry are all that is needed to call it.", true),
      reasons: field(Schema.Array(Text), "What else is needed.", [])
    }),
    "Use by another router."
  )
}).annotations({ identifier: "ManifestProvider", description: "A provider, without secrets and accounts." })
export type ManifestProvider = typeof ManifestProvider.Type

export const Manifest = Schema.Struct({
  schemaVersion: field(Schema.Literal(1), "Version of this format.", 1),
  providers: field(Schema.Array(ManifestProvider), "The providers, without secrets, accounts and nodes.")
}).annotations({ identifier: "ProviderManifest", description: "The providers that the gateway knows." })
export type Manifest = typeof Manifest.Type
