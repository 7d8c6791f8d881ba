/** Records that another process of this machine has captured. */
import * as Schema from "effect/Schema"
import type { Inspector } from "./Inspector.ts"
import {
  BodyEncoding,
  CaptureSource,
  DetectedKind,
  Item,
  RecordHeaders,
  RecordStatus
} from "../domain/TrafficRecord.ts"

/** ISO 8601, or what else the Date constructor of ECMAScript defines to understand. */
const Timestamp = Schema.String.pipe(
  Schema.maxLength(64),
  Schema.filter((text) => !Number.isNaN(Date.parse(text)), { message: () => "must be a time in ISO 8601" })
)

const maybe = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))
const Ms = Schema.NonNegative
const Short = Schema.String.pipe(Schema.maxLength(512))

export const IngestRecord = Schema.Struct({
  id: Schema.String.pipe(Schema.minLength(1), Schema.maxLength(128)),
  timestamp: Timestamp,
  method: Schema.String.pipe(Schema.minLength(1), Schema.maxLength(32)),
  host: Schema.String.pipe(Schema.minLength(1), Schema.maxLength(512)),
  path: Schema.String.pipe(Schema.maxLength(65_536)),
  source: CaptureSource,
  requestHeaders: RecordHeaders,
  requestSize: Item.fields.requestSize,
  responseHeaders: RecordHeaders,
  responseSize: Item.fields.responseSize,
  status: RecordStatus,
  scheme: Schema.optional(Item.fields.scheme),
  requestBody: maybe(Schema.String),
  responseBody: maybe(Schema.String),
  requestEncoding: Schema.optional(BodyEncoding),
  responseEncoding: Schema.optional(BodyEncoding),
  agent: maybe(Short),
  detectedKind: maybe(DetectedKind),
  sourceModel: maybe(Short),
  mappedModel: maybe(Short),
  error: maybe(Schema.String),
  note: maybe(Schema.String.pipe(Schema.maxLength(10_000))),
  pid: maybe(Schema.NonNegativeInt),
  processName: maybe(Short),
  proxyLatencyMs: maybe(Ms),
  upstreamLatencyMs: maybe(Ms),
  totalLatencyMs: maybe(Ms),
  gatewayRequestId: maybe(Short),
  replayOf: maybe(Short)
})
export type IngestRecord = typeof IngestRecord.Type

/** They are texts already: what they were encoded with on the wire must not be undone again. */
const decodedHeaders = ({ "content-encoding": _encoding, ...headers }: RecordHeaders): RecordHeaders => headers

const lowerCase = (headers: RecordHeaders): RecordHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Adds a record, or updates the one with its id. */
export const ingest = (
  inspector: Pick<typeof Inspector.Service, "begin" | "update" | "finish">,
  record: IngestRecord
): void => {
  const {
    agent = null,
    gatewayRequestId = null,
    id,
    mappedModel = null,
    note = null,
    sourceModel = null,
    status
  } = record
  const requestHeaders = decodedHeaders(lowerCase(record.requestHeaders))
  const requestBody =
    typeof record.requestBody === "string" ? Buffer.from(record.requestBody, record.requestEncoding ?? "utf8") : null
  const told = {
    agent,
    gatewayRequestId,
    mappedModel,
    note,
    sourceModel,
    pid: record.pid ?? null,
    processName: record.processName ?? null
  }
  inspector.begin({
    id,
    source: record.source,
    method: record.method,
    scheme: record.scheme ?? "https",
    host: record.host,
    path: record.path,
    headers: requestHeaders,
    bodySize: record.requestSize,
    atMs: Date.parse(record.timestamp),
    replayOf: record.replayOf ?? null,
    ...(record.detectedKind === null || record.detectedKind === undefined ? {} : { kind: record.detectedKind })
  })
  inspector.update(id, {
    ...told,
    requestSize: record.requestSize,
    ...(requestBody === null ? {} : { requestBody })
  })
  if (status === "in-flight") return
  inspector.finish(id, {
    ...told,
    status,
    responseHeaders: decodedHeaders(lowerCase(record.responseHeaders)),
    responseBody:
      typeof record.responseBody === "string"
        ? Buffer.from(record.responseBody, record.responseEncoding ?? "utf8")
        : null,
    responseSize: record.responseSize,
    error: record.error ?? null,
    proxyLatencyMs: record.proxyLatencyMs ?? null,
    upstreamLatencyMs: record.upstreamLatencyMs ?? null,
    totalLatencyMs: record.totalLatencyMs ?? null
  })
}
