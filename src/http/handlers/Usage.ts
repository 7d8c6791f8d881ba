/** `/api/usage/logs` and `/api/usage/{connectionId}`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import { GatewayApi } from "../../api/Api.ts"
import type { LogsQuery } from "../../api/Groups/Usage.ts"
import type { Outcome } from "../../domain/Usage.ts"
import { UsageReports } from "../../management/UsageReports.ts"
import type { UsageFilter } from "../../store/repo/UsageRepo.ts"
import { answered } from "./Answers.ts"
import { connectionUsage } from "./QuotaViews.ts"
import { usageLog } from "./Views.ts"

const outcomes = new Set<string>(["completed", "failed", "aborted"] satisfies ReadonlyArray<Outcome>)
const isOutcome = (status: string): status is Outcome => outcomes.has(status)

/** `5xx` is all of its class. */
const statusOf = (status: string): UsageFilter => {
  if (isOutcome(status)) return { outcome: status }
  const from = Number(status.replace("xx", "00"))
  return { status: [from, status.endsWith("xx") ? from + 99 : from] }
}

const equalFields = ["provider", "connectionId", "model", "requestedModel", "apiKeyId", "search"] as const

const filterOf = (query: LogsQuery): UsageFilter => {
  const { from, requestId, status, to } = query
  return {
    ...Struct.pick(query, ...equalFields),
    ...(requestId === undefined ? {} : { idBeginning: requestId }),
    ...(status === undefined ? {} : statusOf(status)),
    ...(from === undefined ? {} : { sinceMs: Date.parse(from) }),
    ...(to === undefined ? {} : { untilMs: Date.parse(to) })
  }
}

export const layer = HttpApiBuilder.group(GatewayApi, "usage", (handlers) =>
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
