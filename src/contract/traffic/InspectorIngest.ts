/** Records that programs of this machine hand in to the traffic inspector (docs/inspector.md). */
import * as Schema from "effect/Schema"
import { CaptureSource, DetectedKind, RecordHeaders, RecordStatus } from "../domain/TrafficRecord.ts"
import { field } from "../../kernel/Documented.ts"
import { exampleId, exampleTime } from "../Examples.ts"
import { body, IsoTime, optional } from "../Inputs.ts"
import { LlmView } from "./InspectorRecords.ts"

/** A name or a word of a query. */
export const Word = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(200))
export const Body = Schema.String.pipe(Schema.maxLength(16_777_216))

const maxAnnotationChars = 10_000
export const Note = Schema.String.pipe(
  Schema.maxLength(maxAnnotationChars, { message: () => `must have at most ${maxAnnotationChars} characters` })
)
const Size = Schema.NonNegativeInt
const Milliseconds = Schema.NonNegative

const maxHeaders = 1_000
const maxHeaderChars = 65_536

/** Headers, as many as a server takes. */
const IngestHeaders = RecordHeaders.pipe(
  Schema.filter((headers) => {
    const names = Object.keys(headers)
    if (names.length > maxHeaders) return `has ${names.length} headers: ${maxHeaders} are the limit`
    const chars = names.reduce((sum, name) => sum + name.length + (headers[name]?.length ?? 0), 0)
    return chars > maxHeaderChars ? `has ${chars} characters: ${maxHeaderChars} are the limit` : true
  })
)

/** All that a record has may come along, so that one can be handed in as it was given out; what the inspector finds out itself is not read. */
export const IngestRecord = Schema.Struct({
  id: field(
    Schema.String.pipe(Schema.pattern(/^[\w.:-]{1,100}$/)),
    "Id of the record; the same again updates it.",
    exampleId
  ),
  timestamp: field(IsoTime, "When it began, ISO 8601.", exampleTime),
  method: field(Schema.String.pipe(Schema.pattern(/^[A-Za-z-]{1,32}$/)), "The method.", "POST"),
  scheme: field(optional(Schema.Literal("http", "https", "ws", "wss")), "The scheme; absent: https.", "https"),
  host: field(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(300)), "The host.", "api.openai.com"),
  path: field(Schema.String.pipe(Schema.maxLength(65_536)), "The path with its query.", "/v1/chat/completions"),
  httpVersion: field(
    optional(Schema.String.pipe(Schema.pattern(/^HTTP\/\d(?:\.\d)?$/))),
    "The version of HTTP that the client spoke.",
    "HTTP/1.1"
  ),
  source: field(CaptureSource, "Where it was captured.", "agent-bridge"),
  requestHeaders: field(IngestHeaders, "Headers of the request: at most 1,000, with 65,536 characters.", {
    "content-type": "application/json"
  }),
  requestBody: field(
    optional(Body),
    "Its body.",
    '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]}'
  ),
  requestEncoding: field(optional(Schema.Literal("utf8", "base64")), "How it is written; absent: as text.", "utf8"),
  requestSize: field(Size, "Bytes of it on the wire.", 120),
  responseHeaders: field(IngestHeaders, "Headers of the answer, within the same limits.", {
    "content-type": "application/json"
  }),
  responseBody: field(optional(Body), "Its body.", "{}"),
  responseEncoding: field(optional(Schema.Literal("utf8", "base64")), "How it is written; absent: as text.", "utf8"),
  responseSize: field(Size, "Bytes of it on the wire.", 2),
  status: field(RecordStatus, "The HTTP status, `in-flight` or `error`.", 200),
  agent: field(optional(Word), "The agent whose traffic it is.", "claude-code"),
  error: field(optional(Schema.String.pipe(Schema.maxLength(2_000))), "Why there is no answer.", "timeout"),
  note: field(optional(Schema.String.pipe(Schema.maxLength(2_000))), "What the capture says about it.", "tunnelled"),
  sourceModel: field(optional(Word), "The model that was asked for.", "gpt-4o"),
  mappedModel: field(optional(Word), "The model it was mapped to.", "gpt-4o-mini"),
  proxyLatencyMs: field(optional(Milliseconds), "Milliseconds in the capture.", 2),
  upstreamLatencyMs: field(optional(Milliseconds), "Milliseconds of the upstream.", 800),
  totalLatencyMs: field(optional(Milliseconds), "Milliseconds altogether.", 802),
  pid: field(optional(Schema.NonNegativeInt), "The process that asked.", 4_711),
  processName: field(optional(Word), "Its name.", "node"),
  detectedKind: field(
    optional(DetectedKind),
    "What it is; read for custom hosts that are not in the list of them only.",
    "custom"
  ),
  contextKey: field(optional(Word), "Not read.", "5f2a9c01b7de"),
  annotation: field(optional(Note), "Not read.", "The first request after the upgrade."),
  sessionId: field(optional(Word), "Not read.", exampleId),
  llm: field(optional(LlmView), "Not read."),
  gatewayRequestId: field(optional(Word), "Not read.", exampleId),
  decision: field(optional(Schema.Unknown), "Not read.", {}),
  requestTruncated: field(optional(Schema.Boolean), "Not read.", false),
  responseTruncated: field(optional(Schema.Boolean), "Not read.", false),
  bodyEvicted: field(optional(Schema.Boolean), "Not read.", false),
  replayOf: field(optional(Word), "Not read.", exampleId),
  promptKey: field(optional(Word), "Not read.", "90be44d1c2a7"),
  retryOf: field(optional(Word), "Not read.", exampleId),
  attempt: field(optional(Size), "Not read.", 1)
}).annotations(body("InspectorIngest"))
export type IngestRecord = typeof IngestRecord.Type
