/** Usage rows, newest first (contract B3 `/api/usage/logs`). */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { WireName } from "../../domain/Wire.ts"

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

export class Usage extends HttpApiGroup.make("usage").add(
  HttpApiEndpoint.get("logs", "/api/usage/logs")
    .setUrlParams(LogsQuery)
    .addSuccess(Schema.Struct({ logs: Schema.Array(UsageLog), nextCursor: Schema.NullOr(Schema.String) }))
) {}
