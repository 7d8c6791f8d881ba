/** The head of a record, put together from what is known of its exchange. Pure. */
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import type { DetectedKind, Head } from "../../contract/domain/TrafficRecord.ts"
import type { TokenCounts } from "../../contract/domain/Usage.ts"
import type { ShownBody } from "./Bodies.ts"
import type { RecordEnd, RecordStart, RecordUpdate } from "./CapturedFacts.ts"
import type { Shown } from "./masking/HeadMasker.ts"
import { providerOfHost } from "./reading/Hosts.ts"
import { isRefusal } from "./reading/Reason.ts"
import { type AnswerFacts, llmOf, noAnswer, type RequestFacts } from "./reading/Llm.ts"

/** Form in which a body is shown; the body itself is in the ring. */
export type Shape = Pick<ShownBody, "encoding" | "isTruncated">

/** Facts of an exchange from its reporter. Its path, headers and error are those of `Shown`. */
export interface ReportedFacts {
  readonly id: string
  readonly start: RecordStart
  readonly update: RecordUpdate
  /** Null: it is in flight. */
  readonly end: RecordEnd | null
  readonly startedAtMs: number
  readonly requestSize: number
  readonly sessionId: string | null
  /** Bodies had to be let go. */
  readonly isShort: boolean
}

/** Facts derived from a request. */
export interface ReadRequest {
  readonly kind: DetectedKind | null
  readonly contextKey: string | null
  readonly promptKey: string | null
  readonly facts: RequestFacts | null
  readonly shape: Shape | null
}

export type PriceOf = (provider: string, model: string, atMs: number) => ModelPrice | null

export const providerOf = ({ end, start, update }: Pick<ReportedFacts, "end" | "start" | "update">): string | null =>
  end?.provider ?? update.provider ?? start.provider ?? providerOfHost(start.host)

/** Replaces the counts of the answer by those known otherwise. */
export const counted = (answer: AnswerFacts, usage: TokenCounts | undefined): AnswerFacts =>
  usage === undefined ? answer : { ...answer, usage, tokensOut: usage.out }

export interface Answered {
  readonly facts: AnswerFacts | null
  readonly shape: Shape | null
  /** Reason of a refusal, as the answer gives it. */
  readonly reason: string | null
}

/** A refusal has no tokens of a model, and costs nothing. */
const charged = (answer: AnswerFacts, isRefused: boolean): AnswerFacts =>
  isRefused ? { ...answer, usage: null, tokensOut: null } : answer

export interface HeadContext {
  readonly answer: Answered
  readonly priceOf: PriceOf
  /** The record as it is in the ring. */
  readonly before: Head | null
}

export const headOf = (
  reported: ReportedFacts,
  shown: Shown,
  { contextKey, facts, kind, promptKey, shape }: ReadRequest,
  { answer, before, priceOf }: HeadContext
): Head => {
  const { end, start, update } = reported
  const latest = { ...update, ...end }
  const { responseHeaders } = shown
  const mappedModel = latest.mappedModel ?? start.mappedModel ?? responseHeaders["x-gateway-mapped-model"] ?? null
  const totalMs = end?.totalLatencyMs ?? null
  const isRefused = end !== null && isRefusal(end.status)
  return {
    id: reported.id,
    source: start.source,
    agent: latest.agent ?? start.agent ?? null,
    timestamp: new Date(reported.startedAtMs).toISOString(),
    method: start.method.slice(0, 32),
    scheme: start.scheme,
    host: start.host.slice(0, 512),
    path: shown.path,
    requestHeaders: shown.requestHeaders,
    requestSize: reported.requestSize,
    responseHeaders,
    responseSize: end?.responseSize ?? end?.responseBody?.byteLength ?? 0,
    status: end?.status ?? "in-flight",
    proxyLatencyMs: end?.proxyLatencyMs ?? null,
    upstreamLatencyMs: end?.upstreamLatencyMs ?? null,
    totalLatencyMs: totalMs,
    error: shown.error ?? (isRefused ? answer.reason : null),
    sourceModel: latest.sourceModel ?? start.sourceModel ?? null,
    mappedModel,
    detectedKind: start.kind ?? kind ?? "unknown",
    contextKey,
    annotation: before?.annotation ?? null,
    sessionId: reported.sessionId,
    note: latest.note ?? start.note ?? null,
    pid: latest.pid ?? before?.pid ?? null,
    processName: latest.processName ?? before?.processName ?? null,
    llm:
      facts === null
        ? null
        : llmOf(facts, charged(counted(answer.facts ?? noAnswer(facts), end?.usage), isRefused), {
            isRefused,
            provider: providerOf(reported),
            mappedTo: mappedModel,
            ttftMs: end?.ttftMs ?? null,
            totalMs,
            priceOf: (provider, model) => priceOf(provider, model, reported.startedAtMs)
          }),
    gatewayRequestId: latest.gatewayRequestId ?? start.gatewayRequestId ?? null,
    decision: latest.decision ?? end?.decisionLater?.() ?? null,
    requestTruncated: shape?.isTruncated ?? false,
    responseTruncated: answer.shape?.isTruncated ?? before?.responseTruncated ?? false,
    requestEncoding: shape?.encoding ?? "utf8",
    responseEncoding: answer.shape?.encoding ?? before?.responseEncoding ?? "utf8",
    bodyEvicted: reported.isShort || (before?.bodyEvicted ?? false),
    replayOf: start.replayOf ?? null,
    promptKey,
    httpVersion: start.httpVersion ?? null
  }
}
