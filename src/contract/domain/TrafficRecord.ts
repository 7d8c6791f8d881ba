/**
 * Record of one exchange in the traffic inspector, as clients of its API see it. Secrets are masked before a record is
 * made.
 */
import * as Schema from "effect/Schema"

/** Sources that exchanges are captured from. */
export const captureSources = [
  "agent-bridge",
  "custom-host",
  "http-proxy",
  "system-proxy",
  "tproxy",
  "gateway"
] as const
export const CaptureSource = Schema.Literal(...captureSources)
export type CaptureSource = typeof CaptureSource.Type

export const detectedKinds = ["llm", "app", "unknown", "custom"] as const
export const DetectedKind = Schema.Literal(...detectedKinds)
export type DetectedKind = typeof DetectedKind.Type

/** Request formats that are read as conversations or embeddings. */
export const apiKinds = ["chat", "completions", "messages", "responses", "gemini", "ollama", "embeddings"] as const
export const ApiKind = Schema.Literal(...apiKinds)
export type ApiKind = typeof ApiKind.Type

/** An HTTP status; `in-flight` until the answer is complete, `error` when there is none. */
export const RecordStatus = Schema.Union(
  Schema.Int.pipe(Schema.between(100, 999)),
  Schema.Literal("in-flight", "error")
)
export type RecordStatus = typeof RecordStatus.Type

const Text = Schema.NullOr(Schema.String)
const Amount = Schema.NullOr(Schema.Number)
const Bytes = Schema.NonNegativeInt
export const BodyEncoding = Schema.Literal("utf8", "base64")
export type BodyEncoding = typeof BodyEncoding.Type

/** Lower-case names; a header that came several times has its values joined by `, `, `set-cookie` by line ends. */
export const RecordHeaders = Schema.Record({ key: Schema.String, value: Schema.String })
export type RecordHeaders = typeof RecordHeaders.Type

/** Facts of a request to a model and its answer. Tokens and milliseconds; null when unknown. */
export const Llm = Schema.Struct({
  provider: Text,
  apiKind: Schema.NullOr(ApiKind),
  model: Text,
  /** Turns of the request. */
  messages: Schema.NonNegativeInt,
  tokensIn: Amount,
  tokensOut: Amount,
  streamed: Schema.Boolean,
  /** The model that the gateway or bridge asked for in place of `model`. */
  mappedTo: Text,
  costEstimateUsd: Amount,
  cacheRead: Amount,
  cacheWrite: Amount,
  reasoning: Amount,
  ttftMs: Amount,
  tokensPerSecond: Amount,
  /** A token count is the gateway's own, because the upstream reported none. */
  tokensEstimated: Schema.Boolean
})
export type Llm = typeof Llm.Type

const itemFields = {
  id: Schema.String,
  source: CaptureSource,
  agent: Text,
  /** ISO 8601. */
  timestamp: Schema.String,
  method: Schema.String,
  scheme: Schema.Literal("http", "https", "ws", "wss"),
  host: Schema.String,
  /** Path with its query. */
  path: Schema.String,
  /** Bytes of the body on the wire, whatever is shown of it. */
  requestSize: Bytes,
  responseSize: Bytes,
  status: RecordStatus,
  proxyLatencyMs: Amount,
  upstreamLatencyMs: Amount,
  totalLatencyMs: Amount,
  error: Text,
  sourceModel: Text,
  mappedModel: Text,
  detectedKind: DetectedKind,
  contextKey: Text,
  annotation: Text,
  sessionId: Text,
  note: Text,
  pid: Schema.NullOr(Schema.Int),
  processName: Text,
  llm: Schema.NullOr(Llm),
  gatewayRequestId: Text,
  requestTruncated: Schema.Boolean,
  responseTruncated: Schema.Boolean,
  requestEncoding: BodyEncoding,
  responseEncoding: BodyEncoding,
  /** True when the bodies made room for newer ones. */
  bodyEvicted: Schema.Boolean,
  replayOf: Text,
  /** Names what is asked: retries of it have the same. Records of before have none. */
  promptKey: Schema.optionalWith(Text, { exact: true }),
  /** Version, such as `HTTP/1.1`; null: not known. Records of before have none. */
  httpVersion: Schema.optionalWith(Text, { exact: true })
} as const

/** Counts of a record among the retries of its prompt, within the list that it is read from. */
const countedFields = {
  /** The first attempt; null: it is none of a failed one. */
  retryOf: Schema.optionalWith(Text, { exact: true }),
  /** Number among the attempts, from 1. */
  attempt: Schema.optionalWith(Schema.Int, { exact: true })
} as const

/** A record without headers, bodies and decision. */
export const Item = Schema.Struct({ ...itemFields, ...countedFields })
export type Item = typeof Item.Type

/** Everything of a record but its bodies. */
export const Head = Schema.Struct({
  ...itemFields,
  requestHeaders: RecordHeaders,
  responseHeaders: RecordHeaders,
  /** The gateway's decision record, where it served the request. */
  decision: Schema.NullOr(Schema.Unknown)
})
export type Head = typeof Head.Type

export const TrafficRecord = Schema.Struct({
  ...Head.fields,
  ...countedFields,
  requestBody: Text,
  responseBody: Text
})
export type TrafficRecord = typeof TrafficRecord.Type

export type TurnRole = "system" | "user" | "assistant" | "tool"

export type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: "tool_result"; readonly tool_use_id: string; readonly content: unknown }
  /** `signed`: the provider can verify that it is its own. */
  | { readonly type: "thinking"; readonly text: string; readonly signed: boolean }
  /** `bytes`: size of inline data; 0 for a link or an id. */
  | { readonly type: "media"; readonly mediaType: string; readonly bytes: number }

export interface Turn {
  readonly role: TurnRole
  readonly blocks: ReadonlyArray<Block>
}

export const itemOf = ({
  decision: _decision,
  requestHeaders: _request,
  responseHeaders: _response,
  ...item
}: Head): Item => item

/** The bodies of a record as they are kept: UTF-8, or bytes that are shown as base64. */
export interface Bodies {
  readonly requestBody: Buffer | null
  readonly responseBody: Buffer | null
}

export const noBodies: Bodies = { requestBody: null, responseBody: null }

const shown = (body: Buffer | null, encoding: BodyEncoding): string | null =>
  body === null ? null : body.toString(encoding)

export const recordOf = (head: Head, { requestBody, responseBody }: Bodies): TrafficRecord => ({
  ...head,
  requestBody: shown(requestBody, head.requestEncoding),
  responseBody: shown(responseBody, head.responseEncoding)
})
