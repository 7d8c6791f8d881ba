/** Usage rows, newest first, and the quotas of a connection. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { QuotaUnit, QuotaWindow } from "../../domain/Connection.ts"
import { WireName } from "../../domain/Wire.ts"
import { endpointsOf } from "../Endpoints.ts"
import { NotFoundAnswer } from "../Errors.ts"

export const UsageLog = Schema.Struct({
  id: Schema.String,
  timestamp: Schema.String,
  requestId: Schema.String,
  apiKeyId: Schema.NullOr(Schema.String),
  requestedModel: Schema.String,
  combo: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  connectionId: Schema.NullOr(Schema.String),
  model: Schema.NullOr(Schema.String),
  sourceWire: WireName,
  targetWire: Schema.NullOr(WireName),
  streamed: Schema.Boolean,
  outcome: Schema.Literal("completed", "failed", "aborted"),
  status: Schema.Number,
  latencyMs: Schema.Number,
  ttftMs: Schema.NullOr(Schema.Number),
  attempts: Schema.Number,
  tokens: Schema.Struct({
    in: Schema.Number,
    out: Schema.Number,
    cacheRead: Schema.Number,
    cacheWrite: Schema.Number,
    reasoning: Schema.Number
  }),
  costUsd: Schema.Number,
  priced: Schema.Boolean,
  usageSource: Schema.Literal("upstream", "estimated"),
  error: Schema.NullOr(Schema.String)
}).annotations({ identifier: "UsageLog" })
export type UsageLog = typeof UsageLog.Type

/** `nextCursor` of a page is the `cursor` of the next one. */
const LogsQuery = Schema.Struct({
  limit: Schema.optionalWith(Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, 1000)), { exact: true }),
  cursor: Schema.optionalWith(Schema.String.pipe(Schema.maxLength(200)), { exact: true })
})

/**
 * One quota of a connection. `source`: the operator declared it (then the gateway counts it), or it was learned from the provider.
 * Null: unknown.
 */
export const QuotaView = Schema.Struct({
  used: Schema.Number,
  total: Schema.NullOr(Schema.Number),
  remaining: Schema.NullOr(Schema.Number),
  remainingPercentage: Schema.NullOr(Schema.Number),
  resetAt: Schema.NullOr(Schema.String),
  unit: QuotaUnit,
  source: Schema.Literal("declared", "learned")
}).annotations({ identifier: "Quota" })
export type QuotaView = typeof QuotaView.Type

/** A rate limit of a short window, or of one that the provider does not name; `model` is null when it holds for all. */
const RateLimitView = Schema.Struct({
  model: Schema.NullOr(Schema.String),
  name: Schema.String,
  total: Schema.NullOr(Schema.Number),
  remaining: Schema.Number,
  resetAt: Schema.NullOr(Schema.String)
}).annotations({ identifier: "RateLimit" })

/** `quotas` has the tightest of each window and of each rate limit by its name; `limits` all windows, `rates` all rate limits. */
export const ConnectionUsage = Schema.Struct({
  plan: Schema.NullOr(Schema.String),
  quotas: Schema.Record({ key: Schema.String, value: QuotaView }),
  limits: Schema.Array(Schema.Struct({ window: QuotaWindow, ...QuotaView.fields })),
  rates: Schema.Array(RateLimitView)
}).annotations({ identifier: "ConnectionUsage" })
export type ConnectionUsage = typeof ConnectionUsage.Type

const at = endpointsOf("usage")

export class Usage extends HttpApiGroup.make("usage")
  .add(
    at("logs")
      .setUrlParams(LogsQuery)
      .addSuccess(Schema.Struct({ logs: Schema.Array(UsageLog), nextCursor: Schema.NullOr(Schema.String) }))
  )
  .add(at("connection").addSuccess(ConnectionUsage).addError(NotFoundAnswer)) {}
