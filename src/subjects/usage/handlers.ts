/** `/api/usage/{logs,series}` and `/api/usage/{connectionId}`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Usage } from "./routes.ts"
import type { LogsQuery } from "./routes.ts"
import { UsageReports } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { connectionUsage } from "../quotaGroups/QuotaViews.ts"
import { filterOf } from "./UsageFilters.ts"
import { usageLog } from "../../entry/handling/Views.ts"
import { seriesQuery, seriesView } from "./SeriesViews.ts"
import { UsageSeries } from "./UsageSeries.ts"

export const layer = HttpApiBuilder.group(contractOf(Usage), "usage", (handlers) =>
  Effect.gen(function* () {
    const reports = yield* UsageReports
    const series = yield* UsageSeries
    const logs = ({ urlParams }: { readonly urlParams: LogsQuery }) => {
      const { after, cursor = null, limit = null } = urlParams
      const filter = filterOf(urlParams)
      const rows =
        after === undefined
          ? reports.page(limit, cursor, filter)
          : reports.written(limit, after === "latest" ? null : after, filter)
      return answered(Effect.map(rows, ({ nextCursor, rows }) => ({ logs: rows.map(usageLog), nextCursor })))
    }
    return handlers
      .handle("logs", logs)
      .handle("requestLogs", logs)
      .handle("series", ({ urlParams }) =>
        answered(
          Effect.gen(function* () {
            const query = seriesQuery(urlParams, yield* Clock.currentTimeMillis)
            return seriesView(query, yield* series.series(query))
          })
        )
      )
      .handle("connection", ({ path }) => answered(Effect.map(reports.quotasOf(path.connectionId), connectionUsage)))
  })
)
