/** The usage row of a line that a provider's batch has answered. Pure. */
import { createHash } from "node:crypto"
import type { ModelPrice } from "../../pricing/entity.ts"
import { noTokens, type TokenCounts, type UsageRow } from "../../../contract/domain/Usage.ts"
import { believed } from "../../../plane/settle/Belief.ts"
import { type LineBounds, seenOfLine } from "../../../plane/settle/Seen.ts"
import { costOf } from "../../../observe/usage/BookedCost.ts"
import { estimateTokens } from "../../../observe/usage/Cost.ts"
import type { Batch } from "../entity.ts"
import type { ProviderSpec } from "../../../contract/domain/Provider.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import type { Endpoint } from "../Endpoints.ts"

/**
 * Makes the id of a line's row, always the same one: results that are read again after a crash are not booked again. A UUID of version 7 with
 * the time at which the batch was begun.
 */
export const lineRequestId = (batchId: string, line: number, atMs: number): string => {
  const time = Math.trunc(atMs).toString(16).padStart(12, "0")
  const hash = createHash("sha256").update(`${batchId}:${line}`).digest("hex")
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}

export interface LineFacts {
  readonly batch: Batch
  readonly line: number
  readonly endpoint: Endpoint
  readonly spec: Pick<ProviderSpec, "id" | "dialect">
  readonly connectionId: string
  readonly requestedModel: string
  /** The provider's name of it. */
  readonly model: string
  /** Price of a batch; null: unknown. */
  readonly price: ModelPrice | null
  readonly status: number
  readonly body: JsonObject
  /** Bounds of the line that was asked. */
  readonly bounds: LineBounds
}

interface Counted {
  readonly tokens: TokenCounts
  /** Count that the upstream reported, where it is not the one that is booked. */
  readonly told: TokenCounts | null
}

const countsOf = ({ body, bounds, endpoint, spec }: LineFacts): Counted | null => {
  const answer = endpoint.codec.readAnswer(body, spec.dialect)
  const { reasoningChars, textChars, toolArgChars, usage } = answer
  if (usage === null) return null
  const tokens = believed(usage, seenOfLine(bounds, answer), () => ({
    ...noTokens,
    in: estimateTokens(bounds.bytes, "json"),
    out: estimateTokens(textChars) + estimateTokens(toolArgChars, "json") + estimateTokens(reasoningChars)
  }))
  return { tokens, told: tokens === usage ? null : usage }
}

export const resultRow = (facts: LineFacts): UsageRow => {
  const { batch, connectionId, endpoint, line, model, price, requestedModel, spec, status } = facts
  const isAnswered = status >= 200 && status < 300
  const counted = isAnswered ? countsOf(facts) : null
  const tokens = counted?.tokens ?? noTokens
  const cost = costOf(tokens, price)
  const atMs = batch.inProgressAtMs ?? batch.createdAtMs
  const id = lineRequestId(batch.id, line, atMs)
  return {
    id,
    timestampMs: atMs,
    requestId: id,
    apiKeyId: batch.owner === "" ? null : batch.owner,
    principal: batch.owner === "" ? batch.caller : null,
    requestedModel,
    combo: null,
    provider: spec.id,
    connectionId,
    model,
    sourceWire: endpoint.wire,
    targetWire: endpoint.wire,
    streamed: false,
    outcome: isAnswered ? "completed" : "failed",
    status,
    // The provider reports when it was done with all lines, not with one.
    latencyMs: 0,
    ttftMs: null,
    attempts: 1,
    tokens,
    told: counted?.told ?? null,
    ...cost,
    priced: !isAnswered || cost.price !== null,
    usageSource: counted === null || counted.told !== null ? "estimated" : "upstream",
    error: isAnswered ? null : `http_${status}`,
    batchId: batch.id,
    answeredFrom: null,
    egress: null,
    tags: null,
    sessionId: null,
    reservedNanoUsd: 0,
    calls: null
  }
}
