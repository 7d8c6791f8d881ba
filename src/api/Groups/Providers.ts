/** Provider connections. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { AccountTier, AuthType, DeclaredQuota, TestStatus } from "../../domain/Connection.ts"
import { WireName } from "../../domain/Wire.ts"
import { endpointsOf } from "../Endpoints.ts"
import { ConflictAnswer, ForbiddenAnswer, NotFoundAnswer, UpstreamFailedAnswer } from "../Errors.ts"
import {
  body,
  clearable,
  Created,
  HeaderMap,
  HttpUrl,
  IsoTime,
  Name,
  NoContent,
  optional,
  Secret,
  Text
} from "../Inputs.ts"

/** A connection as callers see it: the key is masked. Times are ISO 8601. */
export const ConnectionView = Schema.Struct({
  id: Schema.String,
  provider: Schema.String,
  name: Schema.String,
  authType: AuthType,
  isActive: Schema.Boolean,
  priority: Schema.Number,
  baseUrl: Schema.NullOr(Schema.String),
  wires: Schema.NullOr(Schema.Array(WireName)),
  defaultModel: Schema.NullOr(Schema.String),
  models: Schema.Array(Schema.String),
  tier: Schema.NullOr(AccountTier),
  max_concurrent: Schema.NullOr(Schema.Number),
  headers: Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.String })),
  quotas: Schema.Array(DeclaredQuota),
  testStatus: TestStatus,
  rateLimitedUntil: Schema.NullOr(Schema.String),
  lastError: Schema.NullOr(Schema.String),
  lastErrorType: Schema.NullOr(Schema.String),
  errorCode: Schema.NullOr(Schema.String),
  backoffLevel: Schema.Number,
  apiKey: Schema.NullOr(Schema.String),
  source: Schema.Literal("db", "env"),
  /** What the upstream lists as its models, asked in the background; null before the first question. */
  modelList: Schema.NullOr(
    Schema.Struct({
      count: Schema.Number,
      learnedAt: Schema.NullOr(Schema.String),
      /** Why the last question had no answer; the list before it stays in force. */
      error: Schema.NullOr(Schema.String)
    })
  ),
  createdAt: Schema.String,
  updatedAt: Schema.String
}).annotations({ identifier: "Connection" })
export type ConnectionView = typeof ConnectionView.Type

/** Tokens of an OAuth account. `tokenUrl` only for provider nodes; a registry provider's is fixed. */
export const OAuthInput = Schema.Struct({
  accessToken: Secret,
  refreshToken: optional(Secret),
  expiresAt: optional(IsoTime),
  clientId: optional(Schema.String),
  clientSecret: optional(Secret),
  tokenUrl: optional(HttpUrl)
}).annotations({ identifier: "OAuthInput" })
export type OAuthInput = typeof OAuthInput.Type

const Wires = Schema.Array(WireName).pipe(Schema.minItems(1), Schema.maxItems(5))
const ModelIds = Schema.Array(Text.pipe(Schema.maxLength(300))).pipe(Schema.maxItems(2000))
const Quota = Schema.Struct({
  ...DeclaredQuota.fields,
  /** One moment at which the window resets; from there on windows follow one another. */
  resetAt: Schema.optionalWith(Schema.NullOr(IsoTime), { exact: true })
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
  baseUrl: clearable(HttpUrl),
  wires: clearable(Wires),
  defaultModel: clearable(Text),
  tier: clearable(AccountTier),
  max_concurrent: clearable(MaxConcurrent),
  headers: clearable(HeaderMap)
}

const otherFields = {
  name: optional(Name),
  apiKey: optional(Secret),
  authType: optional(AuthType),
  models: optional(ModelIds),
  priority: optional(Priority),
  isActive: optional(Schema.Boolean),
  oauth: optional(OAuthInput),
  quotas: optional(Quotas)
}

export const CreateConnection = Schema.Struct({
  provider: Text,
  ...otherFields,
  ...nullableFields
}).annotations(body("CreateConnection"))
export type CreateConnection = typeof CreateConnection.Type

/** What is absent stays as it is; an absent `apiKey` keeps the stored one. `provider` may be repeated but not changed. */
export const UpdateConnection = Schema.Struct({
  provider: optional(Text),
  ...otherFields,
  ...nullableFields
}).annotations(body("UpdateConnection"))
export type UpdateConnection = typeof UpdateConnection.Type

/** `status` is the upstream's HTTP status, null when none arrived. */
export const TestResult = Schema.Struct({
  ok: Schema.Boolean,
  status: Schema.NullOr(Schema.Number),
  latencyMs: Schema.Number,
  model: Schema.NullOr(Schema.String),
  error: Schema.NullOr(Schema.String),
  /** How many models the upstream lists, and why it does not say. */
  models: Schema.NullOr(Schema.Number),
  modelsError: Schema.NullOr(Schema.String)
}).annotations({ identifier: "TestResult" })

/** A model as the upstream lists it. */
const UpstreamModel = Schema.Struct({
  id: Schema.String,
  name: Schema.NullOr(Schema.String),
  contextLength: Schema.NullOr(Schema.Number),
  maxOutputTokens: Schema.NullOr(Schema.Number)
}).annotations({ identifier: "UpstreamModel" })

const ValidateKey = Schema.Struct({
  provider: Text,
  apiKey: Secret,
  baseUrl: optional(HttpUrl)
}).annotations(body("ValidateKey"))

const ValidateResult = Schema.Struct({
  valid: Schema.Boolean,
  status: Schema.NullOr(Schema.Number),
  error: Schema.NullOr(Schema.String)
}).annotations(body("ValidateResult"))

const Connections = Schema.Struct({ connections: Schema.Array(ConnectionView) })
const Connection = Schema.Struct({ connection: ConnectionView })

const at = endpointsOf("providers")

export class Providers extends HttpApiGroup.make("providers")
  .add(at("list").addSuccess(Connections))
  .add(at("create").setPayload(CreateConnection).addSuccess(Created(Connection)).addError(ConflictAnswer))
  .add(at("validate").setPayload(ValidateKey).addSuccess(ValidateResult))
  .add(at("get").addSuccess(Connection).addError(NotFoundAnswer))
  .add(
    at("update")
      .setPayload(UpdateConnection)
      .addSuccess(Connection)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(ForbiddenAnswer)
  )
  .add(at("remove").addSuccess(NoContent).addError(NotFoundAnswer).addError(ForbiddenAnswer))
  .add(
    at("test")
      .setPayload(Schema.NullOr(Schema.Struct({ model: optional(Text) })))
      .addSuccess(TestResult)
      .addError(NotFoundAnswer)
  )
  .add(
    at("models")
      .addSuccess(Schema.Struct({ models: Schema.Array(UpstreamModel), error: Schema.NullOr(Schema.String) }))
      .addError(NotFoundAnswer)
      .addError(UpstreamFailedAnswer)
  ) {}
