/** The usage rows of requests that a crash left in the middle of their calls. Pure. */
import type { LedgerCall } from "../../contract/domain/Ledger.ts"
import { noTokens, type UsageRow } from "../../contract/domain/Usage.ts"
import type { OpenRequest } from "../../store/usage/ReservationLines.ts"

/**
 * Books a request whose upstream's work is not known: all that was reserved, as an estimate; a budget that counted less could be
 * exceeded.
 */
export const recoveredRow = (request: OpenRequest, nowMs: number): UsageRow => {
  const { apiKeyId, calls, receivedMs, requestedModel, requestId, sourceWire, streamed } = request
  const last = calls.at(-1)
  const sum = (amount: (call: (typeof calls)[number]) => number): number =>
    calls.reduce((total, call) => total + amount(call), 0)
  return {
    id: requestId,
    timestampMs: receivedMs,
    requestId,
    apiKeyId,
    principal: null,
    requestedModel,
    combo: null,
    provider: last?.provider ?? null,
    connectionId: last?.connectionId ?? null,
    model: last?.model ?? null,
    sourceWire,
    targetWire: null,
    streamed,
    outcome: "failed",
    status: 500,
    latencyMs: Math.max(0, Math.round(nowMs - receivedMs)),
    ttftMs: null,
    attempts: calls.length,
    tokens: { ...noTokens, in: sum(({ tokensIn }) => tokensIn), out: sum(({ tokensOut }) => tokensOut) },
    costNanoUsd: sum(({ nanoUsd }) => nanoUsd),
    costNotes: null,
    priced: calls.every(({ price }) => price !== null),
    price: last?.price ?? null,
    usageSource: "estimated",
    error: "gateway_crashed",
    batchId: request.batchId,
    told: null,
    answeredFrom: null,
    egress: null,
    tags: null,
    sessionId: null,
    reservedNanoUsd: sum(({ nanoUsd }) => nanoUsd),
    calls:
      calls.length < 2
        ? null
        : calls.map((call, index): LedgerCall => ({
            attempt: index + 1,
            provider: call.provider,
            connectionId: call.connectionId,
            model: call.model,
            state: "estimated",
            reservedNanoUsd: call.nanoUsd,
            settledNanoUsd: call.nanoUsd,
            price: call.price,
            createdAtMs: call.createdAtMs,
            settledAtMs: nowMs
          }))
  }
}
