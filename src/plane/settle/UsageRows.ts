/** The usage row of a request. Pure. */
import { sessionOnFile } from "../../contract/domain/SessionOnFile.ts"
import { tagsHeader, tagsOnFile } from "../../contract/domain/Tags.ts"
import { noTokens, type UsageRow } from "../../contract/domain/Usage.ts"
import { headerOf } from "../../subjects/auth/Credentials.ts"
import { knownCallerOf } from "../../subjects/auth/KnownCallers.ts"
import { apiKeyIdOf, type Exchange, type Work } from "../request/Exchange.ts"
import type { Kept, UsageOutcome } from "../request/KeptAnswer.ts"
import type { Bill, Served } from "./Bill.ts"

/** Columns of the row that are its entry in the ledger. */
export type Entry = Pick<UsageRow, "reservedNanoUsd" | "calls">

const modelOf = (kept: Kept | null): string | null => (kept === null || kept.provider === null ? null : kept.model)

/** A request that is over. */
export interface Settled {
  readonly work: Work
  /** The call that answered it; null: none did. */
  readonly served: Served | null
  readonly bill: Bill
  readonly ending: UsageOutcome
  /** A feature has answered in the place of a call. */
  readonly kept?: Kept | null
}

export const rowOf = (
  { bill, ending, kept = null, served, work }: Settled,
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
    principal: knownCallerOf(exchange.principal),
    requestedModel: work.envelope.model,
    combo: resolution.combo?.name ?? null,
    provider: account?.spec.id ?? kept?.provider ?? null,
    connectionId: account?.connection.id ?? null,
    model: served?.target.model ?? modelOf(kept),
    sourceWire: exchange.wire,
    targetWire: work.trail.targetWire,
    streamed: work.envelope.stream,
    outcome: ending.outcome,
    status: ending.status,
    latencyMs: bill.latencyMs,
    ttftMs: firstMs === null ? null : Math.round(firstMs - exchange.startedMs),
    attempts: work.trail.attempts.length,
    tokens: bill.tokens,
    told: bill.told,
    costNanoUsd: bill.costNanoUsd,
    costNotes: bill.costNotes,
    priced: bill.priced,
    price: bill.price,
    usageSource: bill.source,
    error: ending.error,
    batchId: exchange.batchId ?? null,
    answeredFrom: kept?.answeredFrom ?? null,
    egress: work.trail.egress,
    tags: work.tags === undefined ? tagsOnFile(headerOf(exchange.headers, tagsHeader)) : work.tags,
    sessionId: work.sessionId === null ? null : sessionOnFile(work.sessionId),
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
  principal: knownCallerOf(exchange.principal),
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
  told: null,
  costNanoUsd: 0,
  costNotes: null,
  priced: true,
  price: null,
  usageSource: "estimated",
  error: ending.error,
  batchId: exchange.batchId ?? null,
  answeredFrom: null,
  egress: null,
  tags: tagsOnFile(headerOf(exchange.headers, tagsHeader)),
  sessionId: null,
  reservedNanoUsd: 0,
  calls: null
})

export const keptRow = (exchange: Exchange, kept: Kept, nowMonotonicMs: number): UsageRow => ({
  ...refusedRow(exchange, kept.requestedModel, kept.ending, nowMonotonicMs),
  provider: kept.provider,
  model: modelOf(kept),
  answeredFrom: kept.answeredFrom ?? null
})
