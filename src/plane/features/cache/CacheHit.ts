/** Answers from the cache: the bytes that were stored, or the same answer in the form that the client asks for. */
import type { CachedAnswer } from "../../../subjects/cache/entity.ts"
import { noTokens } from "../../../contract/domain/Usage.ts"
import { formatUsd10 } from "../../../observe/usage/Cost.ts"
import { renderAnswer } from "../../attempt/AnswerReader.ts"
import type { KeptEnd } from "../../failover/FailoverEnd.ts"
import { replayTo } from "../../reply/Replay.ts"
import type { Work } from "../../request/Exchange.ts"
import { costFacts, identityHeaders } from "../../request/Headers.ts"
import { readStream, readWhole } from "./KeptResponse.ts"

/** The members that say what a stream has in it, as JSON; empty for a whole answer. */
export const variantOf = ({ asked, envelope }: Work): string =>
  envelope.stream ? JSON.stringify(asked["stream_options"] ?? null) : ""

export interface Hit {
  readonly contentType: string
  readonly body: Buffer
}

/** Null when the answer cannot be given in the form that is asked for. */
export const hitOf = (work: Work, kept: CachedAnswer, nowMs: number): Hit | null => {
  const { asked, envelope, exchange } = work
  const { codec, requestId } = exchange
  const isSameForm = envelope.stream === (kept.form === "stream") && variantOf(work) === kept.variant
  if (isSameForm) return { contentType: kept.contentType, body: kept.body }
  const read = kept.form === "stream" ? readStream(codec, kept.body) : readWhole(codec, kept.body)
  if (read === null || read.isPartial) return null
  const context = {
    nowMs,
    fallbackId: requestId,
    model: read.response.model ?? kept.model,
    wantsUsage: envelope.wantsUsage,
    request: asked
  }
  const text = renderAnswer(codec, read.response, context, envelope.stream)
  return {
    contentType: envelope.stream ? codec.streamContentType : "application/json",
    body: Buffer.from(text)
  }
}

const costOf = (latencyMs: number): Array<string> =>
  costFacts({ tokens: noTokens, costNanoUsd: 0, latencyMs, isCacheHit: true })

const headersOf = (work: Work, kept: CachedAnswer, hit: Hit, latencyMs: number): Array<string> => {
  const { envelope, exchange, sessionId, trail } = work
  const headers = identityHeaders(exchange.requestId)
  headers.push("Content-Type", hit.contentType)
  if (envelope.stream) headers.push("Cache-Control", "no-cache", "X-Accel-Buffering", "no")
  else headers.push("Content-Length", String(hit.body.length))
  if (sessionId !== null) headers.push("X-Gateway-Session-Id", sessionId.slice(0, 512).replaceAll(/[^\x20-\x7e]/g, "?"))
  const facts: ReadonlyArray<readonly [name: string, value: string]> = [
    ["X-Gateway-Provider", kept.provider],
    ["X-Gateway-Model", kept.model],
    ["X-Gateway-Cache", "HIT"],
    ["X-Gateway-Cost-Saved", formatUsd10(kept.costNanoUsd)]
  ]
  headers.push(...facts.flat(), ...costOf(latencyMs), ...trail.headers)
  return headers
}

/** Bytes that are written at once: a client that reads slowly holds no more of it up. */
const chunkBytes = 65_536

const chunksOf = (body: Buffer): ReadonlyArray<Buffer> => {
  const chunks: Array<Buffer> = []
  for (let at = 0; at < body.length; at += chunkBytes) chunks.push(body.subarray(at, at + chunkBytes))
  return chunks
}

export const keptEnd = (work: Work, kept: CachedAnswer, hit: Hit, monotonicMs: () => number): KeptEnd => ({
  _tag: "Kept",
  kept: {
    requestedModel: work.envelope.model,
    provider: kept.provider,
    model: kept.model,
    ending: { outcome: "completed", status: 200, error: null },
    answeredFrom: "cache"
  },
  rest: hit.body,
  answer: () => {
    const latencyMs = Math.round(monotonicMs() - work.exchange.startedMs)
    const headers = headersOf(work, kept, hit, latencyMs)
    const { body } = hit
    const recorded = { status: 200, headers, chunks: chunksOf(body), bytes: body.length, isEnded: true }
    replayTo(work.exchange.reply, recorded, undefined, () => costOf(latencyMs))
  }
})
