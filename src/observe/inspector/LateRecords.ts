/** Exchanges of the gateway's own: what the thread is asked of them, and the records that are put together when they are read. Hot; pure. */
import { Buffer } from "node:buffer"
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import type { Bodies } from "../../contract/domain/TrafficRecord.ts"
import type { BodyLimits } from "./Bodies.ts"
import type { CallFacts, RecordEnd } from "./CapturedFacts.ts"
import { headOf, type PriceOf, providerOf, type ReportedFacts } from "./HeadOf.ts"
import { bytesOfLateHead, type LateRecord } from "./Ring.ts"
import { isRefusal } from "./reading/Reason.ts"
import { keyOfAttempt } from "./Retries.ts"
import { type ExchangeJob, exchangeRead, type ExchangeReport } from "./work/Exchange.ts"

export const jobOfExchange = (
  facts: ReportedFacts & { readonly requestBody: Uint8Array | null },
  end: RecordEnd,
  sent: CallFacts,
  { limits, price }: { readonly limits: BodyLimits; readonly price: ModelPrice | null }
): ExchangeJob => ({
  id: facts.id,
  host: facts.start.host,
  path: facts.start.path,
  error: end.error ?? null,
  requestHeaders: facts.start.headers,
  requestSize: facts.requestSize,
  responseHeaders: end.responseHeaders ?? facts.update.responseHeaders ?? [],
  responseSize: end.responseSize ?? 0,
  provider: providerOf(facts),
  atMs: facts.startedAtMs,
  ttftMs: end.ttftMs ?? null,
  totalMs: end.totalLatencyMs ?? null,
  isAnswered: typeof end.status === "number" && end.status < 400,
  usage: end.usage ?? null,
  call: { provider: sent.provider, model: sent.model, account: sent.account, wire: sent.wire, price },
  limits,
  requestBody: facts.requestBody,
  responseBody: end.responseBody ?? null,
  sentBody: typeof sent.body === "string" ? Buffer.from(sent.body) : sent.body
})

const bufferOf = (bytes: Uint8Array | null): Buffer | null =>
  bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const unread = { path: "", headers: [], body: null } as const

/** Makes a late record: facts that may hold a secret are taken from the report, not from the original ones. */
export const lateRecord = (
  { id, isShort, requestSize, sessionId, start, startedAtMs, update }: ReportedFacts,
  end: RecordEnd,
  report: ExchangeReport,
  priceOf: PriceOf
): LateRecord => {
  const facts: ReportedFacts = {
    id,
    isShort,
    requestSize,
    sessionId,
    startedAtMs,
    start: { ...start, ...unread },
    update: { ...update, responseHeaders: [] },
    end: { ...end, responseHeaders: [], responseBody: null, error: null }
  }
  const key = keyOfAttempt(start.host, report.promptKey)
  return {
    id,
    attempt:
      key === null
        ? null
        : {
            id,
            key,
            startedAtMs,
            endedAtMs: startedAtMs + (end.totalLatencyMs ?? 0),
            isFailed: isRefusal(end.status)
          },
    headBytes: bytesOfLateHead(report.read.length, end.decisionBytes ?? 0),
    bodyBytes: (report.requestBody?.byteLength ?? 0) + (report.responseBody?.byteLength ?? 0),
    head: () => {
      const { answer, request, shown } = exchangeRead(report.read)
      return headOf(facts, shown, request, { answer, priceOf, before: null })
    },
    bodies: (): Bodies => ({
      requestBody: bufferOf(report.requestBody),
      responseBody: bufferOf(report.responseBody)
    })
  }
}
