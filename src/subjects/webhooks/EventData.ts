/** The `data` of each event, as receivers get it (docs/webhooks.md). Fields are added, never renamed. Pure. */
import { nanoUsdPerUsd, type UsageRow } from "../../contract/domain/Usage.ts"
import type { ReportSums, Spender, SpendReport } from "../bills/entity.ts"
import type { OutgoingEvent, WebhookEvent } from "./entity.ts"
import type { ExceededQuota, GatewayEvent } from "../../observe/Events.ts"

type Data = OutgoingEvent["data"]

/** The event of a request; null where there is none: the client left before the end. */
export const requestEventOf = ({ outcome }: Pick<UsageRow, "outcome">): WebhookEvent | null => {
  switch (outcome) {
    case "completed":
      return "request.completed"
    case "failed":
      return "request.failed"
    case "aborted":
      return null
  }
}

/** `account` is added where the event is written: rows have no names. */
export const requestData = (row: UsageRow): Data => ({
  trace_id: row.requestId,
  api_key_id: row.apiKeyId,
  provider: row.provider,
  model: row.model,
  requested_model: row.requestedModel,
  combo: row.combo,
  account: null,
  accountId: row.connectionId,
  status: row.status,
  tokens_in: row.tokens.in,
  tokens_out: row.tokens.out,
  tokens_cache_read: row.tokens.cacheRead,
  tokens_cache_write: row.tokens.cacheWrite,
  tokens_reasoning: row.tokens.reasoning,
  cost_usd: row.costNanoUsd / nanoUsdPerUsd,
  priced: row.priced,
  usage_source: row.usageSource,
  streamed: row.streamed,
  latencyMs: row.latencyMs,
  ttftMs: row.ttftMs,
  attempts: row.attempts,
  fallbackCount: Math.max(0, row.attempts - 1),
  ...(row.outcome === "failed" ? { reason: row.error, error: row.error } : {})
})

/** Makes the event of a request, with the time of its end, not of its arrival. */
export const requestEvent = (event: WebhookEvent, row: UsageRow): OutgoingEvent => ({
  id: row.id,
  event,
  atMs: row.timestampMs + row.latencyMs,
  data: requestData(row)
})

const exceeded: Readonly<Record<ExceededQuota, string>> = {
  budget: "budget",
  tokens: "token limit",
  rate: "rate limit"
}

const quotaReason = ({ quota, threshold, window }: Extract<GatewayEvent, { type: "quota.exceeded" }>): string =>
  `The ${window} ${exceeded[quota]} of the key ${threshold === "limit" ? "is used up" : "has reached its warning threshold"}.`

const iso = (epochMs: number): string => new Date(epochMs).toISOString()

const isoOrNull = (epochMs: number | null): string | null => (epochMs === null ? null : iso(epochMs))

const sumsOf = ({ billedUsd, costUsd, requests, tokensIn, tokensOut, unpriced }: ReportSums): Data => ({
  requests,
  unpriced,
  tokens_in: tokensIn,
  tokens_out: tokensOut,
  cost_usd: costUsd,
  billed_usd: billedUsd
})

const spendersOf = (all: ReadonlyArray<Spender>): ReadonlyArray<Data> =>
  all.map(({ id, name, ...sums }) => ({ id, name, ...sumsOf(sums) }))

const periodData = ({ firstDay, fromMs, period, timeZone, untilMs }: SpendReport): Data => ({
  period,
  time_zone: timeZone,
  first_day: firstDay,
  from: iso(fromMs),
  to: iso(untilMs)
})

const reportData = (report: SpendReport): Data => ({
  ...periodData(report),
  ...sumsOf(report.total),
  previous_cost_usd: report.previousCostUsd,
  top_people: spendersOf(report.top.person),
  top_teams: spendersOf(report.top.team),
  top_keys: spendersOf(report.top.key),
  top_models: spendersOf(report.top.model)
})

export const dataOf = (event: GatewayEvent): Data => {
  switch (event.type) {
    case "provider.error":
      return {
        provider: event.provider,
        model: event.model,
        connectionId: event.connectionId,
        status: event.status,
        errorCode: event.reason,
        reason: event.reason,
        consecutive_failures: event.consecutiveFailures,
        consecutiveFailures: event.consecutiveFailures,
        circuit_state: event.circuitState
      }
    case "provider.recovered":
      return { provider: event.provider, recoveredAfterMs: event.recoveredAfterMs, circuit_state: "CLOSED" }
    case "combo.switched":
      return { combo: event.combo, from: event.from, to: event.to, reason: event.reason, trace_id: event.requestId }
    case "capture.changed":
      return { change: event.change, what: event.what, automatic: event.automatic }
    case "quota.exceeded":
      return {
        trace_id: event.requestId,
        apiKeyId: event.apiKeyId,
        api_key_id: event.apiKeyId,
        provider: null,
        connectionId: null,
        reason: quotaReason(event),
        quota: event.quota,
        threshold: event.threshold,
        limitId: event.limitId,
        window: event.window,
        windowStart: iso(event.windowStartMs),
        limit: event.limit,
        used: event.used,
        pct: event.pct
      }
    case "config.changed":
      return { kind: event.kind, id: event.id, version: event.version, by: event.by, action: event.action }
    case "job.changed":
      return { kind: event.kind, id: event.id, state: event.state, done: event.done, total: event.total }
    case "breaker.changed":
      return { provider: event.provider, state: event.state, failures: event.failures }
    case "cooldown.changed":
      return {
        connectionId: event.connectionId,
        status: event.status,
        until: isoOrNull(event.untilMs),
        errorCode: event.errorCode
      }
    case "lockout.changed":
      return {
        provider: event.provider,
        connectionId: event.connectionId,
        model: event.model,
        until: isoOrNull(event.untilMs),
        reason: event.reason
      }
    case "connection.tested":
      return { connectionId: event.connectionId, ok: event.ok, status: event.status, latencyMs: event.latencyMs }
    case "attention.changed":
      return { total: event.total, added: event.added, removed: event.removed }
    case "report.weekly":
    case "report.monthly":
      return reportData(event.report)
    case "attention.raised":
    case "attention.cleared":
      return {
        id: event.item.id,
        kind: event.item.kind,
        severity: event.item.severity,
        subject: event.item.subject,
        text: event.item.text,
        since: isoOrNull(event.item.sinceMs),
        changesAt: isoOrNull(event.item.changesAtMs)
      }
    case "plugin.error":
      return { plugin: event.plugin, reason: event.reason, failClosed: event.failClosed }
  }
}
