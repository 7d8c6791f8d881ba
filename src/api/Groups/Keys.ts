/** Gateway API keys. The secret is only in the answer to the creation. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { keyScopes, RateLimit } from "../../domain/ApiKey.ts"
import { endpointsOf } from "../Endpoints.ts"
import { NotFoundAnswer } from "../Errors.ts"
import { body, clearable, Created, IsoTime, Name, NoContent, optional, Text } from "../Inputs.ts"

export const KeyView = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  prefix: Schema.String,
  scopes: Schema.Array(Schema.String),
  allowedModels: Schema.NullOr(Schema.Array(Schema.String)),
  expiresAt: Schema.NullOr(Schema.String),
  rateLimits: Schema.Array(RateLimit),
  isActive: Schema.Boolean,
  createdAt: Schema.String,
  lastUsedAt: Schema.NullOr(Schema.String)
}).annotations({ identifier: "ApiKey" })
export type KeyView = typeof KeyView.Type

const known: ReadonlySet<string> = new Set(keyScopes)

/** A misspelt scope is refused: it would be missed only when the key is used. */
const Scope = Schema.Trim.pipe(
  Schema.filter((scope) => known.has(scope) || `is no scope; the ones for management are 'manage' and 'admin'`)
)
const Scopes = Schema.Array(Scope).pipe(Schema.maxItems(32))
const ModelPatterns = Schema.Array(Text.pipe(Schema.maxLength(300))).pipe(Schema.maxItems(1000))

const settings = {
  scopes: optional(Scopes),
  allowedModels: clearable(ModelPatterns),
  expiresAt: clearable(IsoTime),
  rateLimits: optional(Schema.Array(RateLimit).pipe(Schema.maxItems(50))),
  isActive: optional(Schema.Boolean)
}

export const CreateKey = Schema.Struct({ name: Name, ...settings }).annotations(body("CreateApiKey"))
export type CreateKey = typeof CreateKey.Type

/** What is absent stays as it is. A time in the past ends the key at once. */
const UpdateKey = Schema.Struct({ name: optional(Name), ...settings }).annotations(body("UpdateApiKey"))
export type UpdateKey = typeof UpdateKey.Type

const Key = Schema.Struct({ key: KeyView })

const at = endpointsOf("keys")

export class Keys extends HttpApiGroup.make("keys")
  .add(at("list").addSuccess(Schema.Struct({ keys: Schema.Array(KeyView) })))
  .add(
    at("create")
      .setPayload(CreateKey)
      .addSuccess(Created(Schema.Struct({ key: KeyView, secret: Schema.String })))
  )
  .add(at("get").addSuccess(Key).addError(NotFoundAnswer))
  .add(at("update").setPayload(UpdateKey).addSuccess(Key).addError(NotFoundAnswer))
  .add(at("remove").addSuccess(NoContent).addError(NotFoundAnswer)) {}
