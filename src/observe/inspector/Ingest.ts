/** Records that are captured outside of the gateway's process and handed in whole. They are decoded, masked and read like all others. */
import { operatorsOwn } from "../../contract/domain/ContentPermission.ts"
import type {
  CaptureSource,
  DetectedKind,
  Head,
  RecordHeaders,
  RecordStatus
} from "../../contract/domain/TrafficRecord.ts"
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
  handedIn: HandedIn,
  kind: DetectedKind | null
): void => {
  const { id, source, status } = handedIn
  const requestBody = bytesOf(handedIn.requestBody, handedIn.requestEncoding)
  const more = {
    agent: handedIn.agent ?? null,
    note: handedIn.note ?? null,
    sourceModel: handedIn.sourceModel ?? null,
    mappedModel: handedIn.mappedModel ?? null,
    pid: handedIn.pid ?? null,
    processName: handedIn.processName ?? null,
    responseHeaders: decoded(handedIn.responseHeaders, handedIn.responseEncoding)
  }
  const isUnderWay = inspector.entry(id)?.head.status === "in-flight"
  if (!isUnderWay) {
    inspector.begin(operatorsOwn, {
      id,
      source,
      method: handedIn.method,
      scheme: handedIn.scheme ?? "https",
      host: handedIn.host,
      path: handedIn.path,
      httpVersion: handedIn.httpVersion ?? null,
      headers: decoded(handedIn.requestHeaders, handedIn.requestEncoding),
      body: requestBody,
      bodySize: handedIn.requestSize,
      areBodiesWhole: true,
      atMs: Date.parse(handedIn.timestamp),
      ...(source === "custom-host" ? { kind: kind ?? handedIn.detectedKind ?? "custom" } : {})
    })
  }
  inspector.update(id, {
    ...more,
    ...(isUnderWay && requestBody !== null ? { requestBody, requestSize: handedIn.requestSize } : {})
  })
  if (status === "in-flight") return
  inspector.finish(id, {
    ...more,
    status,
    responseBody: bytesOf(handedIn.responseBody, handedIn.responseEncoding),
    responseSize: handedIn.responseSize,
    error: handedIn.error ?? null,
    proxyLatencyMs: handedIn.proxyLatencyMs ?? null,
    upstreamLatencyMs: handedIn.upstreamLatencyMs ?? null,
    totalLatencyMs: handedIn.totalLatencyMs ?? null
  })
}
