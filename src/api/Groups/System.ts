/** Health and the description of the service. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../Endpoints.ts"
import { AccountCounts } from "./RateLimits.ts"

export const Ping = Schema.Struct({ status: Schema.Literal("ok"), version: Schema.String, uptimeMs: Schema.Number })

/**
 * Counts of known providers, stored connections, active ones, and ones whose health is known; then the
 * breakers of connected providers by state, and the connections by what can be done with them. `degraded`: a provider in use has an open
 * breaker, there are active connections and none can be used now, or usage rows cannot be written.
 */
export const Health = Schema.Struct({
  status: Schema.Literal("ok", "degraded"),
  version: Schema.String,
  uptimeMs: Schema.Number,
  catalogCount: Schema.Number,
  configuredCount: Schema.Number,
  activeCount: Schema.Number,
  monitoredCount: Schema.Number,
  breakers: Schema.Struct({
    closed: Schema.Number,
    degraded: Schema.Number,
    open: Schema.Number,
    halfOpen: Schema.Number
  }),
  connections: AccountCounts,
  /** Rows of the usage log that wait for the database; `problem` is why they cannot be written (a full disk), null when they can. */
  usageLog: Schema.Struct({
    problem: Schema.NullOr(Schema.String),
    waitingRows: Schema.Number,
    /** Since the start: in memory only until they were in the database, and given up because too many waited. */
    rowsNotOnFile: Schema.Number,
    rowsDropped: Schema.Number
  })
}).annotations({ identifier: "Health" })

const at = endpointsOf("system")

export class System extends HttpApiGroup.make("system")
  .add(at("ping").addSuccess(Ping))
  .add(at("health").addSuccess(Health))
  .add(at("openapi").addSuccess(Schema.Unknown)) {}
