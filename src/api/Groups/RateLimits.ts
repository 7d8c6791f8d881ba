/** What holds requests back: the state of every account, and the settings common to all. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { TestStatus } from "../../domain/Connection.ts"
import { ResilienceSettings } from "../../domain/Resilience.ts"
import { LockoutView } from "./Resilience.ts"
import { endpointsOf } from "../Endpoints.ts"

/**
 * `remainingMs` is the time until the account may be used: 0 now, null when only an operator or new credentials can help.
 * `inUse` and `waiting` count requests, where `maxConcurrent` limits them.
 */
export const AccountStatus = Schema.Struct({
  connectionId: Schema.String,
  provider: Schema.String,
  name: Schema.String,
  isActive: Schema.Boolean,
  testStatus: TestStatus,
  rateLimitedUntil: Schema.NullOr(Schema.String),
  remainingMs: Schema.NullOr(Schema.Number),
  backoffLevel: Schema.Number,
  lastError: Schema.NullOr(Schema.String),
  lastErrorType: Schema.NullOr(Schema.String),
  errorCode: Schema.NullOr(Schema.String),
  maxConcurrent: Schema.NullOr(Schema.Number),
  inUse: Schema.Number,
  waiting: Schema.Number
}).annotations({ identifier: "AccountStatus" })
export type AccountStatus = typeof AccountStatus.Type

/** Every connection counts once; those that are switched off are `inactive`, whatever else is known of them. */
export const AccountCounts = Schema.Struct({
  total: Schema.Number,
  available: Schema.Number,
  cooling: Schema.Number,
  terminal: Schema.Number,
  inactive: Schema.Number
}).annotations({ identifier: "AccountCounts" })
export type AccountCounts = typeof AccountCounts.Type

export const RateLimitStatus = Schema.Struct({
  connections: Schema.Array(AccountStatus),
  overview: AccountCounts,
  lockouts: Schema.Array(LockoutView)
})

/** The parts of `/api/resilience` that hold requests back. */
const RateLimitSettings = ResilienceSettings.pick(
  "requestQueue",
  "connectionQueue",
  "connectionCooldown",
  "comboCooldownWait",
  "quotaShareConcurrencyLimit",
  "modelLockout",
  "loadShedding"
)

const at = endpointsOf("rateLimits")

export class RateLimits extends HttpApiGroup.make("rateLimits")
  .add(at("status").addSuccess(RateLimitStatus))
  .add(at("settings").addSuccess(RateLimitSettings)) {}
