/**
 * Records as an HTTP archive, version 1.2: http://www.softwareishard.com/blog/har-12-spec/. What the archive has no place for is in
 * members of ours, which begin with `_`. Always masked. Pure.
 */
import { maskRecord } from "../masking/MaskRecord.ts"
import type { RecordHeaders, TrafficRecord } from "../../../contract/domain/TrafficRecord.ts"

interface NameValue {
  readonly name: string
  readonly value: string
}

const addressOf = ({ host, path, scheme }: TrafficRecord): string => {
  // A tunnel has its port for a path.
  const isTunnel = /^:\d+$/.test(path)
  const address = isTunnel ? `https://${host}${path}/` : `${scheme}://${host}${path.startsWith("/") ? "" : "/"}${path}`
  if (URL.canParse(address)) return new URL(address).href
  return `${scheme}://invalid.invalid/${encodeURIComponent(`${host}${path}`)}`
}

/** Headers that came several times are one with line ends in it. */
const headersOf = (headers: RecordHeaders): ReadonlyArray<NameValue> =>
  Object.entries(headers).flatMap(([name, value]) => value.split("\n").map((line) => ({ name, value: line })))

const pairOf = (text: string): NameValue => {
  const sign = text.indexOf("=")
  return sign < 0
    ? { name: text.trim(), value: "" }
    : { name: text.slice(0, sign).trim(), value: text.slice(sign + 1).trim() }
}

const cookiesOf = (cookie: string | undefined): ReadonlyArray<NameValue> =>
  cookie === undefined || cookie === "" ? [] : cookie.split(";").map(pairOf)

const setCookiesOf = (lines: string | undefined): ReadonlyArray<NameValue> =>
  lines === undefined || lines === "" ? [] : lines.split("\n").map((line) => pairOf(line.split(";", 1)[0] ?? ""))

const queryOf = (address: string): ReadonlyArray<NameValue> =>
  [...new URL(address).searchParams].map(([name, value]) => ({ name, value }))

const notice = /\[truncated: (\d+) of (\d+) bytes\]$/

/** Computes the length of the body before it was cut, as far as that is known. */
const lengthOf = (body: string | null, encoding: "utf8" | "base64", size: number): number => {
  if (body === null) return size
  const total = notice.exec(body.slice(-80))?.[2]
  return total === undefined ? Buffer.byteLength(body, encoding) : Number(total)
}

const typeOf = (headers: RecordHeaders): string => headers["content-type"] ?? "application/octet-stream"

const postDataOf = ({ requestBody, requestEncoding, requestHeaders, requestTruncated }: TrafficRecord) =>
  requestBody === null
    ? {}
    : {
        postData: {
          mimeType: typeOf(requestHeaders),
          text: requestBody,
          ...(requestEncoding === "base64" ? { _encoding: "base64" } : {}),
          ...(requestTruncated ? { comment: "truncated" } : {})
        }
      }

const contentOf = (record: TrafficRecord) => {
  const { responseBody, responseEncoding, responseHeaders, responseSize, responseTruncated } = record
  return {
    size: lengthOf(responseBody, responseEncoding, responseSize),
    mimeType: typeOf(responseHeaders),
    ...(responseBody === null ? {} : { text: responseBody }),
    ...(responseBody !== null && responseEncoding === "base64" ? { encoding: "base64" } : {}),
    ...(responseTruncated ? { comment: "truncated" } : {})
  }
}

const positive = (ms: number | null): number => (ms === null || !Number.isFinite(ms) || ms < 0 ? 0 : ms)

const timingsOf = ({ status, totalLatencyMs, upstreamLatencyMs }: TrafficRecord) => {
  const total = status === "in-flight" ? 0 : positive(totalLatencyMs ?? upstreamLatencyMs)
  const wait = Math.min(total, positive(upstreamLatencyMs ?? total))
  return { time: total, timings: { send: 0, wait, receive: total - wait } }
}

const errorOf = ({ error, status }: TrafficRecord): string | null =>
  typeof status === "number" ? error : (error ?? (status === "in-flight" ? "in-flight" : "failed"))

/** One entry, masked. */
export const harEntryOf = (unmasked: TrafficRecord) => {
  const record = maskRecord(unmasked)
  const { requestHeaders, responseHeaders, status } = record
  const httpVersion = record.httpVersion ?? "HTTP/1.1"
  const url = addressOf(record)
  const error = errorOf(record)
  const { time, timings } = timingsOf(record)
  return {
    startedDateTime: record.timestamp,
    time,
    request: {
      method: record.method,
      url,
      httpVersion,
      cookies: cookiesOf(requestHeaders["cookie"]),
      headers: headersOf(requestHeaders),
      queryString: queryOf(url),
      ...postDataOf(record),
      headersSize: -1,
      bodySize: record.requestSize
    },
    response: {
      status: typeof status === "number" ? status : 0,
      statusText: "",
      httpVersion,
      cookies: setCookiesOf(responseHeaders["set-cookie"]),
      headers: headersOf(responseHeaders),
      content: contentOf(record),
      redirectURL: responseHeaders["location"] ?? "",
      headersSize: -1,
      bodySize: record.responseSize
    },
    cache: {},
    timings,
    ...(status === "in-flight" ? { comment: "in-flight" } : {}),
    ...(error === null ? {} : { _error: error }),
    _source: record.source,
    _agent: record.agent,
    _detectedKind: record.detectedKind,
    _contextKey: record.contextKey,
    _sessionId: record.sessionId,
    _annotation: record.annotation,
    _note: record.note,
    _pid: record.pid,
    _processName: record.processName,
    _gatewayId: record.id,
    _gatewayRequestId: record.gatewayRequestId,
    _llm: record.llm
  }
}

export type HarEntry = ReturnType<typeof harEntryOf>

/** Makes the text before the entries, between two of them, and behind the last. */
export const harFrame = (version: string) => ({
  before: `{"log":{"version":"1.2","creator":{"name":"Gateway","version":${JSON.stringify(version)}},"entries":[`,
  between: ",",
  after: "]}}"
})

export const harEntryText = (record: TrafficRecord): string => JSON.stringify(harEntryOf(record))

/** The archive in pieces, so that it is never in memory as a whole. `records`: oldest first. */
export const harPieces = function* (records: Iterable<TrafficRecord>, version: string): Generator<string> {
  const { after, before, between } = harFrame(version)
  yield before
  let isFirst = true
  for (const record of records) {
    yield (isFirst ? "" : between) + harEntryText(record)
    isFirst = false
  }
  yield after
}

export const jsonlLine = (record: TrafficRecord): string => `${JSON.stringify(maskRecord(record))}\n`

/** One masked record a line, oldest first. */
export const jsonlPieces = function* (records: Iterable<TrafficRecord>): Generator<string> {
  for (const record of records) yield jsonlLine(record)
}
