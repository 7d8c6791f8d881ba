/** Records of the traffic inspector, as the API documents them (docs/inspector.md). */
import * as Schema from "effect/Schema"
import {
  ApiKind,
  BodyEncoding,
  CaptureSource,
  DetectedKind,
  RecordHeaders,
  RecordStatus
} from "../domain/TrafficRecord.ts"
import { field } from "../../kernel/Documented.ts"
import { exampleId, exampleTime } from "../Examples.ts"
import { observed } from "../../kernel/Observed.ts"

const Text = Schema.NullOr(Schema.String)
const Amount = Schema.NullOr(Schema.Number)

export const LlmView = Schema.Struct({
  provider: field(Text, "The provider; null: unknown.", "anthropic"),
  apiKind: field(Schema.NullOr(ApiKind), "The format of the request.", "messages"),
  model: field(Text, "The model as the client named it.", "claude-sonnet-4-5"),
  messages: field(Schema.Number, "Turns of the request.", 12),
  tokensIn: field(Amount, "Tokens of the prompt, cached ones included.", 18_200),
  tokensOut: field(Amount, "Tokens of the answer; null: there is none yet.", 640),
  streamed: field(Schema.Boolean, "Whether the answer was a stream."),
  mappedTo: field(Text, "The model that was called in place of `model`.", null),
  costEstimateUsd: field(Amount, "What it cost by the price book, in US dollars; null: the price is unknown.", 0.0143),
  cacheRead: field(Amount, "Tokens that the provider read from its prompt cache.", 17_400),
  cacheWrite: field(Amount, "Tokens that it wrote into it.", 512),
  reasoning: field(Amount, "Tokens of reasoning within `tokensOut`.", 0),
  ttftMs: field(Amount, "Milliseconds to the first byte of the answer.", 820),
  tokensPerSecond: field(Amount, "Tokens of the answer for each second of its generation.", 61.5),
  tokensEstimated: field(Schema.Boolean, "The upstream reported no tokens; these are the gateway's estimate.")
}).annotations({ identifier: "InspectorLlm" })

const itemFields = {
  id: field(Schema.String, "Id of the record.", exampleId),
  source: field(CaptureSource, "Where it was captured."),
  agent: field(Text, "The agent whose traffic it is; null: unknown.", "claude-code"),
  timestamp: field(Schema.String, "When it began, ISO 8601.", exampleTime),
  method: field(Schema.String, "The method.", "POST"),
  scheme: field(Schema.Literal("http", "https", "ws", "wss"), "The scheme of the address."),
  host: field(Schema.String, "The host, with its port where that is not the usual one.", "api.anthropic.com"),
  path: field(Schema.String, "The path with its query.", "/v1/messages"),
  requestSize: field(Schema.Number, "Bytes of the request's body on the wire, whatever is shown of it.", 71_400),
  responseSize: field(Schema.Number, "Bytes of the answer's body on the wire.", 5_120),
  status: field(
    RecordStatus,
    "The HTTP status; `in-flight` until the answer is whole, `error` when there is none.",
    200
  ),
  proxyLatencyMs: field(Amount, "Milliseconds in the gateway; null: not measured.", 3),
  upstreamLatencyMs: field(Amount, "Milliseconds of the upstream; null: not measured.", 11_200),
  totalLatencyMs: field(Amount, "Milliseconds from the request to the end of its answer.", 11_203),
  error: field(Text, "Why there is no answer.", null),
  sourceModel: field(Text, "The model that was asked for, where it was mapped.", null),
  mappedModel: field(Text, "The model it was mapped to.", null),
  detectedKind: field(
    DetectedKind,
    "What it is: a request to a model, another program's, or unknown; `custom`: a host that was added."
  ),
  contextKey: field(
    Text,
    "Twelve hex digits of the hash of the system prompt: requests of one agent share it.",
    "5f2a9c01b7de"
  ),
  annotation: field(Text, "What a person wrote to it.", null),
  sessionId: field(Text, "The recorded session it belongs to.", null),
  note: field(Text, "What the capture says about it.", null),
  pid: field(Amount, "The process that asked; null: unknown.", 4_711),
  processName: field(Text, "Its name.", "node"),
  llm: field(Schema.NullOr(LlmView), "What is known of it as a request to a model; null: it is none."),
  gatewayRequestId: field(Text, "The gateway's request that it was, where the gateway served it.", null),
  requestTruncated: field(Schema.Boolean, "The request's body is shown in part."),
  responseTruncated: field(Schema.Boolean, "The answer's body is shown in part."),
  requestEncoding: field(BodyEncoding, "How the request's body is written: as text, or bytes as base64."),
  responseEncoding: field(BodyEncoding, "The same of the answer's body."),
  bodyEvicted: field(Schema.Boolean, "The bodies made room for newer ones."),
  replayOf: field(Text, "The record that this repeats.", null),
  promptKey: field(
    Schema.optionalWith(Text, { exact: true }),
    "Twelve hex digits of the hash of what was asked: attempts of one prompt share it.",
    "90be44d1c2a7"
  ),
  retryOf: field(
    Schema.optionalWith(Text, { exact: true }),
    "The first attempt of this prompt, where the attempt before this one failed at most ten minutes ago; null: it is no retry.",
    null
  ),
  httpVersion: field(
    Schema.optionalWith(Text, { exact: true }),
    "The version of HTTP that the client spoke, as HTTP/1.1 or HTTP/2; null: not known.",
    "HTTP/2"
  ),
  attempt: field(Schema.optionalWith(Schema.Number, { exact: true }), "Its number among the attempts, from 1.", 1)
} as const

export const ItemView = Schema.Struct(itemFields).annotations({ identifier: "InspectorItem" })

const headers = { "content-type": "application/json", authorization: "Bearer ***9f3a" }

export const RecordView = Schema.Struct({
  ...itemFields,
  requestHeaders: field(RecordHeaders, "Headers of the request; names in lower case.", headers),
  requestBody: field(
    Text,
    "Its body, decoded and masked; null: there is none (any more).",
    '{"model":"claude-sonnet-4-5"}'
  ),
  responseHeaders: field(RecordHeaders, "Headers of the answer.", { "content-type": "application/json" }),
  responseBody: field(Text, "Its body.", '{"type":"message"}'),
  decision: field(Schema.NullOr(Schema.Unknown), "The gateway's decision, where it served the request.", null)
}).annotations({ identifier: "InspectorRecord" })

export const SessionView = Schema.Struct({
  id: field(Schema.String, "Id of the session.", exampleId),
  name: field(Text, "Its name.", "before the upgrade"),
  state: field(
    Schema.Literal("recording", "saved", "interrupted"),
    "`interrupted`: the gateway ended while it recorded."
  ),
  startedAt: field(Schema.String, "When it began, ISO 8601.", exampleTime),
  endedAt: field(Text, "When it ended; null: it records.", null),
  requestCount: observed(Schema.Number, "Records in it.", 42),
  profile: field(Schema.String, "What it records.", "all"),
  truncated: observed(Schema.Boolean, "It was full: what came later is not in it.")
}).annotations({ identifier: "InspectorSession" })

export const ContextView = Schema.Struct({
  contextKey: field(Text, "Hash of the system prompt; null: those without one.", "5f2a9c01b7de"),
  requests: field(Schema.Number, "Requests with it.", 42),
  failed: field(Schema.Number, "Those of them that were refused or have no answer.", 0),
  tokensIn: field(Schema.Number, "Tokens of their prompts.", 182_000),
  tokensOut: field(Schema.Number, "Tokens of their answers.", 6_400),
  costUsd: field(Schema.Number, "What those cost whose price is known, in US dollars.", 0.143),
  models: field(Schema.Array(Schema.String), "Models that clients named, at most eight.", ["claude-sonnet-4-5"]),
  firstAt: field(Schema.String, "When the first one began, ISO 8601.", exampleTime),
  lastAt: field(Schema.String, "When the last one began.", exampleTime),
  lastId: field(Schema.String, "The newest of them.", exampleId)
}).annotations({ identifier: "InspectorContext" })

export const AttemptView = Schema.Struct({
  id: field(Schema.String, "Id of the record.", exampleId),
  attempt: field(Schema.Number, "Its number, from 1.", 1),
  timestamp: field(Schema.String, "When it began, ISO 8601.", exampleTime),
  status: field(RecordStatus, "How it ended.", 529),
  error: field(Text, "Why it failed.", "The model is overloaded.")
}).annotations({ identifier: "InspectorAttempt" })

export const TurnView = Schema.Struct({
  role: field(Schema.Literal("system", "user", "assistant", "tool"), "Who speaks."),
  blocks: field(
    Schema.Array(Schema.Unknown),
    "Its parts by `type`: `text`, `tool_use`, `tool_result`, `thinking` or `media`.",
    [{ type: "text", text: "Hello" }]
  )
}).annotations({ identifier: "InspectorTurn" })

export const SectionView = Schema.Struct({
  kind: field(Schema.Literal("tools", "system", "message", "parameters"), "What it is."),
  path: field(Schema.String, "Where it stands in the body.", "tools[3]"),
  name: field(Text, "Name of the tool, or role of the message.", "read_file"),
  bytes: field(Schema.Number, "Bytes of it; those of all sections are those of the body.", 1_204),
  tokens: field(Schema.Number, "Tokens of it, estimated; none of parameters.", 301)
}).annotations({ identifier: "InspectorSection" })

export const ChangeView = Schema.Struct({
  op: field(Schema.Literal("add", "remove", "replace"), "What was done."),
  path: field(Schema.String, "Where; of what was removed the place in the first body.", "messages[7].content[1].text"),
  before: field(Schema.optionalWith(Schema.Unknown, { exact: true }), "What was there; cut where it is long.", "old"),
  after: field(Schema.optionalWith(Schema.Unknown, { exact: true }), "What is there now.", "new")
}).annotations({ identifier: "InspectorChange" })

const tokens = field(
  Schema.Struct({
    in: field(Schema.Number, "Tokens of the prompt.", 18_200),
    cacheRead: field(Schema.Number, "Read from the cache.", 0),
    cacheWrite: field(Schema.Number, "Written into it.", 17_900)
  }),
  "Tokens as the provider reported them; zeros when it did not."
)

const findingFields = {
  verdict: field(
    Schema.Literal("hit", "partial", "broken", "first", "too_short", "unknown"),
    "`first`: no earlier call to compare with; `too_short`: below the provider's minimum; `unknown`: not judged."
  ),
  cause: field(
    Schema.NullOr(
      Schema.Struct({
        by: field(Schema.Literal("client", "gateway", "provider"), "Who did it."),
        rule: field(
          Schema.Literal(
            "tools_changed",
            "system_changed",
            "message_changed",
            "history_rewritten",
            "parameters_changed",
            "marker_moved",
            "model_changed",
            "account_changed",
            "ttl_expired",
            "gateway_rewrote",
            "provider_missed"
          ),
          "What happened; docs/inspector.md has the rules."
        ),
        path: field(Text, "The first place that differs.", "tools[3].description"),
        before: field(Text, "What was there.", '"Reads a file"'),
        after: field(Text, "What is there now.", '"Reads a file (2)"')
      }).annotations({ identifier: "InspectorCacheCause" })
    ),
    "Why the cache gave less than it should have; null: it did not."
  ),
  comparedWith: field(Text, "The earlier record it was compared with.", exampleId),
  expectedTokens: field(Schema.Number, "Tokens that an unbroken cache would have given.", 17_400),
  tokens,
  lostTokens: field(Schema.Number, "Tokens that were paid as new ones although they had been in the cache.", 17_400),
  lostUsd: field(Amount, "What that cost, in US dollars; null: unknown.", 0.047)
} as const

export const FindingView = Schema.Struct(findingFields).annotations({ identifier: "InspectorCacheFinding" })
export const BreakView = Schema.Struct({
  requestId: field(Schema.String, "The record whose cache broke.", exampleId),
  ...findingFields
}).annotations({ identifier: "InspectorCacheBreak" })
