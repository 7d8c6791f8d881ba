/** The filters of the usage log as a query has them. */
import * as Struct from "effect/Struct"
import type { LogsQuery } from "./routes.ts"
import { sessionOnFile } from "../../contract/domain/SessionOnFile.ts"
import { nanoUsdPerUsd, type Outcome } from "../../contract/domain/Usage.ts"
import type { UsageFilter } from "./repo.ts"

const outcomes = new Set<string>(["completed", "failed", "aborted"] satisfies ReadonlyArray<Outcome>)
const isOutcome = (status: string): status is Outcome => outcomes.has(status)

/** `5xx` is all of its class. */
const statusOf = (status: string): UsageFilter => {
  if (isOutcome(status)) return { endedAs: status }
  const from = Number(status.replace("xx", "00"))
  return { status: [from, status.endsWith("xx") ? from + 99 : from] }
}

const equalFields = [
  "provider",
  "connectionId",
  "model",
  "requestedModel",
  "apiKeyId",
  "batchId",
  "combo",
  "outcome",
  "error",
  "tag",
  "search"
] as const

/** Filters of a query, without its page. */
export type FilterQuery = Omit<LogsQuery, "limit" | "cursor" | "after">

export const filterOf = (query: FilterQuery): UsageFilter => {
  const { cacheHit, from, minCostUsd, minLatencyMs, requestId, sessionId, status, to } = query
  return {
    ...Struct.pick(query, ...equalFields),
    ...(sessionId === undefined ? {} : { sessionId: sessionOnFile(sessionId) }),
    ...(minLatencyMs === undefined ? {} : { minLatencyMs }),
    ...(minCostUsd === undefined ? {} : { minCostNanoUsd: minCostUsd * nanoUsdPerUsd }),
    ...(cacheHit === undefined ? {} : { cacheHit: cacheHit === "true" }),
    ...(requestId === undefined ? {} : { idBeginning: requestId }),
    ...(status === undefined ? {} : statusOf(status)),
    ...(from === undefined ? {} : { sinceMs: Date.parse(from) }),
    ...(to === undefined ? {} : { untilMs: Date.parse(to) })
  }
}
