/** `/api/usage/{logs,series}` and `/api/usage/{connectionId}`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import { contractOf } from "../../contract/GroupContract.ts"
import { Usage } from "./routes.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import type { LogsQuery, QuotaWindowView } from "./routes.ts"
import { UsageReports } from "./service.ts"
import { makeCallerBounds } from "../../entry/handling/CallerBounds.ts"
import { ownFilter, seenLog } from "../../entry/handling/OwnUsage.ts"
import type { Bounds } from "../people/Bounds.ts"
import { makeOwnKey } from "../../entry/handling/OwnKey.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { connectionUsage, quotaWindows } from "../quotaGroups/QuotaViews.ts"
import { filterOf } from "./UsageFilters.ts"
import { asJson, entriesAnswer } from "../../entry/handling/Lists.ts"
import { isoOrNull, ownUsageLog, usageLog } from "../../entry/handling/Views.ts"
import type { UsagePage } from "./repo.ts"
import { seriesQuery, seriesView } from "./SeriesViews.ts"
import { UsageSeries } from "./UsageSeries.ts"

const usualMost = 50

export const layer = HttpApiBuilder.group(contractOf(Usage), "usage", (handlers) =>
  Effect.gen(function* () {
    const reports = yield* UsageReports
    const series = yield* UsageSeries
    const ownKey = yield* makeOwnKey
    const callerBounds = yield* makeCallerBounds
    const logsOf = Effect.fnUntraced(function* (
      page: UsagePage & { readonly scannedToMs?: number | null },
      bounds: Bounds | null
    ) {
      const factsOf = yield* reports.factsOf(page.rows)
      return yield* entriesAnswer(
        "logs",
        page.rows,
        asJson((row) => seenLog(bounds, usageLog(row, factsOf(row)))),
        { nextCursor: page.nextCursor, scannedTo: isoOrNull(page.scannedToMs ?? null) }
      )
    })
    const logs = ({ urlParams }: { readonly urlParams: LogsQuery }) =>
      answered(
        Effect.gen(function* () {
          const { after, cursor = null, limit = null } = urlParams
          const bounds = yield* callerBounds
          const filter = { ...filterOf(urlParams), ...(yield* ownFilter(bounds, urlParams)) }
          const rows =
            after === undefined
              ? reports.page(limit, cursor, filter)
              : reports.written(limit, after === "latest" ? null : after, filter)
          return yield* logsOf(yield* rows, bounds)
        })
      )
    return handlers
      .handle("logs", logs)
      .handle("requestLogs", logs)
      .handle("facets", ({ urlParams: { most = usualMost, ...query } }) =>
        answered(
          Effect.map(reports.facets(filterOf(query), most), ({ facets, nameOf }) => ({
            facets: Record.map(facets.values, (values, name) =>
              values.map(({ count, value }) => ({ value, name: nameOf(name, value), count }))
            ),
            rows: facets.rows,
            scannedTo: isoOrNull(facets.scannedToMs)
          }))
        )
      )
      .handle("series", ({ urlParams }) =>
        answered(
          Effect.gen(function* () {
            const own = yield* ownFilter(yield* callerBounds, urlParams)
            const asked = seriesQuery(urlParams, yield* Clock.currentTimeMillis)
            const query = { ...asked, filter: { ...asked.filter, ...own } }
            return seriesView(query, yield* series.series(query))
          })
        )
      )
      .handle("meSeries", ({ urlParams }) =>
        Effect.flatMap(ownKey, ({ id }) =>
          answered(
            Effect.gen(function* () {
              const query = seriesQuery({ ...urlParams, apiKeyId: id }, yield* Clock.currentTimeMillis)
              return seriesView(query, yield* series.series(query))
            })
          )
        )
      )
      .handle("meLogs", ({ urlParams: { cursor = null, limit = null, ...query } }) =>
        Effect.flatMap(ownKey, ({ id }) =>
          answered(
            Effect.flatMap(reports.page(limit, cursor, filterOf({ ...query, apiKeyId: id })), ({ nextCursor, rows }) =>
              entriesAnswer("logs", rows, asJson(ownUsageLog), { nextCursor })
            )
          )
        )
      )
      .handle("quotas", () =>
        Effect.gen(function* () {
          const { each } = yield* Slices
          const nowMs = yield* Clock.currentTimeMillis
          const windows: Array<QuotaWindowView> = []
          yield* each(reports.quotas(nowMs), ({ connection, report }) => {
            for (const window of quotaWindows(connection, report, nowMs)) windows.push(window)
          })
          return yield* entriesAnswer("windows", windows, JSON.stringify)
        })
      )
      .handle("connection", ({ path }) => answered(Effect.map(reports.quotasOf(path.connectionId), connectionUsage)))
  })
)
