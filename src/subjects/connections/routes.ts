/** Provider connections. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { AccountTier, AuthType, DeclaredQuota, quotaWords } from "./entity.ts"
import { WireName } from "../../contract/domain/Wire.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, ForbiddenAnswer, NotFoundAnswer, UpstreamFailedAnswer } from "../../contract/Errors.ts"
import {
  body,
  clearable,
  Created,
  HeaderMap,
  HttpUrl,
  IsoTime,
  Name,
  nextCursor,
  total,
  NoContent,
  optional,
  Secret,
  Text
} from "../../contract/Inputs.ts"
import { exampleId, exampleTime } from "../../contract/Examples.ts"
import { healthFields } from "../../contract/HealthFields.ts"
import { field } from "../../kernel/Documented.ts"
import { CreateNode } from "../nodes/routes.ts"
import { observed } from "../../kernel/Observed.ts"

const words = {
  provider: ["Id of the provider, or the prefix of a node.", "openai"],
  name: ["A name for people; absent: made from the provider.", "work account"],
  authType: "How requests are authenticated.",
  isActive: ["Whether requests may use it.", true],
  proxyEnabled: ["Whether its calls go through the proxies assigned to it; false: always direct.", true],
  proxyId: ["The proxy of its own that its calls go by; null: none.", null],
  transport: ["How its sockets are made, where the usual way does not do; null: the usual way.", null],
  priority: ["Order among the connections of a provider; lower is tried first.", 0],
  baseUrl: ["Another address of the provider's API; null: the usual one.", null],
  wires: ["The wire formats its endpoint speaks; null: those of the provider.", null],
  defaultModel: ["The model that stands for the provider where a request names none; null: none.", "gpt-4o-mini"],
  models: ["Models it may serve; empty: all of the provider.", ["gpt-4o-mini"]],
  tier: ["Plan of the account; null: unknown.", "standard"],
  maxConcurrent: ["Most calls at once; null: no limit.", 8],
  max_concurrent: ["The same as `maxConcurrent`.", 8],
  headers: ["Sent with every request; null: none. Values may be secrets.", null],
  quotas: "Quotas that the gateway counts; others are learned from answers."
} as const

/** A connection as callers see it: the key is masked. Times are ISO 8601. */
const transportWords = {
  ca: [
    "Certificates in PEM that are trusted in place of the usual authorities.",
    null,
    "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----"
  ],
  certificate: [
    "The client's certificate in PEM, its own first: for providers that ask for one (mTLS).",
    null,
    "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----"
  ],
  key: "The private key of `certificate` in PEM, without a passphrase.",
  serverName: ["The name for SNI and for the check of the provider's certificate.", "models.internal.example"],
  connectTimeoutMs: ["Milliseconds until a socket has to stand; null: `timeouts.connectMs`.", 5_000],
  keepAliveMs: ["Milliseconds an idle socket is kept for the next call.", 30_000],
  maxIdleSockets: ["Idle sockets kept at most.", 512],
  localAddress: ["An address of the gateway's machine that sockets leave by.", null, "192.0.2.7"]
} as const

const transportView = {
  ca: field(Schema.NullOr(Schema.String), ...transportWords.ca),
  certificate: field(Schema.NullOr(Schema.String), ...transportWords.certificate),
  serverName: field(Schema.NullOr(Schema.String), ...transportWords.serverName),
  connectTimeoutMs: field(Schema.NullOr(Schema.Number), ...transportWords.connectTimeoutMs),
  keepAliveMs: field(Schema.NullOr(Schema.Number), ...transportWords.keepAliveMs),
  maxIdleSockets: field(Schema.NullOr(Schema.Number), ...transportWords.maxIdleSockets),
  localAddress: field(Schema.NullOr(Schema.String), ...transportWords.localAddress)
}

const TransportView = Schema.Struct({
  ...transportView,
  key: field(Schema.NullOr(Schema.String), "The masked private key; null: none.", null)
}).annotations({ identifier: "Transport" })

const Pem = Schema.String.pipe(Schema.maxLength(65_536))
const Millis = (most: number) => Schema.Int.pipe(Schema.between(50, most))

const TransportInput = Schema.Struct({
  ca: field(optional(Pem), ...transportWords.ca),
  certificate: field(optional(Pem), ...transportWords.certificate),
  key: field(
    optional(Schema.Redacted(Pem.annotations({ examples: ["-----BEGIN PRIVATE KEY-----"] }))),
    transportWords.key
  ),
  serverName: field(
    optional(Schema.Trim.pipe(Schema.pattern(/^[\w.-]{1,253}$/, { message: () => "must be a host name" }))),
    ...transportWords.serverName
  ),
  connectTimeoutMs: field(optional(Millis(600_000)), ...transportWords.connectTimeoutMs),
  keepAliveMs: field(optional(Millis(600_000)), ...transportWords.keepAliveMs),
  maxIdleSockets: field(optional(Schema.Int.pipe(Schema.between(0, 4_096))), ...transportWords.maxIdleSockets),
  localAddress: field(optional(Schema.Trim.pipe(Schema.maxLength(45))), ...transportWords.localAddress)
}).annotations({ identifier: "TransportInput" })
export type TransportInput = typeof TransportInput.Type

export const ConnectionView = Schema.Struct({
  id: field(Schema.String, "Id of the connection, in paths of this API.", exampleId),
  provider: field(Schema.String, ...words.provider),
  name: field(Schema.String, ...words.name),
  authType: field(AuthType, words.authType),
  isActive: field(Schema.Boolean, ...words.isActive),
  proxyEnabled: field(Schema.Boolean, ...words.proxyEnabled),
  proxyId: field(Schema.NullOr(Schema.String), ...words.proxyId),
  transport: field(Schema.NullOr(TransportView), ...words.transport),
  priority: field(Schema.Number, ...words.priority),
  baseUrl: field(Schema.NullOr(Schema.String), ...words.baseUrl),
  wires: field(Schema.NullOr(Schema.Array(WireName)), ...words.wires),
  defaultModel: field(Schema.NullOr(Schema.String), ...words.defaultModel),
  models: field(Schema.Array(Schema.String), ...words.models),
  tier: field(Schema.NullOr(AccountTier), ...words.tier),
  maxConcurrent: field(Schema.NullOr(Schema.Number), ...words.maxConcurrent),
  max_concurrent: field(Schema.NullOr(Schema.Number), ...words.max_concurrent),
  headers: field(
    Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.String })),
    "Sent with every request; their values are masked.",
    { "x-team": "***" }
  ),
  quotas: field(Schema.Array(DeclaredQuota), words.quotas),
  ...healthFields,
  signIn: observed(
    Schema.NullOr(
      Schema.Struct({
        expiresAt: field(
          Schema.NullOr(Schema.String),
          "When the access token expires, ISO 8601; null: not known.",
          exampleTime
        ),
        isRenewed: field(Schema.Boolean, "Whether the gateway renews it by itself; false: sign in again then.", true)
      }).annotations({ identifier: "ConnectionSignIn" })
    ),
    "The sign-in of an OAuth account; null: it has none.",
    null
  ),
  apiKey: field(Schema.NullOr(Schema.String), "The key, masked; null: there is none.", "sk-***cret"),
  source: field(Schema.Literal("db", "env"), "Added by this API, or found in the environment (then read-only)."),
  modelList: observed(
    Schema.NullOr(
      Schema.Struct({
        count: field(Schema.Number, "How many models the provider lists.", 42),
        learnedAt: field(Schema.NullOr(Schema.String), "When the list was fetched, ISO 8601.", exampleTime),
        error: field(
          Schema.NullOr(Schema.String),
          "Why the last fetch failed; the list before it stays in force.",
          null
        )
      })
    ),
    "The provider's list of models, fetched in the background; null before the first fetch."
  ),
  createdAt: field(Schema.String, "When it was created, ISO 8601.", exampleTime),
  updatedAt: field(Schema.String, "When it was last changed, ISO 8601.", exampleTime)
}).annotations({ identifier: "Connection" })
export type ConnectionView = typeof ConnectionView.Type

/** Tokens of an OAuth account. `tokenUrl` only for provider nodes; a registry provider's is fixed. */
export const OAuthInput = Schema.Struct({
  accessToken: field(Secret, "The access token."),
  refreshToken: field(optional(Secret), "The token that access tokens are renewed with."),
  expiresAt: field(optional(IsoTime), "When the access token expires, ISO 8601.", exampleTime),
  clientId: field(optional(Schema.String), "Id of the OAuth client.", "my-client"),
  clientSecret: field(optional(Secret), "Secret of the OAuth client."),
  tokenUrl: field(
    optional(HttpUrl),
    "Where access tokens are renewed; for provider nodes only.",
    "https://auth.example.com/oauth/token"
  )
}).annotations({ identifier: "OAuthInput" })
export type OAuthInput = typeof OAuthInput.Type

const Wires = Schema.Array(WireName).pipe(Schema.minItems(1), Schema.maxItems(5))
const ModelIds = Schema.Array(Text.pipe(Schema.maxLength(300))).pipe(Schema.maxItems(2000))
const Quota = Schema.Struct({
  ...DeclaredQuota.fields,
  resetAt: field(Schema.optionalWith(Schema.NullOr(IsoTime), { exact: true }), quotaWords.resetAt, exampleTime)
}).pipe(
  Schema.filter(({ limit, unit }) =>
    unit === "percent" && limit > 100 ? { path: ["limit"], message: "must be at most 100 percent" } : true
  )
)
const Quotas = Schema.Array(Quota).pipe(Schema.maxItems(20))
const Priority = Schema.Int.pipe(Schema.between(0, 1_000_000))
const MaxConcurrent = Schema.Int.pipe(Schema.between(1, 100_000))

/** Fields that a change may clear with null. */
const nullableFields = {
  baseUrl: field(clearable(HttpUrl), ...words.baseUrl),
  wires: field(clearable(Wires), ...words.wires),
  defaultModel: field(clearable(Text), ...words.defaultModel),
  tier: field(clearable(AccountTier), ...words.tier),
  maxConcurrent: field(clearable(MaxConcurrent), ...words.maxConcurrent),
  max_concurrent: field(clearable(MaxConcurrent), ...words.max_concurrent),
  headers: field(clearable(HeaderMap), ...words.headers),
  proxyId: field(clearable(Schema.String), ...words.proxyId),
  transport: field(clearable(TransportInput), ...words.transport)
}

const otherFields = {
  name: field(optional(Name), ...words.name),
  apiKey: field(optional(Secret), "The provider's key. Absent in a change: the stored one stays."),
  authType: field(optional(AuthType), words.authType),
  models: field(optional(ModelIds), ...words.models),
  priority: field(optional(Priority), ...words.priority),
  isActive: field(optional(Schema.Boolean), ...words.isActive),
  proxyEnabled: field(optional(Schema.Boolean), ...words.proxyEnabled),
  oauth: field(optional(OAuthInput), "Tokens, where `authType` is `oauth`."),
  quotas: field(optional(Quotas), words.quotas)
}

export const CreateConnection = Schema.Struct({
  provider: field(Text, ...words.provider),
  ...otherFields,
  ...nullableFields
}).annotations(body("CreateConnection"))
export type CreateConnection = typeof CreateConnection.Type

/**
 * Update of a connection; an absent member stays as it is, and an absent `apiKey` keeps the stored one. `provider` may
 * be repeated but not changed.
 */
export const UpdateConnection = Schema.Struct({
  provider: field(optional(Text), "May be repeated, and not changed.", "openai"),
  ...otherFields,
  ...nullableFields
}).annotations(body("UpdateConnection"))
export type UpdateConnection = typeof UpdateConnection.Type

/** `status` is the upstream's HTTP status, null when none arrived. */
export const TestResult = Schema.Struct({
  ok: field(Schema.Boolean, "Whether a request was answered.", true),
  status: field(Schema.NullOr(Schema.Number), "HTTP status of the provider; null: no answer arrived.", 200),
  latencyMs: field(Schema.Number, "Milliseconds until the answer.", 420),
  model: field(Schema.NullOr(Schema.String), "The model that was asked; null: none was found.", "gpt-4o-mini"),
  error: field(Schema.NullOr(Schema.String), "Why it failed; null: it did not.", null),
  models: field(Schema.NullOr(Schema.Number), "How many models the provider lists; null: unknown.", 42),
  modelsError: field(Schema.NullOr(Schema.String), "Why the list is unknown; null: it is known.", null)
}).annotations({ identifier: "TestResult" })

/** A model as the upstream lists it. */
const UpstreamModel = Schema.Struct({
  id: field(Schema.String, "Id of the model at the provider.", "gpt-4o-mini"),
  name: field(Schema.NullOr(Schema.String), "Name for people; null: none is listed.", "GPT-4o mini"),
  contextLength: field(
    Schema.NullOr(Schema.Number),
    "Tokens of prompt and answer together; null: not listed.",
    128_000
  ),
  maxOutputTokens: field(Schema.NullOr(Schema.Number), "Tokens of the longest answer; null: not listed.", 16_384)
}).annotations({ identifier: "UpstreamModel" })

/**
 * A connection that is not stored, with the fields by which it would be created, or the changes of a stored one. There is no field here that
 * creating does not have, and none of creating that is not here.
 */
export const ValidateConnection = Schema.Struct({
  connectionId: field(
    optional(Schema.String),
    "Id of a stored connection that the other fields change; what is absent is as stored. Absent: a new connection.",
    exampleId
  ),
  node: field(optional(CreateNode), "The provider node that would be added with it; its prefix is the provider."),
  question: field(
    optional(
      Schema.Struct({
        model: field(Text.pipe(Schema.maxLength(300)), "The model that is asked.", "gpt-4o-mini"),
        prompt: field(Text.pipe(Schema.maxLength(4_000)), "What it is asked.", "Say hello in one word.")
      }).annotations({ identifier: "FirstQuestion" })
    ),
    "A question that is asked where the connection is accepted: that it works is seen before it is saved. It is paid as any other."
  ),
  ...CreateConnection.fields,
  provider: field(optional(Text), "Id of the provider, or the prefix of a node. Needed for a new connection.", "openai")
}).annotations(body("ValidateConnection"))
export type ValidateConnection = typeof ValidateConnection.Type

export const ValidateResult = Schema.Struct({
  valid: field(Schema.Boolean, "Whether the provider accepts the connection.", true),
  status: field(Schema.NullOr(Schema.Number), "HTTP status of the provider; null: no answer arrived.", 200),
  error: field(Schema.NullOr(Schema.String), "Why it is not accepted; null: it is.", null),
  latencyMs: field(Schema.Number, "Milliseconds until the provider had answered first.", 84),
  models: field(
    Schema.NullOr(
      Schema.Struct({
        count: field(Schema.Number, "How many models it lists.", 21),
        unpriced: field(Schema.Number, "How many of them have no known price.", 3),
        ids: field(Schema.Array(Schema.String), "Their ids, 1,000 at most.", ["gpt-4o-mini"])
      }).annotations({ identifier: "ListedModels" })
    ),
    "Its models; null: it lists none, or refuses."
  ),
  answer: field(
    Schema.NullOr(
      Schema.Struct({
        model: field(Schema.String, "The model that was asked.", "gpt-4o-mini"),
        text: field(Schema.NullOr(Schema.String), "What it said; null: it did not answer.", "Hello."),
        latencyMs: field(Schema.Number, "Milliseconds until the answer.", 310),
        costUsd: field(Schema.NullOr(Schema.Number), "What it cost, in USD; null: no price is known.", 0.000004),
        error: field(Schema.NullOr(Schema.String), "Why there is no answer; null: there is one.", null)
      }).annotations({ identifier: "FirstAnswer" })
    ),
    "The answer to `question`; null: nothing was asked."
  )
}).annotations(body("ValidateResult"))

const Connections = Schema.Struct({
  connections: field(Schema.Array(ConnectionView), "The connections of the page."),
  nextCursor,
  total
}).annotations({ identifier: "ConnectionList" })
const Connection = Schema.Struct({ connection: field(ConnectionView, "The connection.") }).annotations({
  identifier: "ConnectionAnswer"
})

export const connectionListing = {
  sorts: ["name", "provider", "priority", "testStatus", "createdAt", "updatedAt"],
  searched: "name, id, provider, address, models",
  summary: ["id", "provider", "name", "authType", "isActive", "priority", "testStatus", "rateLimitedUntil", "source"],
  filters: {
    state: {
      description:
        "in this state: `available`, `cooling` (it rests), `terminal` (an operator has to act), `inactive` (switched off)",
      example: "cooling",
      values: ["available", "cooling", "terminal", "inactive"]
    },
    provider: { description: "of this provider, or of the node with this prefix", example: "openai" }
  }
} as const

const at = endpointsOf("providers", { id: ["Id of the connection.", exampleId] })

export class Providers extends HttpApiGroup.make("providers")
  .annotate(OpenApi.Title, "Connections")
  .annotate(OpenApi.Description, "Credentials at providers. A connection is one account; its key is never shown again.")
  .add(
    at("list", {
      summary: "List connections",
      description: "All connections with their state, the oldest first.",
      listed: connectionListing
    }).addSuccess(Connections)
  )
  .add(
    at("create", {
      summary: "Add a connection",
      description: "Its models can be used at once; the provider's list of models is fetched in the background.",
      example: { provider: "openai", name: "work account", apiKey: "sk-your-secret", maxConcurrent: 8 }
    })
      .setPayload(CreateConnection)
      .addSuccess(Created(Connection))
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("validate", {
      summary: "Test a connection before it is saved",
      description:
        "Checks the fields as saving does, and asks the provider whether it accepts the connection, by the address, headers, transport and proxy that would be stored. `question` is asked as well. Nothing is stored.",
      example: { provider: "openai", apiKey: "sk-your-secret" }
    })
      .setPayload(ValidateConnection)
      .addSuccess(ValidateResult)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(ForbiddenAnswer)
  )
  .add(
    at("get", {
      summary: "Show a connection",
      description: "The connection with its state; its key is masked unless the flag `ALLOW_API_KEY_REVEAL` is on."
    })
      .addSuccess(Connection)
      .addError(NotFoundAnswer)
  )
  .add(
    at("update", {
      summary: "Change a connection",
      description:
        "What is absent stays as it is. A change of `baseUrl` needs the key again: a stored key is not sent to another address.",
      example: { name: "private account", priority: 1, isActive: true }
    })
      .setPayload(UpdateConnection)
      .addSuccess(Connection)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(ForbiddenAnswer)
  )
  .add(
    at("remove", {
      summary: "Delete a connection",
      description: "Its key is deleted with it. Connections from the environment cannot be deleted (403)."
    })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
      .addError(ForbiddenAnswer)
  )
  .add(
    at("test", {
      summary: "Test a connection",
      description: "Sends one short request to the provider and fetches its list of models. The body may be left out.",
      example: { model: "gpt-4o-mini" }
    })
      .setPayload(
        Schema.NullOr(
          Schema.Struct({
            model: field(optional(Text), "The model to ask; absent: the cheapest known one.", "gpt-4o-mini")
          }).annotations({ identifier: "TestConnection" })
        )
      )
      .addSuccess(TestResult)
      .addError(NotFoundAnswer)
  )
  .add(
    at("models", {
      summary: "List the models of a connection",
      description:
        "As the provider lists them. The list is kept, and fetched again when it is old, or at once with `refresh`.",
      paged: true
    })
      .setUrlParams(
        Schema.Struct({
          refresh: field(
            Schema.optionalWith(Schema.Literal("true", "false"), { exact: true }),
            "Whether to ask the provider now, however new the list is; absent: false.",
            "true"
          )
        })
      )
      .addSuccess(
        Schema.Struct({
          models: field(Schema.Array(UpstreamModel), "The models of the page."),
          error: field(
            Schema.NullOr(Schema.String),
            "Why the last fetch failed, where an older list is shown; null: it did not.",
            null
          ),
          nextCursor,
          total
        }).annotations({ identifier: "UpstreamModelList" })
      )
      .addError(NotFoundAnswer)
      .addError(UpstreamFailedAnswer)
  ) {}
