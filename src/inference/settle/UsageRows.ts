/** The usage row of a request. Pure. */
import { noTokens, type Outcome, type UsageRow } from "../../domain/Usage.ts"
import { apiKeyIdOf, type Exchange, type Work } from "../request/Exchange.ts"
import type { Bill, Served } from "./Bill.ts"

export interface UsageOutcome {
  readonly outcome: Outcome
  readonly status: number
  /** Short reason of a failure. */
  readonly error: string | null
}

/** What the row says as an entry of the ledger. */
export type Entry = Pick<UsageRow, "reservedNanoUsd" | "calls">

export const rowOf = (
  work: Work,
  served: Served | null,
  bill: Bill,
  ending: UsageOutcome,
  { calls, reservedNanoUsd }: Entry
): UsageRow => {
  const { exchange, resolution } = work
  const account = served?.target.account ?? null
  const firstMs = served?.firstContentMs ?? null
  return {
    id: exchange.requestId,
    timestampMs: exchange.receivedMs,
    requestId: exchange.requestId,
    apiKeyId: apiKeyIdOf(exchange),
    requestedModel: work.envelope.model,
    combo: resolution.combo?.name ?? null,
    provider: account?.spec.id ?? null,
    connectionId: account?.connection.id ?? null,
    model: served?.target.model ?? null,
    sourceWire: exchange.wire,
    targetWire: work.trail.targetWire,
    streamed: work.envelope.stream,
    outcome: ending.outcome,
    status: ending.status,
    latencyMs: bill.latencyMs,
    ttftMs: firstMs === null ? null : Math.round(firstMs - exchange.startedMs),
    attempts: work.trail.attempts.length,
    tokens: bill.tokens,
    costNanoUsd: bill.costNanoUsd,
    priced: bill.priced,
    price: bill.price,
    usageSource: bill.source,
    error: ending.error,
    batchId: exchange.batchId ?? null,
    reservedNanoUsd,
    calls
  }
}

/** The row of a request that was refused before a decision: who asked, for what, and why not. */
export const refusedRow = (
  exchange: Exchange,
  model: string,
  ending: UsageOutcome,
  nowMonotonicMs: number
): UsageRow => ({
  id: exchange.requestId,
  timestampMs: exchange.receivedMs,
  requestId: exchange.requestId,
  apiKeyId: apiKeyIdOf(exchange),
  requestedModel: model,
  combo: null,
  provider: null,
  connectionId: null,
  model: null,
  sourceWire: exchange.wire,
  targetWire: null,
  streamed: false,
  outcome: ending.outcome,
  status: ending.status,
  latencyMs: Math.round(nowMonotonicMs - exchange.startedMs),
  ttftMs: null,
  attempts: 0,
  tokens: noTokens,
  costNanoUsd: 0,
  priced: true,
  price: null,
  usageSource: "estimated",
  error: ending.error,
  batchId: exchange.batchId ?? null,
  reservedNanoUsd: 0,
  calls: null
})

/** What is answered without a call: by what was answered before, or together with another request. */
export interface Kept {
  /** As the client asked. */
  readonly requestedModel: string
  /** Null where no provider has answered. */
  readonly provider: string | null
  readonly model: string
  readonly ending: UsageOutcome
}

export const keptRow = (
  exchange: Exchange,
  { ending, model, provider, requestedModel }: Kept,
  nowMonotonicMs: number
): UsageRow => ({
  ...refusedRow(exchange, requestedModel, ending, nowMonotonicMs),
  provider,
  model: provider === null ? null : model
})
