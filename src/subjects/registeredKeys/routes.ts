/** API keys that programs register for one provider or account (docs/keys.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { exactOptional, field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer, TooManyRequestsAnswer } from "../../contract/Errors.ts"
import { exampleConnectionId, exampleKeyId, exampleTime } from "../../contract/Examples.ts"
import { body, Created, IsoTime, Name, nextCursor, total, NoContent, optional, Text } from "../../contract/Inputs.ts"
import { observed } from "../../kernel/Observed.ts"

const words = {
  name: ["A name for people.", "ci"],
  provider: ["Id of the provider, or prefix of the node, that the key is for.", "openai"],
  accountId: ["Id of the connection that the key is for; null: any connection of the provider.", exampleConnectionId],
  expiresAt: ["When it stops working, ISO 8601; null: never.", "2035-01-01T00:00:00.000Z"],
  dailyBudget: [
    "Most requests in 24 hours; null: no limit. It is `maxRequestsPerDay` of the API key: requests, not money.",
    1000
  ],
  hourlyBudget: [
    "Most requests in an hour; null: no limit. It is one of the `rateLimits` of the API key: requests, not money.",
    100
  ]
} as const

/** Shared members of a key and of the answer to its registration. */
const shown = {
  keyId: field(Schema.String, "Id of the key, in paths of this API and of `/api/keys`.", exampleKeyId),
  keyPrefix: field(Schema.String, "The first characters of the secret, to recognise it by.", "gwr_4f1c"),
  name: field(Schema.String, ...words.name),
  provider: field(Schema.String, ...words.provider),
  accountId: field(Schema.NullOr(Schema.String), ...words.accountId),
  expiresAt: field(Schema.NullOr(Schema.String), ...words.expiresAt),
  dailyBudget: field(Schema.NullOr(Schema.Number), ...words.dailyBudget),
  hourlyBudget: field(Schema.NullOr(Schema.Number), ...words.hourlyBudget),
  createdAt: field(Schema.String, "When it was issued, ISO 8601.", exampleTime)
}

export const RegisteredKeyView = Schema.Struct({
  id: field(Schema.String, "The same as `keyId`.", exampleKeyId),
  ...shown,
  isActive: field(Schema.Boolean, "Whether it works: neither revoked, nor switched off, nor expired.", true),
  revokedAt: field(Schema.NullOr(Schema.String), "When it was revoked, ISO 8601; null: it was not.", null),
  lastUsedAt: observed(Schema.NullOr(Schema.String), "When it was last used, ISO 8601; null: never.", exampleTime)
}).annotations({ identifier: "RegisteredKey" })
export type RegisteredKeyView = typeof RegisteredKeyView.Type

export const IssuedKeyView = Schema.Struct({
  key: field(Schema.String, "The secret. Keep it: it cannot be shown again.", "gwr_4f1c2a"),
  ...shown,
  warning: field(
    Schema.String,
    "What to know about the secret.",
    "Store this key now: it is shown this once and cannot be read again."
  )
}).annotations({ identifier: "IssuedKey" })
export type IssuedKeyView = typeof IssuedKeyView.Type

const mostRequestsPerHour = 1_000_000
const Budget = (most: number) => Schema.Int.pipe(Schema.between(1, most))
const Id = Text.pipe(Schema.maxLength(200))

export const RegisterKey = Schema.Struct({
  name: field(Name, ...words.name),
  provider: field(Id, ...words.provider),
  accountId: field(optional(Id), ...words.accountId),
  idempotencyKey: field(
    optional(Text.pipe(Schema.maxLength(255))),
    "A text of the caller's own for this registration: a second one with the same text is refused with a 409 that names the key. Only its hash is stored.",
    "deploy-2026-11-23"
  ),
  expiresAt: field(optional(IsoTime), ...words.expiresAt),
  dailyBudget: field(optional(Budget(1_000_000_000)), ...words.dailyBudget),
  hourlyBudget: field(optional(Budget(mostRequestsPerHour)), ...words.hourlyBudget)
}).annotations(body("RegisterKey"))
export type RegisterKey = typeof RegisterKey.Type

export const RegisteredKeysQuery = Schema.Struct({
  provider: field(exactOptional(Id), "Only keys of this provider.", "openai"),
  accountId: field(exactOptional(Id), "Only keys of this connection.", exampleConnectionId)
})

export const QuotaCheckQuery = Schema.Struct({
  provider: field(Id, ...words.provider),
  accountId: field(
    exactOptional(Id),
    "Id of the connection; absent: one connection of the provider that can be used suffices.",
    exampleConnectionId
  )
})

const QuotaCheckView = Schema.Struct({
  allowed: field(Schema.Boolean, "Whether a key can be registered and used now.", true),
  errorCode: field(
    exactOptional(Schema.String),
    "Why not, for programs: `PROVIDER_UNKNOWN`, `PROVIDER_NOT_CONNECTED`, `PROVIDER_CIRCUIT_OPEN`, `ACCOUNT_UNKNOWN`, `ACCOUNT_INACTIVE`, `ACCOUNT_UNAVAILABLE`, `ACCOUNT_COOLING_DOWN`, `ACCOUNT_QUOTA_EXHAUSTED`, `PROVIDER_QUOTA_EXCEEDED`, `ACCOUNT_QUOTA_EXCEEDED`, `MAX_ACTIVE_KEYS_EXCEEDED`. Absent when it is allowed.",
    "ACCOUNT_COOLING_DOWN"
  ),
  reason: field(
    exactOptional(Schema.String),
    "Why not, for people. Absent when it is allowed.",
    "The connection cools down."
  ),
  provider: field(Schema.String, ...words.provider),
  accountId: field(Schema.NullOr(Schema.String), ...words.accountId),
  checkedAt: field(Schema.String, "When it was checked, ISO 8601.", exampleTime)
}).annotations({ identifier: "QuotaCheck" })

const at = endpointsOf("registeredKeys", { id: ["Id of the registered key (`keyId`).", exampleKeyId] })

export class RegisteredKeys extends HttpApiGroup.make("registeredKeys")
  .annotate(OpenApi.Title, "Registered keys")
  .annotate(
    OpenApi.Description,
    "API keys that a program registers for one provider and, if it wants, one of its connections. They stand among `/api/keys` too, whose rules, budgets and logs hold for them."
  )
  .add(
    at("check", {
      summary: "Check whether a key could be registered",
      description:
        "Looks at the provider, its connection, their health and quotas, and the limits on issuing keys. Nothing is reserved."
    })
      .setUrlParams(QuotaCheckQuery)
      .addSuccess(QuotaCheckView)
  )
  .add(
    at("register", {
      summary: "Register a key",
      description:
        "The answer has the secret: it is shown this once. The key may use connections of its provider only, also within combos and `auto`. 429 when a limit on issuing is reached; `errorCode` says whose.",
      example: { name: "ci", provider: "openai", dailyBudget: 1000, hourlyBudget: 100 }
    })
      .setPayload(RegisterKey)
      .addSuccess(Created(IssuedKeyView))
      .addError(ConflictAnswer)
      .addError(TooManyRequestsAnswer)
  )
  .add(
    at("list", {
      summary: "List registered keys",
      description: "The oldest first, without their secrets.",
      paged: true
    })
      .setUrlParams(RegisteredKeysQuery)
      .addSuccess(
        Schema.Struct({
          keys: field(Schema.Array(RegisteredKeyView), "The keys of the page."),
          nextCursor,
          total
        }).annotations({ identifier: "RegisteredKeyList" })
      )
  )
  .add(
    at("get", { summary: "Show a registered key", description: "Without its secret." })
      .addSuccess(RegisteredKeyView)
      .addError(NotFoundAnswer)
  )
  .add(
    at("revoke", {
      summary: "Revoke a registered key",
      description: "It is refused at once and for good; its usage stays. Revoking it again changes nothing."
    })
      .addSuccess(RegisteredKeyView)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("remove", {
      summary: "Delete a registered key",
      description: "It stops working at once. It still counts as issued until a day has passed."
    })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  ) {}
