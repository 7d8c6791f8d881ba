/** `/api/usage/logs` and `/api/usage/{connectionId}`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Usage } from "./routes.ts"
import type { LogsQuery } from "./routes.ts"
import { UsageReports } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { connectionUsage } from "../quotaGroups/QuotaViews.ts"
import { filterOf } from "./UsageFilters.ts"
import { usageLog } from "../../entry/handling/Views.ts"

export const layer = HttpApiBuilder.group(contractOf(Usage), "usage", (handlers) =>
  Effect.map(UsageReports, (reports) => {
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
      .handle("connection", ({ path }) => answered(Effect.map(reports.quotasOf(path.connectionId), connectionUsage)))
  })
)
