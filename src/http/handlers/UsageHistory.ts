/** `/api/usage/{history,analytics,export}` and `/api/settings/purge-request-history`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { contractOf } from "../../api/GroupContract.ts"
import { UsageHistory as UsageHistoryGroup } from "../../api/Groups/UsageHistory.ts"
import { UsageExport } from "../../management/UsageExport.ts"
import { UsageHistory } from "../../management/UsageHistory.ts"
import { UsageRetention } from "../../usage/history/UsageRetention.ts"
import { answered } from "./Answers.ts"
import { filterOf } from "./UsageFilters.ts"
import { analyticsView, callsView, historyView } from "./UsageViews.ts"

const contentTypes = { csv: "text/csv; charset=utf-8", jsonl: "application/x-ndjson" } as const

const dayMs = 86_400_000

const encoder = new TextEncoder()

export const layer = HttpApiBuilder.group(contractOf(UsageHistoryGroup), "usageHistory", (handlers) =>
  Effect.gen(function* () {
    const exports = yield* UsageExport
    const history = yield* UsageHistory
    const retention = yield* UsageRetention
    return handlers
      .handle("history", ({ urlParams: { range = "24h" } }) =>
        answered(Effect.map(history.history(range), historyView))
      )
      .handle("analytics", ({ urlParams: { range = "24h" } }) =>
        answered(Effect.map(history.analytics(range), analyticsView))
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
