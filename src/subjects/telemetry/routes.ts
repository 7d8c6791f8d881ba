/** Latencies, sessions and caches of the running gateway. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { exampleId, exampleKeyId, exampleTime } from "../../contract/Examples.ts"

const strict = { parseOptions: { onExcessProperty: "error", errors: "all" } } as const

const longestWindowMs = 3_600_000

export const WindowQuery = Schema.Struct({
  windowMs: field(
    Schema.optionalWith(
      Schema.NumberFromString.pipe(Schema.int(), Schema.between(1_000, longestWindowMs)).annotations({
        jsonSchema: { type: "integer", minimum: 1_000, maximum: longestWindowMs }
      }),
      { exact: true }
    ),
    "How far back, in milliseconds; absent: five minutes.",
    300_000
  )
}).annotations(strict)

const percentiles = {
  count: field(Schema.Number, "Requests.", 120),
  p50: field(Schema.Number, "Half of them took at most so many milliseconds.", 800),
  p95: field(Schema.Number, "95 of 100 took at most so many milliseconds.", 2_400),
  p99: field(Schema.Number, "99 of 100 took at most so many milliseconds.", 4_100)
}

export const TelemetrySummary = Schema.Struct({
  windowMs: field(Schema.Number, "How far back was asked for, in milliseconds.", 300_000),
  coveredMs: field(
    Schema.Number,
    "How far back the numbers go: less where more requests ended than are remembered (16,384).",
    300_000
  ),
  providers: field(
    Schema.Array(
      Schema.Struct({
        provider: field(Schema.String, "The provider; `none`: none served them.", "openai"),
        ...percentiles
      }).annotations({
        identifier: "ProviderLatency"
      })
    ),
    "How long requests took, by provider."
  ),
  phases: field(
    Schema.Array(
      Schema.Struct({
        phase: field(
          Schema.Literal("resolve", "failover", "connect", "stream"),
          "`resolve`: from arrival to the first call; `failover`: from there to the call that answered; `connect`: from there to the first content; `stream`: from there to the end."
        ),
        ...percentiles
      }).annotations({ identifier: "PhaseLatency" })
    ),
    "How long the parts of requests took."
  ),
  requests: field(Schema.Number, "Requests of the window.", 120),
  errorRate: field(Schema.Number, "The part of them that failed, from 0 to 1.", 0.01),
  activeConnections: field(Schema.Number, "Calls to providers that are under way.", 2),
  uptimeMs: field(Schema.Number, "Milliseconds since the start.", 86_400_000),
  memory: field(
    Schema.Struct({
      rssBytes: field(Schema.Number, "Memory of the process.", 120_000_000),
      heapUsedBytes: field(Schema.Number, "Memory that objects take.", 60_000_000),
      heapTotalBytes: field(Schema.Number, "Memory that is kept for objects.", 80_000_000)
    }),
    "Memory, in bytes."
  )
}).annotations({ identifier: "TelemetrySummary" })
export type TelemetrySummary = typeof TelemetrySummary.Type

export const SessionRow = Schema.Struct({
  id: field(Schema.String, "Tells sessions apart; no secret.", "9f86d081884c7d65"),
  named: field(
    Schema.Boolean,
    "Whether the caller named its session; else it is one key with one model of a connection.",
    true
  ),
  apiKeyId: field(Schema.NullOr(Schema.String), "Who asked; null: a caller without a key.", exampleKeyId),
  model: field(Schema.NullOr(Schema.String), "The model that served it last.", "gpt-4o-mini"),
  provider: field(Schema.NullOr(Schema.String), "Its provider.", "openai"),
  connectionId: field(Schema.NullOr(Schema.String), "Its connection.", exampleId),
  requests: field(Schema.Number, "Requests so far.", 12),
  lastUsedAt: field(Schema.String, "When the latest one ended, ISO 8601.", exampleTime)
}).annotations({ identifier: "Session" })
export type SessionRow = typeof SessionRow.Type

export const Sessions = Schema.Struct({
  count: field(Schema.Number, "How many there are.", 1),
  sessions: field(Schema.Array(SessionRow), "The one used last first; at most 200, used within 15 minutes.")
}).annotations({ identifier: "SessionList" })

export const CacheStats = Schema.Struct({
  semanticCache: field(
    Schema.Struct({
      enabled: field(Schema.Boolean, "Whether answers are kept.", false),
      memorySize: field(Schema.Number, "Answers in memory.", 0),
      memoryMaxSize: field(Schema.Number, "Most answers in memory.", 0),
      dbSize: field(Schema.Number, "Answers in the database.", 0),
      hits: field(Schema.Number, "Requests that were answered from it.", 0),
      misses: field(Schema.Number, "Requests that were not.", 0),
      semanticHits: field(Schema.Number, "Of the hits, those that asked the same in other words.", 0),
      hitRate: field(Schema.Number, "The part of them that were, from 0 to 1.", 0)
    }),
    "Answers that are given again."
  ),
  idempotency: field(
    Schema.Struct({
      activeKeys: field(Schema.Number, "Keys that are remembered.", 0),
      windowMs: field(Schema.Number, "How long they are, in milliseconds.", 0)
    }),
    "Requests that are made once only."
  )
}).annotations({ identifier: "CacheStats" })
export type CacheStats = typeof CacheStats.Type

export const CacheCleared = Schema.Struct({
  cleared: field(Schema.Number, "Entries that were removed.", 0)
}).annotations({ identifier: "CacheCleared" })

const at = endpointsOf("telemetry")

export class Telemetry extends HttpApiGroup.make("telemetry")
  .annotate(OpenApi.Title, "Telemetry")
  .annotate(OpenApi.Description, "How fast the gateway is, who uses it now, and what its caches hold.")
  .add(
    at("summary", {
      summary: "Show latencies",
      description: "Percentiles of the latest requests by provider and phase, and the state of the process."
    })
      .setUrlParams(WindowQuery)
      .addSuccess(TelemetrySummary)
  )
  .add(at("sessions", { summary: "List sessions", description: "Who uses the gateway now." }).addSuccess(Sessions))
  .add(
    at("caches", { summary: "Show the caches", description: "What is kept to answer again." }).addSuccess(CacheStats)
  )
  .add(
    at("clearCaches", { summary: "Clear the caches", description: "Removes everything that is kept." }).addSuccess(
      CacheCleared
    )
  ) {}
