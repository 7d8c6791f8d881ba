/** Serves what other gateways and programs of the operator ask for (docs/cloud-sync.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { AuthType } from "../connections/entity.ts"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, ForbiddenAnswer, NotFoundAnswer, UnavailableAnswer } from "../../contract/Errors.ts"
import { exampleId } from "../../contract/Examples.ts"
import { body, IsoTime, optional, Secret, Text } from "../../contract/Inputs.ts"
import { AliasSet, SetAlias } from "../aliases/routes.ts"

const provider = field(Schema.String, "Id of the provider.", "openai")
const model = field(Schema.String, "Id of the model at the provider.", "gpt-4o-mini")

const aliasMap = field(
  Schema.Record({ key: Schema.String, value: Schema.String }),
  "Model aliases: other name → the id it stands for.",
  { "my-model": "openai/gpt-4o-mini" }
)

export const CloudOverview = Schema.Struct({
  authenticated: field(Schema.Literal(true), "Always true: without the right to manage the answer is 401 or 403."),
  connections: field(
    Schema.Array(
      Schema.Struct({
        id: field(Schema.String, "Id of the connection.", exampleId),
        provider,
        name: field(Schema.String, "Its name.", "work"),
        authType: field(AuthType, "How it is signed in.", "apikey"),
        isActive: field(Schema.Boolean, "Whether it is used.", true)
      }).annotations({ identifier: "CloudConnection" })
    ),
    "What is connected, without credentials."
  ),
  modelAliases: aliasMap
}).annotations({ identifier: "CloudOverview" })

const Seconds = Schema.Int.pipe(Schema.between(1, 31_536_000))

export const CloudCredentials = Schema.Struct({
  provider: field(Text, "Id of the provider.", "openai"),
  connectionId: field(
    optional(Schema.String),
    "Which of its connections; absent: the only one that holds such a credential.",
    exampleId
  ),
  credentials: field(
    Schema.Struct({
      apiKey: field(optional(Secret), "The new key, where the connection has one."),
      accessToken: field(optional(Secret), "The new access token, where it is signed in."),
      refreshToken: field(optional(Secret), "The token it is renewed with; absent: the stored one stays."),
      expiresIn: field(optional(Seconds), "Seconds until the access token expires.", 3_600),
      expiresAt: field(optional(IsoTime), "The same as a time, ISO 8601; it counts first.", "2030-01-31T00:00:00.000Z")
    }).annotations({ identifier: "CloudCredentialValues" }),
    "Either a key or tokens."
  )
}).annotations(body("CloudCredentials"))
export type CloudCredentials = typeof CloudCredentials.Type

const CredentialsUpdated = Schema.Struct({
  success: field(Schema.Literal(true), "Always true."),
  provider,
  connectionId: field(Schema.String, "Id of the connection that holds them now.", exampleId)
}).annotations({ identifier: "CloudCredentialsUpdated" })

const ResolveInput = Schema.Struct({
  alias: field(optional(Text.pipe(Schema.maxLength(300))), "The name: an alias, a combo or a model id.", "my-model"),
  model: field(optional(Text.pipe(Schema.maxLength(300))), "The same; `alias` counts first.", "my-model")
}).annotations(body("CloudResolveInput"))

const Resolved = Schema.Struct({
  alias: field(Schema.String, "The name that was asked for.", "my-model"),
  provider,
  model,
  combo: field(Schema.NullOr(Schema.String), "The combo it leads to; null: none.", null),
  strategy: field(Schema.String, "What orders several places.", "priority"),
  targets: field(
    Schema.Array(Schema.Struct({ provider, model }).annotations({ identifier: "CloudTarget" })),
    "All places it leads to, at most 100; the first is that of `provider` and `model`."
  )
}).annotations({ identifier: "CloudResolved" })

const at = endpointsOf("cloud")

const credentialWords = {
  summary: "Replace a connection's credential",
  description:
    "A key, or the tokens of a sign-in; the OAuth client of the tokens stays. They go to the address that the connection has. Nothing of them is answered."
}

const credentialExample = { provider: "tavily", credentials: { apiKey: "tvly-sample-0123456789" } }

export class Cloud extends HttpApiGroup.make("cloud")
  .annotate(OpenApi.Title, "Cloud members")
  .annotate(OpenApi.Description, "What other gateways and programs of the operator ask of this one.")
  .add(
    at("auth", {
      summary: "Check the right to manage, and show what is connected",
      description: "Connections without credentials, and aliases."
    })
      .addSuccess(CloudOverview)
      .addError(UnavailableAnswer)
  )
  .add(
    at("putCredentials", { ...credentialWords, example: credentialExample })
      .setPayload(CloudCredentials)
      .addSuccess(CredentialsUpdated)
      .addError(NotFoundAnswer)
      .addError(ForbiddenAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("updateCredentials", { ...credentialWords, example: credentialExample })
      .setPayload(CloudCredentials)
      .addSuccess(CredentialsUpdated)
      .addError(NotFoundAnswer)
      .addError(ForbiddenAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("resolveModel", {
      summary: "Show where a model name leads",
      description: "As the next request for it would be routed before health, quotas and scores are looked at."
    })
      .setPayload(ResolveInput)
      .addSuccess(Resolved)
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("aliases", { summary: "Show the model aliases as a map", description: "All of them." }).addSuccess(
      Schema.Struct({ aliases: aliasMap }).annotations({ identifier: "CloudAliases" })
    )
  )
  .add(
    at("putAlias", { summary: "Set a model alias", description: "The same as `POST /api/models/alias`." })
      .setPayload(SetAlias)
      .addSuccess(AliasSet)
      .addError(ConflictAnswer)
  )
  .add(
    at("setAlias", { summary: "Set a model alias", description: "The same as `POST /api/models/alias`." })
      .setPayload(SetAlias)
      .addSuccess(AliasSet)
      .addError(ConflictAnswer)
  ) {}
