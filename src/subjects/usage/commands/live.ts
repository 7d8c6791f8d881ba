/** `gateway sessions`, `gateway cache` and `gateway telemetry`: the running gateway. */
import * as Options from "@effect/cli/Options"
import * as Schema from "effect/Schema"
import { CacheCleared, CacheStats, type SessionRow, Sessions, TelemetrySummary } from "../../telemetry/routes.ts"
import { taking } from "../../../cli/flags/Forms.ts"
import * as Column from "../../../cli/output/Column.ts"
import { percent } from "../../../cli/output/money.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const sessionColumns: ReadonlyArray<Column.Column<SessionRow>> = [
  Column.name("SESSION", ({ id }) => id),
  Column.id("API KEY", ({ apiKeyId }) => apiKeyId ?? "-"),
  Column.text("MODEL", ({ model, provider }) => `${provider ?? "-"}/${model ?? "-"}`),
  Column.number("REQUESTS", ({ requests }) => requests, Column.thousands),
  Column.time("LAST USED", ({ lastUsedAt }) => lastUsedAt),
  Column.id("CONNECTION", ({ connectionId }) => connectionId ?? "-", { in: "wide" })
]

export const sessionsCommand = asking("sessions", "telemetry", {}, function* (client) {
  const answer = yield* client.sessions()
  yield* Output.list({
    schema: Sessions,
    value: answer,
    rows: answer.sessions,
    columns: sessionColumns,
    empty: "No session was used in the last 15 minutes."
  })
})

const cachePage = ({ idempotency, semanticCache }: CacheStats) =>
  Output.print(
    fields([
      ["Answer cache", semanticCache.enabled ? "on" : "off"],
      ["In memory", `${semanticCache.memorySize} of ${semanticCache.memoryMaxSize}`],
      ["In the database", String(semanticCache.dbSize)],
      ["Hits", `${semanticCache.hits} (${percent(semanticCache.hitRate)})`],
      ["Of them in other words", String(semanticCache.semanticHits)],
      ["Idempotency keys", `${idempotency.activeKeys}, each for ${idempotency.windowMs} ms`]
    ])
  )

export const cacheShow = asking("show", "telemetry", {}, function* (client) {
  const answer = yield* client.caches()
  yield* Output.result({
    schema: CacheStats,
    value: answer,
    text: cachePage(answer),
    name: answer.semanticCache.enabled ? "on" : "off"
  })
})

export const cacheClear = asking("clear", "telemetry", {}, function* (client) {
  const answer = yield* client.clearCaches()
  yield* Output.result({
    schema: CacheCleared,
    value: answer,
    text: Output.note(`${answer.cleared} entries were removed.`),
    name: String(answer.cleared)
  })
})

interface Latency {
  readonly of: string
  readonly count: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

const latencyOf = (row: Omit<Latency, "of">, of: string): Latency => ({ ...row, of })

const latencyColumns = (header: string): ReadonlyArray<Column.Column<Latency>> => [
  Column.name(header, (row) => row.of),
  Column.number("REQUESTS", ({ count }) => count, Column.thousands),
  Column.number("P50 MS", ({ p50 }) => p50, Column.thousands),
  Column.number("P95 MS", ({ p95 }) => p95, Column.thousands),
  Column.number("P99 MS", ({ p99 }) => p99, Column.thousands)
]

const minutes = Options.integer("minutes").pipe(
  taking(Schema.Int.pipe(Schema.between(1, 60)), () => "--minutes must be a number from 1 to 60."),
  Options.withDescription("How far back: 1 to 60; by default 5."),
  Options.withDefault(5)
)

export const telemetryCommand = asking("telemetry", "telemetry", { minutes }, function* (client, given) {
  const answer = yield* client.summary({ urlParams: { windowMs: given.minutes * 60_000 } })
  yield* Output.list({
    schema: TelemetrySummary,
    value: answer,
    rows: answer.providers.map((each) => latencyOf(each, each.provider)),
    columns: latencyColumns("PROVIDER"),
    empty: `No request ended in the last ${given.minutes} minutes.`
  })
  if (answer.requests === 0) return
  yield* Output.section(
    answer.phases.map((each) => latencyOf(each, each.phase)),
    latencyColumns("PHASE")
  )
  yield* Output.remark(`${percent(answer.errorRate)} of ${Column.thousands(answer.requests)} requests failed.`)
})
