/** Exchanges of an archive as records: decoded, masked and read like those that are captured. */
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import type { CapturedBody } from "./Bodies.ts"
import { bufferOf, limitsOf } from "./Intake.ts"
import { maskHeaders, maskText, maskUrl } from "./masking/Masking.ts"
import { providerOfHost } from "./reading/Hosts.ts"
import { isRefusal } from "./reading/Reason.ts"
import { llmOf, noAnswer } from "./reading/Llm.ts"
import { type RecordHeaders, recordOf, type TrafficRecord } from "../../contract/domain/TrafficRecord.ts"
import type { InspectorSettings } from "./Settings.ts"
import type { Report } from "./work/Work.ts"
import type { WorkThread } from "./work/WorkThread.ts"
import type { ImportedExchange } from "./exports/HarImport.ts"

export interface ImportServices {
  readonly settings: InspectorSettings
  readonly thread: WorkThread
  readonly newId: () => string
  readonly priceOf: (provider: string, model: string) => ModelPrice | null
}

/** Archives hold bodies as they were before they were compressed. */
const bodyOf = (bytes: Uint8Array | null, headers: RecordHeaders): CapturedBody | null =>
  bytes === null || bytes.byteLength === 0
    ? null
    : { bytes, size: bytes.byteLength, contentEncoding: "", contentType: headers["content-type"] ?? "" }

const recordFrom = (
  exchange: ImportedExchange,
  report: Report | null,
  { newId, priceOf }: ImportServices
): TrafficRecord => {
  const request = report?.request ?? null
  const response = report?.response ?? null
  const facts = request?.facts ?? null
  const isRefused = isRefusal(exchange.status)
  const { requestBody: _request, responseBody: _response, ...imported } = exchange
  return recordOf(
    {
      ...imported,
      id: newId(),
      path: maskUrl(exchange.path),
      requestHeaders: maskHeaders(exchange.requestHeaders),
      responseHeaders: maskHeaders(exchange.responseHeaders),
      error: exchange.error === null ? (isRefused ? (response?.reason ?? null) : null) : maskText(exchange.error),
      proxyLatencyMs: null,
      sourceModel: null,
      mappedModel: null,
      detectedKind: request?.kind ?? "unknown",
      contextKey: request?.contextKey ?? null,
      sessionId: null,
      pid: null,
      processName: null,
      llm:
        facts === null
          ? null
          : llmOf(facts, (isRefused ? null : response?.facts) ?? noAnswer(facts), {
              isRefused,
              provider: providerOfHost(exchange.host),
              mappedTo: null,
              ttftMs: null,
              totalMs: exchange.totalLatencyMs,
              priceOf
            }),
      gatewayRequestId: null,
      decision: null,
      requestTruncated: request?.shown?.isTruncated ?? false,
      responseTruncated: response?.shown?.isTruncated ?? false,
      requestEncoding: request?.shown?.encoding ?? "utf8",
      responseEncoding: response?.shown?.encoding ?? "utf8",
      // Null where it took too long.
      bodyEvicted: report === null,
      replayOf: null,
      promptKey: request?.promptKey ?? null,
      httpVersion: exchange.httpVersion
    },
    { requestBody: bufferOf(request?.shown), responseBody: bufferOf(response?.shown) }
  )
}

/** Makes records of imported exchanges; they are always masked. */
export const recordsOfExchanges = async (
  exchanges: ReadonlyArray<ImportedExchange>,
  services: ImportServices
): Promise<ReadonlyArray<TrafficRecord>> => {
  const limits = { ...limitsOf(services.settings), maskSecrets: true }
  const records: Array<TrafficRecord> = []
  for (const exchange of exchanges) {
    const { host, path, requestBody, requestHeaders, responseBody, responseHeaders } = exchange
    const task = {
      request: { host, path, userAgent: requestHeaders["user-agent"] ?? "", body: bodyOf(requestBody, requestHeaders) },
      response: { path, provider: providerOfHost(host), body: bodyOf(responseBody, responseHeaders), facts: null },
      limits
    }
    records.push(recordFrom(exchange, await services.thread.run({ kind: "task", task }), services))
  }
  return records
}
