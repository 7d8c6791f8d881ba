/** Records that are captured outside of the gateway's process and handed in whole. They are decoded, masked and read like all others. */
import { operatorsOwn } from "../../domain/ContentPermission.ts"
import type { CaptureSource, DetectedKind, Head, RecordHeaders, RecordStatus } from "../../domain/TrafficRecord.ts"
import type { Inspector } from "./Inspector.ts"

export interface HandedIn {
  readonly id: string
  /** ISO 8601. */
  readonly timestamp: string
  readonly method: string
  readonly scheme?: Head["scheme"] | null
  readonly host: string
  readonly path: string
  readonly httpVersion?: string | null
  readonly source: CaptureSource
  readonly requestHeaders: RecordHeaders
  readonly requestBody?: string | null
  readonly requestEncoding?: "utf8" | "base64" | null
  readonly requestSize: number
  readonly responseHeaders: RecordHeaders
  readonly responseBody?: string | null
  readonly responseEncoding?: "utf8" | "base64" | null
  readonly responseSize: number
  readonly status: RecordStatus
  readonly agent?: string | null
  readonly error?: string | null
  readonly note?: string | null
  readonly sourceModel?: string | null
  readonly mappedModel?: string | null
  readonly proxyLatencyMs?: number | null
  readonly upstreamLatencyMs?: number | null
  readonly totalLatencyMs?: number | null
  readonly pid?: number | null
  readonly processName?: string | null
  /** Heeded for custom hosts that are not in the list of them only. */
  readonly detectedKind?: DetectedKind
}

const bytesOf = (body: string | null | undefined, encoding: "utf8" | "base64" | null | undefined): Buffer | null =>
  body === null || body === undefined ? null : Buffer.from(body, encoding ?? "utf8")

/** Headers of a body that was decoded before it was handed in: text is no longer compressed. */
const decoded = (headers: RecordHeaders, encoding: "utf8" | "base64" | null | undefined): RecordHeaders =>
  encoding === "base64"
    ? headers
    : Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== "content-encoding"))

/** A record that is known is updated in its place. `kind`: the one that was chosen when its custom host was added; null: none was. */
export const handIn = (
  inspector: Pick<typeof Inspector.Service, "begin" | "entry" | "finish" | "update">,
  given: HandedIn,
  kind: DetectedKind | null
): void => {
  const { id, source, status } = given
  const requestBody = bytesOf(given.requestBody, given.requestEncoding)
  const more = {
    agent: given.agent ?? null,
    note: given.note ?? null,
    sourceModel: given.sourceModel ?? null,
    mappedModel: given.mappedModel ?? null,
    pid: given.pid ?? null,
    processName: given.processName ?? null,
    responseHeaders: decoded(given.responseHeaders, given.responseEncoding)
  }
  const isUnderWay = inspector.entry(id)?.head.status === "in-flight"
  if (!isUnderWay) {
    inspector.begin(operatorsOwn, {
      id,
      source,
      method: given.method,
      scheme: given.scheme ?? "https",
      host: given.host,
      path: given.path,
      httpVersion: given.httpVersion ?? null,
      headers: decoded(given.requestHeaders, given.requestEncoding),
      body: requestBody,
      bodySize: given.requestSize,
      areBodiesWhole: true,
      atMs: Date.parse(given.timestamp),
      ...(source === "custom-host" ? { kind: kind ?? given.detectedKind ?? "custom" } : {})
    })
  }
  inspector.update(id, {
    ...more,
    ...(isUnderWay && requestBody !== null ? { requestBody, requestSize: given.requestSize } : {})
  })
  if (status === "in-flight") return
  inspector.finish(id, {
    ...more,
    status,
    responseBody: bytesOf(given.responseBody, given.responseEncoding),
    responseSize: given.responseSize,
    error: given.error ?? null,
    proxyLatencyMs: given.proxyLatencyMs ?? null,
    upstreamLatencyMs: given.upstreamLatencyMs ?? null,
    totalLatencyMs: given.totalLatencyMs ?? null
  })
}
