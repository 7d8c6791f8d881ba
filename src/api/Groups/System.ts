/** Health and the description of the service. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"

export const Ping = Schema.Struct({ status: Schema.Literal("ok"), version: Schema.String, uptimeMs: Schema.Number })

/** Counts of document 2 "Monitoring": providers known, connections stored, active ones, and ones whose health is known. */
export const Health = Schema.Struct({
  status: Schema.Literal("ok", "degraded"),
  version: Schema.String,
  uptimeMs: Schema.Number,
  catalogCount: Schema.Number,
  configuredCount: Schema.Number,
  activeCount: Schema.Number,
  monitoredCount: Schema.Number
}).annotations({ identifier: "Health" })

export class System extends HttpApiGroup.make("system")
  .add(HttpApiEndpoint.get("ping", "/api/health/ping").addSuccess(Ping))
  .add(HttpApiEndpoint.get("health", "/api/monitoring/health").addSuccess(Health))
  .add(HttpApiEndpoint.get("openapi", "/openapi.json").addSuccess(Schema.Unknown)) {}
