/** Gateway API keys. The secret is only in the answer to the creation. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { keyScopes, RateLimit } from "../../domain/ApiKey.ts"
import { endpointsOf } from "../Endpoints.ts"
import { NotFoundAnswer } from "../Errors.ts"
import { body, clearable, Created, IsoTime, Name, nextCursor, NoContent, optional, Text } from "../Inputs.ts"
import { exampleKeyId, exampleTime } from "../Examples.ts"
import { field } from "../../kernel/Documented.ts"

const words = {
  name: "A name for people.",
  scopes: "What the key may do besides inference; `manage` and `admin` open the management routes.",
  allowedModels: "Model ids it may use, `*` at the end for any rest; null or empty: all of them.",
  expiresAt: "When it stops working, ISO 8601; null: never.",
  rateLimits: "At most `limit` requests in each `window` of seconds.",
  isActive: "Whether it works."
} as const

export const KeyView = Schema.Struct({
  id: field(Schema.String, "Id of the key, in paths of this API.", exampleKeyId),
  name: field(Schema.String, words.name, "laptop"),
  prefix: field(Schema.String, "The first characters of the secret, to recognise it by.", "gw_4f1c2a"),
  scopes: field(Schema.Array(Schema.String), words.scopes, ["manage"]),
  allowedModels: field(Schema.NullOr(Schema.Array(Schema.String)), words.allowedModels, ["openai/*"]),
  expiresAt: field(Schema.NullOr(Schema.String), words.expiresAt, "2035-01-01T00:00:00.000Z"),
  rateLimits: field(Schema.Array(RateLimit), words.rateLimits, [{ limit: 60, window: 60 }]),
  isActive: field(Schema.Boolean, words.isActive, true),
  createdAt: field(Schema.String, "When it was created, ISO 8601.", exampleTime),
  lastUsedAt: field(Schema.NullOr(Schema.String), "When it was last used, ISO 8601; null: never.", exampleTime)
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
  scopes: field(optional(Scopes), words.scopes, ["manage"]),
  allowedModels: field(clearable(ModelPatterns), words.allowedModels, ["openai/*"]),
  expiresAt: field(clearable(IsoTime), words.expiresAt, "2035-01-01T00:00:00.000Z"),
  rateLimits: field(optional(Schema.Array(RateLimit).pipe(Schema.maxItems(50))), words.rateLimits, [
    { limit: 60, window: 60 }
  ]),
  isActive: field(optional(Schema.Boolean), words.isActive, true)
}

export const CreateKey = Schema.Struct({ name: field(Name, words.name, "laptop"), ...settings }).annotations(
  body("CreateApiKey")
)
export type CreateKey = typeof CreateKey.Type

/** What is absent stays as it is. A time in the past ends the key at once. */
export const UpdateKey = Schema.Struct({ name: field(optional(Name), words.name, "laptop"), ...settings }).annotations(
  body("UpdateApiKey")
)
export type UpdateKey = typeof UpdateKey.Type

const Key = Schema.Struct({ key: field(KeyView, "The key, without its secret.") }).annotations({
  identifier: "ApiKeyAnswer"
})

const at = endpointsOf("keys", { id: ["Id of the key.", exampleKeyId] })

export class Keys extends HttpApiGroup.make("keys")
  .annotate(OpenApi.Title, "API keys")
  .annotate(OpenApi.Description, "Keys of this gateway. The secret is in the answer to the creation and nowhere else.")
  .add(
    at("list", {
      summary: "List API keys",
      description: "All keys, the oldest first, without their secrets.",
      paged: true
    }).addSuccess(
      Schema.Struct({ keys: field(Schema.Array(KeyView), "The keys of the page."), nextCursor }).annotations({
        identifier: "ApiKeyList"
      })
    )
  )
  .add(
    at("create", {
      summary: "Create an API key",
      description: "The answer has the secret: it is shown this once.",
      example: { name: "laptop", scopes: ["manage"] }
    })
      .setPayload(CreateKey)
      .addSuccess(
        Created(
          Schema.Struct({
            key: field(KeyView, "The key."),
            secret: field(Schema.String, "What clients send. Keep it: it cannot be shown again.", "gw_4f1c2a")
          }).annotations({ identifier: "CreatedApiKey" })
        )
      )
  )
  .add(
    at("get", { summary: "Show an API key", description: "The key, without its secret." })
      .addSuccess(Key)
      .addError(NotFoundAnswer)
  )
  .add(
    at("update", {
      summary: "Change an API key",
      description: "What is absent stays as it is. An `expiresAt` in the past ends the key at once.",
      example: { name: "old laptop", isActive: true }
    })
      .setPayload(UpdateKey)
      .addSuccess(Key)
      .addError(NotFoundAnswer)
  )
  .add(
    at("remove", { summary: "Delete an API key", description: "It stops working at once." })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  ) {}
