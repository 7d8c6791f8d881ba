/** Gateway API keys. The secret is only in the answer to the creation. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { endpointCategories, keyScopes, RateLimit } from "./entity.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../../contract/Errors.ts"
import {
  body,
  clearable,
  Created,
  IsoTime,
  Name,
  nextCursor,
  total,
  NoContent,
  optional,
  Text,
  TimeZone
} from "../../contract/Inputs.ts"
import { exampleConnectionId, exampleKeyId, exampleTime } from "../../contract/Examples.ts"
import { field } from "../../kernel/Documented.ts"
import { closest } from "../../kernel/text/Closest.ts"
import { isIpRange } from "../../kernel/IpRanges.ts"
import { observed } from "../../kernel/Observed.ts"

const words = {
  name: "A name for people.",
  scopes:
    "What the key may do besides inference; `manage` and `admin` open the management routes, `self:usage` (which a new key always has) the key's own usage.",
  allowedModels:
    "Model ids it may use, `*` in them for any text; null or empty: all of them. `auto/…` and `qtSd/…` are not judged by it.",
  blockedModels: "Model ids that never serve it, `*` in them for any text, whatever else is allowed.",
  allowedEndpoints: "The kinds of endpoints it may use; empty: all of them.",
  allowedCombos: "Names of the combos it may use, `*` in them for any text; empty: all of them.",
  allowedProviders:
    "Ids of the providers, or prefixes of nodes, that may serve it, also within combos and `auto`; empty: all of them.",
  allowedConnections: "Ids of the connections that may serve it, also within combos and `auto`; empty: all of them.",
  ipAllowlist: "Addresses and CIDR blocks it may be used from, as the socket has them; empty: everywhere.",
  maxRequestsPerDay: "Most requests in 24 hours; null or 0: no limit.",
  maxRequestsPerMinute: "Most requests in a minute; null or 0: no limit.",
  maxSessions: "Most requests under way at the same time; null or 0: no limit.",
  accessSchedule: "When it may be used; null: always.",
  noLog: "Nothing of what is said with it is kept; usage and cost are.",
  expiresAt: "When it stops working, ISO 8601; null: never.",
  rateLimits: "At most `limit` requests in each `window` of seconds.",
  isActive: "Whether it works.",
  userId: "Id of the person it belongs to, whose limits hold for it; null: none.",
  teamId:
    "Id of the team it belongs to or is used for, whose limits and those of the teams above hold for it; null: none."
} as const

const scheduleWords = {
  enabled: ["Whether it counts.", true],
  from: ["Begin, `HH:MM`.", "08:00"],
  until: ["End, `HH:MM`, not included; not after `from`: on the next day.", "18:30"],
  days: ["Days on which it begins, 0 is Sunday; absent: every day.", [1, 2, 3, 4, 5]],
  tz: ["Time zone, a name of the IANA database.", "Europe/Zurich"]
} as const

const exampleSchedule = { enabled: true, from: "08:00", until: "18:30", days: [1, 2, 3, 4, 5], tz: "Europe/Zurich" }

const Schedule = Schema.Struct({
  enabled: field(Schema.Boolean, ...scheduleWords.enabled),
  from: field(Schema.String, ...scheduleWords.from),
  until: field(Schema.String, ...scheduleWords.until),
  days: field(Schema.Array(Schema.Number), ...scheduleWords.days),
  tz: field(Schema.String, ...scheduleWords.tz)
}).annotations({ identifier: "AccessSchedule" })

const Category = Schema.Literal(...endpointCategories)

export const KeyView = Schema.Struct({
  id: field(Schema.String, "Id of the key, in paths of this API.", exampleKeyId),
  name: field(Schema.String, words.name, "laptop"),
  prefix: field(Schema.String, "The first characters of the secret, to recognise it by.", "gw_4f1c2a"),
  scopes: field(Schema.Array(Schema.String), words.scopes, ["manage"]),
  allowedModels: field(Schema.NullOr(Schema.Array(Schema.String)), words.allowedModels, ["openai/*"]),
  blockedModels: field(Schema.Array(Schema.String), words.blockedModels, ["*preview*"]),
  allowedEndpoints: field(Schema.Array(Category), words.allowedEndpoints, ["chat", "models"]),
  allowedCombos: field(Schema.Array(Schema.String), words.allowedCombos, ["fast*"]),
  allowedProviders: field(Schema.Array(Schema.String), words.allowedProviders, ["openai"]),
  allowedConnections: field(Schema.Array(Schema.String), words.allowedConnections, [exampleConnectionId]),
  ipAllowlist: field(Schema.Array(Schema.String), words.ipAllowlist, ["192.0.2.0/24"]),
  expiresAt: field(Schema.NullOr(Schema.String), words.expiresAt, "2035-01-01T00:00:00.000Z"),
  rateLimits: field(Schema.Array(RateLimit), words.rateLimits, [{ limit: 60, window: 60 }]),
  maxRequestsPerDay: field(Schema.NullOr(Schema.Number), words.maxRequestsPerDay, 1000),
  maxRequestsPerMinute: field(Schema.NullOr(Schema.Number), words.maxRequestsPerMinute, 60),
  maxSessions: field(Schema.NullOr(Schema.Number), words.maxSessions, 4),
  accessSchedule: field(Schema.NullOr(Schedule), words.accessSchedule, exampleSchedule),
  noLog: field(Schema.Boolean, words.noLog, false),
  isActive: field(Schema.Boolean, words.isActive, true),
  userId: field(Schema.NullOr(Schema.String), words.userId, null),
  teamId: field(Schema.NullOr(Schema.String), words.teamId, null),
  createdAt: field(Schema.String, "When it was created, ISO 8601.", exampleTime),
  lastUsedAt: observed(Schema.NullOr(Schema.String), "When it was last used, ISO 8601; null: never.", exampleTime)
}).annotations({ identifier: "ApiKey" })
export type KeyView = typeof KeyView.Type

const known: ReadonlySet<string> = new Set(keyScopes)

/** A misspelt scope is refused: it would be missed only when the key is used. */
const Scope = Schema.Trim.pipe(
  Schema.filter((scope) => {
    if (known.has(scope)) return true
    const [near] = closest(scope, keyScopes, 1)
    return `is no scope${near === undefined ? "" : `, such as '${near}'`}; there are ${keyScopes.join(", ")}`
  })
)
const Scopes = Schema.Array(Scope).pipe(Schema.maxItems(2 * keyScopes.length))
const Patterns = Schema.Array(Text.pipe(Schema.maxLength(300))).pipe(Schema.maxItems(1000))
const ProviderIds = Schema.Array(Text.pipe(Schema.maxLength(100))).pipe(Schema.maxItems(100))
const ConnectionIds = Schema.Array(Text.pipe(Schema.maxLength(100))).pipe(Schema.maxItems(100))
const Categories = Schema.Array(Category).pipe(Schema.maxItems(endpointCategories.length))

export const IpRange = Schema.Trim.pipe(
  Schema.filter((text) => isIpRange(text) || "must be an IP address or a CIDR block such as 192.0.2.0/24")
)
const IpRanges = Schema.Array(IpRange).pipe(Schema.maxItems(1000))

const OwnerId = Text.pipe(Schema.maxLength(100))

const Most = Schema.Int.pipe(Schema.between(0, 1_000_000_000))

const ClockTime = Schema.String.pipe(
  Schema.pattern(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { message: () => "must be a time of day, HH:MM, such as 08:30" })
)

const GivenSchedule = Schema.Struct({
  enabled: field(optional(Schema.Boolean), ...scheduleWords.enabled),
  from: field(ClockTime, ...scheduleWords.from),
  until: field(ClockTime, ...scheduleWords.until),
  days: field(
    optional(Schema.Array(Schema.Int.pipe(Schema.between(0, 6))).pipe(Schema.minItems(1), Schema.maxItems(7))),
    ...scheduleWords.days
  ),
  tz: field(TimeZone, ...scheduleWords.tz)
}).annotations({ identifier: "GivenAccessSchedule" })

const settings = {
  scopes: field(optional(Scopes), words.scopes, ["manage"]),
  allowedModels: field(clearable(Patterns), words.allowedModels, ["openai/*"]),
  blockedModels: field(clearable(Patterns), words.blockedModels, ["*preview*"]),
  allowedEndpoints: field(clearable(Categories), words.allowedEndpoints, ["chat", "models"]),
  allowedCombos: field(clearable(Patterns), words.allowedCombos, ["fast*"]),
  allowedProviders: field(clearable(ProviderIds), words.allowedProviders, ["openai"]),
  allowedConnections: field(clearable(ConnectionIds), words.allowedConnections, [exampleConnectionId]),
  ipAllowlist: field(clearable(IpRanges), words.ipAllowlist, ["192.0.2.0/24"]),
  expiresAt: field(clearable(IsoTime), words.expiresAt, "2035-01-01T00:00:00.000Z"),
  rateLimits: field(optional(Schema.Array(RateLimit).pipe(Schema.maxItems(50))), words.rateLimits, [
    { limit: 60, window: 60 }
  ]),
  maxRequestsPerDay: field(clearable(Most), words.maxRequestsPerDay, 1000),
  maxRequestsPerMinute: field(clearable(Most), words.maxRequestsPerMinute, 60),
  maxSessions: field(clearable(Most), words.maxSessions, 4),
  accessSchedule: field(clearable(GivenSchedule), words.accessSchedule, exampleSchedule),
  noLog: field(optional(Schema.Boolean), words.noLog, false),
  isActive: field(optional(Schema.Boolean), words.isActive, true),
  userId: field(clearable(OwnerId), words.userId, null),
  teamId: field(clearable(OwnerId), words.teamId, null)
}

export const CreateKey = Schema.Struct({ name: field(Name, words.name, "laptop"), ...settings }).annotations(
  body("CreateApiKey")
)
export type CreateKey = typeof CreateKey.Type

/** Update of a key; an absent member stays as it is. A time in the past ends the key at once. */
export const UpdateKey = Schema.Struct({ name: field(optional(Name), words.name, "laptop"), ...settings }).annotations(
  body("UpdateApiKey")
)
export type UpdateKey = typeof UpdateKey.Type

/** Rotation of a key; may be left out as a whole. */
export const RotateKey = Schema.NullOr(
  Schema.Struct({
    overlapSeconds: field(
      optional(Schema.Int.pipe(Schema.between(0, 2_592_000))),
      "How long the secret before still works, at most 30 days; absent or 0: it ends at once, with all that were replaced earlier.",
      86_400
    )
  }).annotations(body("RotateApiKey"))
)
export type RotateKey = NonNullable<typeof RotateKey.Type>

const WithSecret = {
  key: field(KeyView, "The key."),
  secret: field(Schema.String, "What clients send. Keep it: it cannot be shown again.", "gw_4f1c2a")
}

const Key = Schema.Struct({ key: field(KeyView, "The key, without its secret.") }).annotations({
  identifier: "ApiKeyAnswer"
})

export const keyListing = {
  sorts: ["name", "createdAt", "lastUsedAt", "expiresAt"],
  searched: "name, id, the first characters of the secret",
  summary: ["id", "name", "prefix", "scopes", "isActive", "expiresAt", "lastUsedAt"]
} as const

const at = endpointsOf("keys", { id: ["Id of the key.", exampleKeyId] })

export class Keys extends HttpApiGroup.make("keys")
  .annotate(OpenApi.Title, "API keys")
  .annotate(OpenApi.Description, "Keys of this gateway. The secret is in the answer to the creation and nowhere else.")
  .add(
    at("list", {
      summary: "List API keys",
      description: "All keys, the oldest first, without their secrets.",
      listed: keyListing
    }).addSuccess(
      Schema.Struct({ keys: field(Schema.Array(KeyView), "The keys of the page."), nextCursor, total }).annotations({
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
      .addSuccess(Created(Schema.Struct(WithSecret).annotations({ identifier: "CreatedApiKey" })))
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
      .addError(ConflictAnswer)
  )
  .add(
    at("patch", {
      summary: "Change a part of an API key",
      description: "The same as PUT: what is absent stays as it is.",
      example: { allowedModels: ["openai/*", "*mini*"], allowedEndpoints: ["chat", "models"], noLog: true }
    })
      .setPayload(UpdateKey)
      .addSuccess(Key)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("rotate", {
      summary: "Give an API key another secret",
      description:
        "The answer has the new secret: it is shown this once. The one before works until the overlap ends, also after a restart. At most five replaced secrets of a key work at a time.",
      example: { overlapSeconds: 86_400 }
    })
      .setPayload(RotateKey)
      .addSuccess(Schema.Struct(WithSecret).annotations({ identifier: "RotatedApiKey" }))
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("remove", { summary: "Delete an API key", description: "It stops working at once." })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  ) {}
