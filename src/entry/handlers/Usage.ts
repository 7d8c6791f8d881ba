/** `/api/usage/logs` and `/api/usage/{connectionId}`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Usage } from "../../contract/Groups/Usage.ts"
import type { LogsQuery } from "../../contract/Groups/Usage.ts"
import { UsageReports } from "../../subjects/management/UsageReports.ts"
import { answered } from "./Answers.ts"
import { connectionUsage } from "./QuotaViews.ts"
import { filterOf } from "./UsageFilters.ts"
import { usageLog } from "./Views.ts"

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
