/** Limits of requests: the state of every account, and the settings common to all. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { ResilienceSettings } from "../resilience/entity.ts"
import { LockoutView } from "../resilience/routes.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { exampleId } from "../../contract/Examples.ts"
import { healthFields } from "../../contract/HealthFields.ts"
import { nextCursor, total } from "../../contract/Inputs.ts"
import { field } from "../../kernel/Documented.ts"

/**
 * `remainingMs` is the time until the account may be used: 0 now, null when only an operator or new credentials can help.
 * `inUse` and `waiting` count requests, where `maxConcurrent` limits them.
 */
export const AccountStatus = Schema.Struct({
  connectionId: field(Schema.String, "Id of the connection.", exampleId),
  provider: field(Schema.String, "Id of its provider.", "openai"),
  name: field(Schema.String, "Its name.", "work account"),
  isActive: field(Schema.Boolean, "Whether requests may use it.", true),
  ...healthFields,
  remainingMs: field(
    Schema.NullOr(Schema.Number),
    "Milliseconds until it can be used; 0: now, null: only an operator or new credentials help.",
    0
  ),
  maxConcurrent: field(Schema.NullOr(Schema.Number), "Most calls at once; null: no limit.", 8),
  inUse: field(Schema.Number, "Calls now, where they are limited.", 1),
  waiting: field(Schema.Number, "Requests that wait for a call to end.", 0)
}).annotations({ identifier: "AccountStatus" })
export type AccountStatus = typeof AccountStatus.Type

/** Every connection counts once; those that are switched off are `inactive`, whatever else is known of them. */
export const AccountCounts = Schema.Struct({
  total: field(Schema.Number, "All connections.", 3),
  available: field(Schema.Number, "Those that can be used now.", 2),
  cooling: field(Schema.Number, "Those that wait for a time to pass.", 1),
  terminal: field(Schema.Number, "Those that need an operator.", 0),
  inactive: field(Schema.Number, "Those that are switched off.", 0)
}).annotations({ identifier: "AccountCounts" })
export type AccountCounts = typeof AccountCounts.Type

export const RateLimitStatus = Schema.Struct({
  connections: field(Schema.Array(AccountStatus), "The connections of the page."),
  overview: field(AccountCounts, "Counts over all connections."),
  lockouts: field(Schema.Array(LockoutView), "Models that are locked, of all connections."),
  nextCursor,
  total
}).annotations({ identifier: "RateLimitStatus" })

/** The parts of `/api/resilience` that hold requests back. */
const RateLimitSettings = ResilienceSettings.pick(
  "requestQueue",
  "connectionQueue",
  "connectionCooldown",
  "comboCooldownWait",
  "quotaShareConcurrencyLimit",
  "modelLockout",
  "loadShedding"
).annotations({ identifier: "RateLimitSettings" })

const at = endpointsOf("rateLimits")

export class RateLimits extends HttpApiGroup.make("rateLimits")
  .annotate(OpenApi.Title, "Rate limits")
  .annotate(OpenApi.Description, "What holds requests back now, and the settings that decide it.")
  .add(
    at("status", {
      summary: "Show what holds requests back",
      description: "The state of every connection, and the models that are locked.",
      paged: true
    }).addSuccess(RateLimitStatus)
  )
  .add(
    at("settings", {
      summary: "Show the settings of limits",
      description: "The parts of `/api/resilience` that hold requests back; they are changed there."
    }).addSuccess(RateLimitSettings)
  ) {}
