/**
 * A whole exchange of the gateway's own in one job: its bodies and heads are masked and read, and its prompt is judged. What its record needs of
 * that goes back as text, which is read when the record is.
 */
import type { ModelPrice } from "../../../subjects/pricing/entity.ts"
import type { RecordHeaders } from "../../../contract/domain/TrafficRecord.ts"
import type { TokenCounts } from "../../../contract/domain/Usage.ts"
import type { BodyLimits, CapturedBody } from "../Bodies.ts"
import type { CacheFinding } from "../cache/CacheCall.ts"
import type { JudgeCall } from "../cache/CacheJob.ts"
import type { CallFacts } from "../CapturedFacts.ts"
import type { ReadRequest, Shape } from "../HeadOf.ts"
import { type HeaderInput, readHeaders } from "../Headers.ts"
import { type HeadMasker, type Shown, shownOf } from "../masking/HeadMasker.ts"
import type { AnswerFacts } from "../reading/Llm.ts"
import { readExchange } from "./Work.ts"

export interface ExchangeJob {
  readonly id: string
  readonly host: string
  readonly path: string
  readonly error: string | null
  readonly requestHeaders: HeaderInput
  /** Size on the wire. */
  readonly requestSize: number
  readonly responseHeaders: HeaderInput
  readonly responseSize: number
  /** Provider as in the record; its wire is read in the dialect of it. */
  readonly provider: string | null
  readonly atMs: number
  readonly ttftMs: number | null
  readonly totalMs: number | null
  /** An answer came that is no refusal. */
  readonly isAnswered: boolean
  /** Tokens where they are known otherwise than from the answer. */
  readonly usage: TokenCounts | null
  readonly call: Omit<CallFacts, "body"> & { readonly price: ModelPrice | null }
  readonly limits: BodyLimits
  readonly requestBody: Uint8Array | null
  readonly responseBody: Uint8Array | null
  /** Body that was sent to the provider, not masked; null: the client's own. */
  readonly sentBody: Uint8Array | null
}

/** Facts in `read` of a report. */
export interface ExchangeRead {
  readonly shown: Shown
  readonly request: ReadRequest
  readonly answer: { readonly facts: AnswerFacts | null; readonly shape: Shape | null; readonly reason: string | null }
  /** Null: its prompt was not judged. */
  readonly finding: CacheFinding | null
}

export interface ExchangeReport {
  /** `ExchangeRead` as JSON. */
  readonly read: string
  readonly requestBody: Uint8Array | null
  readonly responseBody: Uint8Array | null
  /** Names what was asked; null: not known. */
  readonly promptKey: string | null
  /** True when the finding has a cause. */
  readonly isBreak: boolean
}

export const bytesOfExchange = ({ requestBody, responseBody, sentBody }: ExchangeJob): number =>
  (requestBody?.byteLength ?? 0) + (responseBody?.byteLength ?? 0) + (sentBody?.byteLength ?? 0)

const captured = (bytes: Uint8Array | null, size: number, headers: RecordHeaders): CapturedBody | null =>
  bytes === null || bytes.byteLength === 0
    ? null
    : {
        bytes,
        size,
        contentEncoding: headers["content-encoding"] ?? "",
        contentType: headers["content-type"] ?? ""
      }

const shapeOf = (shown: Shape | null | undefined): Shape | null =>
  shown === null || shown === undefined ? null : { encoding: shown.encoding, isTruncated: shown.isTruncated }

export const performExchange = async (
  job: ExchangeJob,
  judge: JudgeCall,
  masker: HeadMasker
): Promise<ExchangeReport> => {
  const { call, host, limits, path, provider, usage } = job
  const requestHeaders = readHeaders(job.requestHeaders)
  const responseHeaders = readHeaders(job.responseHeaders)
  const { clean, report } = await readExchange({
    request: {
      host,
      path,
      userAgent: requestHeaders["user-agent"] ?? "",
      body: captured(job.requestBody, job.requestSize, requestHeaders)
    },
    response: { path, provider, body: captured(job.responseBody, job.responseSize, responseHeaders), facts: null },
    limits
  })
  const request = report.request
  const facts = request?.facts ?? null
  const shownRequest = request?.shown ?? null
  const shownResponse = report.response?.shown ?? null
  const answer = report.response?.facts ?? null
  const shown = shownOf(masker, limits.maskSecrets, { path, error: job.error, requestHeaders, responseHeaders })
  const reported = facts === null ? null : (usage ?? answer?.usage ?? null)
  const finding =
    facts === null || shownRequest === null || shownRequest.isTruncated || shownRequest.encoding !== "utf8"
      ? null
      : judge(
          {
            path: shown.path,
            body: shownRequest.bytes,
            isMasked: limits.maskSecrets,
            sent: job.sentBody === null ? null : { wire: call.wire, body: job.sentBody },
            price: call.price,
            call: {
              id: job.id,
              atMs: job.atMs,
              answeredAtMs: job.atMs + (job.ttftMs ?? job.totalMs ?? 0),
              provider: call.provider,
              account: call.account,
              model: call.model,
              askedModel: facts.model ?? call.model,
              isRouted: true,
              isAnswered: job.isAnswered,
              reported:
                reported === null
                  ? null
                  : { in: reported.in, cacheRead: reported.cacheRead ?? 0, cacheWrite: reported.cacheWrite ?? 0 }
            }
          },
          clean
        )
  const read: ExchangeRead = {
    shown,
    request: {
      kind: request?.kind ?? null,
      contextKey: request?.contextKey ?? null,
      promptKey: request?.promptKey ?? null,
      facts,
      shape: shapeOf(shownRequest)
    },
    answer: { facts: answer, shape: shapeOf(shownResponse), reason: report.response?.reason ?? null },
    finding
  }
  return {
    read: JSON.stringify(read),
    requestBody: shownRequest?.bytes ?? null,
    responseBody: shownResponse?.bytes ?? null,
    promptKey: request?.promptKey ?? null,
    isBreak: finding !== null && finding.cause !== null
  }
}

/** Parses a report that this module has written, perhaps in the thread. */
export const exchangeRead = (read: string): ExchangeRead => JSON.parse(read)
