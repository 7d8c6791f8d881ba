/** `/api/usage/{history,analytics,breakdown,calls,reconcile,export}` and `/api/settings/purge-request-history`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { contractOf } from "../../contract/GroupContract.ts"
import { type RangeQuery, UsageHistory as UsageHistoryGroup } from "./routes.ts"
import type { UsageSpan } from "./entity.ts"
import { UsageExport } from "../usage/UsageExport.ts"
import { compareBill } from "./BillAnswers.ts"
import { UsageHistory } from "./service.ts"
import { UsageRetention } from "../../observe/usage/UsageRetention.ts"
import { makeCallerBounds } from "../../entry/handling/CallerBounds.ts"
import { ownFilter, seenAnalytics } from "../../entry/handling/OwnUsage.ts"
import { ownedBy } from "../people/Bounds.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { breakdownQuery, breakdownView, timeIn } from "../usage/SeriesViews.ts"
import { filterOf } from "../usage/UsageFilters.ts"
import { UsageSeries } from "../usage/UsageSeries.ts"
import { analyticsView, callsView, historyView } from "../usage/UsageViews.ts"

const contentTypes = { csv: "text/csv; charset=utf-8", jsonl: "application/x-ndjson" } as const

const dayMs = 86_400_000

const spanIn = ({ from, range, timezone = "UTC", to }: RangeQuery): UsageSpan => ({
  range,
  fromMs: from === undefined ? undefined : timeIn(from, timezone),
  toMs: to === undefined ? undefined : timeIn(to, timezone),
  timeZone: timezone
})

const encoder = new TextEncoder()

export const layer = HttpApiBuilder.group(contractOf(UsageHistoryGroup), "usageHistory", (handlers) =>
  Effect.gen(function* () {
    const exports = yield* UsageExport
    const history = yield* UsageHistory
    const retention = yield* UsageRetention
    const series = yield* UsageSeries
    const callerBounds = yield* makeCallerBounds
    return handlers
      .handle("history", ({ urlParams }) => answered(Effect.map(history.history(spanIn(urlParams)), historyView)))
      .handle("analytics", ({ urlParams }) =>
        answered(
          Effect.gen(function* () {
            const bounds = yield* callerBounds
            const report = yield* history.analytics(spanIn(urlParams), ownedBy(bounds))
            return seenAnalytics(bounds, analyticsView(report))
          })
        )
      )
      .handle("breakdown", ({ urlParams }) =>
        answered(
          Effect.gen(function* () {
            const own = yield* ownFilter(yield* callerBounds, urlParams)
            const query = breakdownQuery(urlParams, yield* Clock.currentTimeMillis)
            const filter = { ...query.filter, ...own }
            return breakdownView(urlParams, yield* series.split({ ...query, filter }))
          })
        )
      )
      .handle("calls", ({ urlParams: { connectionId, from, provider, to } }) =>
        answered(
          Effect.map(
            history.calls({
              provider,
              ...(connectionId === undefined ? {} : { connectionId }),
              sinceMs: Date.parse(from),
              untilMs: Date.parse(to) + dayMs
            }),
            callsView
          )
        )
      )
      .handle("reconcile", ({ payload }) => answered(compareBill(history, payload)))
      .handle("export", ({ urlParams }) => {
        const { format = "csv" } = urlParams
        return answered(
          Effect.map(exports.lines(format, filterOf(urlParams)), (lines) =>
            HttpServerResponse.stream(
              Stream.map(lines, (text) => encoder.encode(text)),
              {
                contentType: contentTypes[format],
                headers: { "Content-Disposition": `attachment; filename="usage.${format}"` }
              }
            )
          )
        )
      })
      .handle("purge", ({ payload }) =>
        answered(
          Effect.gen(function* () {
            const before = payload?.before
            const beforeMs = typeof before === "string" ? Date.parse(before) : yield* Clock.currentTimeMillis
            return { deleted: yield* retention.purge(beforeMs) }
          })
        )
      )
  })
)
