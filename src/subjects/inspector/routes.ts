/** The traffic inspector (docs/inspector.md). All of it answers direct connections from the gateway's own machine only. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { CaptureSource } from "../../contract/domain/TrafficRecord.ts"
import { exactOptional, field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import {
  BadRequestAnswer,
  ConflictAnswer,
  NotFoundAnswer,
  TooLargeAnswer,
  UnavailableAnswer,
  UnprocessableAnswer,
  UpstreamFailedAnswer
} from "../../contract/Errors.ts"
import { exampleId, exampleTime } from "../../contract/Examples.ts"
import { body, Created, HeaderMap, IsoTimeOrDay, Name, NoContent, optional } from "../../contract/Inputs.ts"
import {
  AttemptView,
  BreakView,
  ChangeView,
  ContextView,
  FindingView,
  ItemView,
  RecordView,
  SectionView,
  SessionView,
  TurnView
} from "../../contract/traffic/InspectorRecords.ts"
import { Body, IngestRecord, Note, Word } from "../../contract/traffic/InspectorIngest.ts"
import { PresetBody } from "../playground/routes.ts"

const Model = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(256))
const Limit = Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, 1000)).annotations({
  jsonSchema: { type: "integer", minimum: 1, maximum: 1000 }
})

const Pid = Schema.NumberFromString.pipe(Schema.int(), Schema.between(0, 4_294_967_295)).annotations({
  jsonSchema: { type: "integer", minimum: 0, maximum: 4_294_967_295 }
})

const filterFields = {
  profile: field(
    exactOptional(Schema.Literal("llm", "custom", "all")),
    "Requests to models, of hosts that were added, or all; absent: all.",
    "llm"
  ),
  host: field(exactOptional(Word), "A part of the host's name.", "anthropic"),
  agent: field(exactOptional(Word), "The agent whose traffic it is.", "claude-code"),
  status: field(
    exactOptional(Schema.Literal("2xx", "3xx", "4xx", "5xx", "error", "in-flight")),
    "The class of the HTTP status, or how it stands.",
    "5xx"
  ),
  source: field(exactOptional(CaptureSource), "Where it was captured.", "gateway"),
  sessionId: field(exactOptional(Word), "The recorded session.", exampleId),
  process: field(exactOptional(Word), "A part of the name of the process that asked.", "node"),
  pid: field(exactOptional(Pid), "The id of the process that asked.", 4_711),
  contextKey: field(exactOptional(Word), "The hash of the system prompt, as records have it.", "5f2a9c01b7de"),
  model: field(exactOptional(Word), "A part of the model's name.", "sonnet"),
  retryOf: field(exactOptional(Word), "A record: it and the attempts that are counted together with it.", exampleId),
  q: field(exactOptional(Word), "A text in address, headers, notes or bodies, in any letter case.", "timeout")
} as const

export const RecordFilterQuery = Schema.Struct(filterFields)
export const RecordsQuery = Schema.Struct({
  ...filterFields,
  limit: field(exactOptional(Limit), "How many records to answer at most; absent: 1000.", 100),
  retries: field(
    exactOptional(Schema.Literal("each", "together")),
    "`together`: attempts of one prompt are one line, for which the newest of them stands; absent: each is a line.",
    "together"
  ),
  groupBy: field(
    exactOptional(Schema.Literal("contextKey")),
    "Also answer `groups`: all that match, by their system prompt.",
    "contextKey"
  ),
  cursor: field(exactOptional(Word), "The `nextCursor` of the page before this one; absent: the first page.", "2s")
})

const SecretsQuery = Schema.Struct({
  showSecrets: field(
    exactOptional(Schema.BooleanFromString),
    "Show headers as they are kept; what was masked before it was kept stays masked.",
    false
  )
})
const CodeQuery = Schema.Struct({
  format: field(Schema.Literal("curl", "python", "typescript"), "The language.", "curl")
})
const BreaksQuery = Schema.Struct({
  since: field(
    exactOptional(IsoTimeOrDay),
    "Breaks of requests that began then or later, ISO 8601; absent: all.",
    exampleTime
  ),
  limit: field(exactOptional(Limit), "How many breaks to answer at most; absent: 100.", 100)
})

const Annotation = Schema.Struct({
  annotation: field(Schema.NullOr(Note), "The note; null or empty removes it.", "The first request after the upgrade.")
}).annotations(body("InspectorAnnotation"))

export const ReplayRequest = Schema.Struct({
  body: field(
    optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
    "The body to send, in the wire of the record; absent: the recorded one.",
    { model: "auto", messages: [{ role: "user", content: "Hello" }] }
  ),
  model: field(optional(Model), "The model to ask; absent: the recorded one.", "auto"),
  headers: field(
    optional(HeaderMap),
    "Headers beside and in place of the recorded ones. Credentials among them are left out.",
    {}
  )
}).annotations(body("InspectorReplay"))
export const DirectReplayRequest = Schema.Struct({
  body: field(optional(Body), "The body to send, as text; absent: the recorded one.", '{"model":"gpt-4o-mini"}'),
  model: field(optional(Model), "The model to ask, in the body or the path; absent: the recorded one.", "gpt-4o-mini"),
  path: field(
    optional(Schema.String.pipe(Schema.pattern(/^\/[!-"$-~]*$/), Schema.maxLength(8_192))),
    "The path with its query; absent: the recorded one.",
    "/v1/chat/completions"
  ),
  headers: field(
    optional(HeaderMap),
    "Headers in place of the recorded ones, credentials too; an empty value leaves a header out.",
    {}
  ),
  connectionId: field(
    optional(Word),
    "Whose credential to send; absent: that of a connection with this address, where one is missing.",
    exampleId
  )
}).annotations(body("InspectorDirectReplay"))
export const DirectReplayChanges = Schema.NullOr(DirectReplayRequest)

export const DirectReplayed = Schema.Struct({
  record: field(RecordView, "What was sent and what came back, masked; it is in the list as well."),
  connectionId: field(Schema.NullOr(Schema.String), "The connection whose credential was sent; null: none was.", null),
  diff: field(
    Schema.Struct({
      equal: field(Schema.Boolean, "The answers say the same."),
      comparedAs: field(
        Schema.Literal("turns", "json", "text"),
        "How the bodies were read: as turns of a model's answer, as JSON, or as lines."
      ),
      changes: field(Schema.Array(ChangeView), "What differs in status, headers and body, at most 500 changes."),
      omitted: field(Schema.Number, "Changes that are not in the list.", 0)
    }),
    "What differs between the answer that was recorded and this one."
  )
}).annotations({ identifier: "InspectorDirectReplayed" })

export const ReplayChanges = Schema.NullOr(ReplayRequest)

const StartSession = Schema.Struct({
  name: field(optional(Name), "Its name.", "before the upgrade")
}).annotations(body("StartInspectorSession"))
const ChangeSession = Schema.Struct({
  action: field(Schema.Literal("stop", "rename"), "What to do."),
  name: field(optional(Name), "The new name; with `rename`.", "after the upgrade")
}).annotations(body("ChangeInspectorSession"))
const Toggle = Schema.Struct({ enabled: field(Schema.Boolean, "On or off.", true) }).annotations(
  body("InspectorGatewayMode")
)

const Size = Schema.NonNegativeInt

/** Archive, for the document: archives are read as they come, by a reader of their own. */
const Archive = Schema.Struct({
  log: field(Schema.Record({ key: Schema.String, value: Schema.Unknown }), "The archive, HAR 1.2.", {
    version: "1.2",
    creator: { name: "gateway", version: "1" },
    entries: []
  })
}).annotations(body("InspectorArchive"))

const file = (contentType: string, description: string, beginning: string) =>
  HttpApiSchema.Text({ contentType }).annotations({ description, examples: [beginning] })

const Session = Schema.Struct({ session: field(SessionView, "The session.") }).annotations({
  identifier: "InspectorSessionAnswer"
})

const Switch = Schema.Struct({ enabled: field(Schema.Boolean, "Whether it is on.") })
const OwnTraffic = Schema.Struct({
  ...Switch.fields,
  recorded: field(Size, "Exchanges of all sources that were recorded since the start.", 120_000),
  bodiesLost: field(
    Size,
    "Those of which a body could not be kept, because more came than can be worked on; their records say `bodyEvicted`.",
    0
  ),
  behindMs: field(Size, "Milliseconds since the oldest change that was captured and is not in the list yet.", 0),
  waiting: field(Size, "Exchanges with changes that are not in the list yet.", 0)
})
const MaybePort = field(Schema.NullOr(Schema.Number), "Its port; null: it does not listen.", null)

const CaptureModes = Schema.Struct({
  agentBridge: field(Schema.Boolean, "The agent bridge can be used."),
  customHosts: field(
    Schema.Struct({
      count: field(Schema.Number, "Hosts that were added.", 0),
      enabledCount: field(Schema.Number, "Those of them that are captured.", 0)
    }),
    "Hosts that were added."
  ),
  httpProxy: field(
    Schema.Struct({ running: field(Schema.Boolean, "Whether it runs."), port: MaybePort }),
    "The explicit proxy."
  ),
  systemProxy: field(
    Schema.Struct({
      applied: field(Schema.Boolean, "Whether the desktop's proxy setting is ours."),
      guardUntil: field(Schema.NullOr(Schema.String), "When it is taken back by itself, ISO 8601.", null),
      port: MaybePort,
      platform: field(Schema.String, "The operating system.", "linux"),
      supported: field(Schema.Boolean, "Whether the setting can be changed on this desktop.")
    }),
    "The desktop's proxy setting."
  ),
  tlsIntercept: field(Switch, "Decrypting of what goes through the explicit proxy."),
  gateway: field(OwnTraffic, "Recording of the gateway's own traffic."),
  tproxy: field(
    Schema.Struct({
      running: field(Schema.Boolean, "Whether it runs."),
      available: field(Schema.Boolean, "Whether it can run here.")
    }),
    "The transparent mode."
  ),
  mitm: field(
    Schema.Struct({ running: field(Schema.Boolean, "Whether it runs."), port: MaybePort }),
    "The decrypting listener."
  )
}).annotations({ identifier: "CaptureModes" })

const at = endpointsOf("inspector", {
  id: ["Id of the record or session.", exampleId],
  other: ["Id of the record to compare with.", exampleId]
})

export class Inspector extends HttpApiGroup.make("inspector")
  .annotate(OpenApi.Title, "Traffic inspector")
  .annotate(
    OpenApi.Description,
    "What programs sent to models and others, what came back, what it cost, and who broke the prompt cache."
  )
  .add(
    at("list", { summary: "List captured requests", description: "Newest first, without headers and bodies." })
      .setUrlParams(RecordsQuery)
      .addSuccess(
        Schema.Struct({
          requests: field(Schema.Array(ItemView), "The records of the page."),
          total: field(Schema.Number, "How many match, whatever the page.", 1),
          nextCursor: field(
            Schema.NullOr(Schema.String),
            "The `cursor` of the next page; null on the last page.",
            null
          ),
          groups: field(
            Schema.optionalWith(Schema.Array(ContextView), { exact: true }),
            "With `groupBy`: requests by their system prompt, that of the newest first."
          )
        }).annotations({ identifier: "InspectorList" })
      )
  )
  .add(
    at("clear", { summary: "Forget all captured requests", description: "Recorded sessions stay." }).addSuccess(
      NoContent
    )
  )
  .add(
    at("get", { summary: "Show a captured request", description: "With headers and bodies; secrets are masked." })
      .setUrlParams(SecretsQuery)
      .addSuccess(RecordView)
      .addError(NotFoundAnswer)
  )
  .add(
    at("annotate", {
      summary: "Write a note to a request",
      description: "Up to 10,000 characters; the feed tells of it."
    })
      .setPayload(Annotation)
      .addSuccess(RecordView)
      .addError(NotFoundAnswer)
  )
  .add(
    at("replay", {
      summary: "Ask a captured request again",
      description:
        "As an ordinary request of who asks, with their limits and a usage row. The answer, a stream or a refusal too, is what the inference route of the record's wire answers; the recorded credential is never used.",
      example: { model: "auto" }
    })
      .setPayload(ReplayChanges)
      .addSuccess(
        Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
          identifier: "InspectorReplayed",
          description: "An answer of the record's wire.",
          examples: [{ object: "chat.completion", choices: [] }]
        })
      )
      .addSuccess(
        file("text/event-stream", "The events of the record's wire.", 'data: {"object":"chat.completion.chunk"}')
      )
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(UnprocessableAnswer)
      .addError(UpstreamFailedAnswer)
  )
  .add(
    at("replayDirect", {
      summary: "Send a captured request to its own server again",
      description:
        "As it is kept, or changed, without the router; the answer is recorded and compared with the first one. A masked credential is given in `headers`, or taken from a connection with the address of the request. Addresses are held to the rules for outbound calls; redirects are not followed.",
      example: { headers: { "x-api-key": "sk-new" } }
    })
      .setPayload(DirectReplayChanges)
      .addSuccess(DirectReplayed)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(UnprocessableAnswer)
      .addError(UpstreamFailedAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("conversation", {
      summary: "Show a request as a conversation",
      description: "Both sides as turns, streams merged. `rawEvents`: the answer's events where the format is unknown."
    })
      .addSuccess(
        Schema.Struct({
          request: field(Schema.Array(TurnView), "What was sent."),
          response: field(Schema.Array(TurnView), "What came back."),
          contextKey: field(Schema.NullOr(Schema.String), "Hash of the system prompt.", "5f2a9c01b7de"),
          error: field(
            Schema.optionalWith(Schema.String, { exact: true }),
            "Why there is no answer, as the provider says it.",
            "The model is overloaded."
          ),
          rawEvents: field(
            Schema.optionalWith(Schema.Array(Schema.Unknown), { exact: true }),
            "The events as they came.",
            [{ event: "unknown" }]
          ),
          attempts: field(
            Schema.optionalWith(Schema.Array(AttemptView), { exact: true }),
            "The attempts of this prompt, oldest first, the last 100 of them; absent where it is the only one."
          )
        }).annotations({ identifier: "InspectorConversation" })
      )
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("anatomy", {
      summary: "Show what fills the context window",
      description: "Tools, system prompt, messages and parameters, in the order in which providers cache them."
    })
      .addSuccess(
        Schema.Struct({
          sections: field(Schema.Array(SectionView), "The parts of the request."),
          totalTokens: field(Schema.Number, "Tokens of all of them.", 18_200),
          tokensEstimated: field(Schema.Literal(true), "Always true.")
        }).annotations({ identifier: "InspectorAnatomy" })
      )
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("diff", {
      summary: "Compare two requests",
      description: "What differs between their bodies, at most 500 changes, and how far their prompts are the same."
    })
      .addSuccess(
        Schema.Struct({
          equal: field(Schema.Boolean, "Whether they are the same."),
          changes: field(Schema.Array(ChangeView), "What makes the second of the first."),
          omitted: field(Schema.Number, "Changes beyond those.", 0),
          commonPrefix: field(
            Schema.Struct({
              bytes: field(Schema.Number, "Bytes of it.", 61_200),
              tokens: field(Schema.Number, "Tokens of it, estimated.", 15_300),
              firstDifference: field(Schema.NullOr(Schema.String), "The first place that differs.", "messages[7]")
            }),
            "The part of the prompt that a cache can serve for both."
          )
        }).annotations({ identifier: "InspectorDiff" })
      )
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("cache", {
      summary: "Judge the prompt cache of a request",
      description: "Whether it held, and if not, who broke it, where, and what it cost."
    })
      .addSuccess(
        Schema.Struct({ cache: field(FindingView, "What was found.") }).annotations({ identifier: "InspectorCache" })
      )
      .addError(NotFoundAnswer)
  )
  .add(
    at("cacheBreaks", {
      summary: "List broken prompt caches",
      description: "Newest first, with what they cost together."
    })
      .setUrlParams(BreaksQuery)
      .addSuccess(
        Schema.Struct({
          breaks: field(Schema.Array(BreakView), "The breaks."),
          lostTokens: field(Schema.Number, "Lost by all breaks since then.", 17_400),
          lostUsd: field(Schema.Number, "What that cost, as far as prices are known.", 0.047)
        }).annotations({ identifier: "InspectorCacheBreaks" })
      )
  )
  .add(
    at("code", {
      summary: "Export a request as a program",
      description: "The credential is always `$GATEWAY_API_KEY`."
    })
      .setUrlParams(CodeQuery)
      .addSuccess(file("text/plain", "The program.", "curl -X POST 'https://api.openai.com/v1/chat/completions'"))
      .addError(NotFoundAnswer)
  )
  .add(
    at("preset", {
      summary: "Make a preset of a request",
      description:
        "The body of a preset for the playground: endpoint, model, system prompt and parameters of the request. Nothing is saved; send it to `POST /api/playground/presets` for that."
    })
      .addSuccess(PresetBody)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("har", { summary: "Export requests as HAR", description: "HTTP Archive 1.2, oldest first, masked." })
      .setUrlParams(RecordFilterQuery)
      .addSuccess(file("application/har+json", "The archive.", '{"log":{"version":"1.2"}}'))
  )
  .add(
    at("jsonl", { summary: "Export requests as JSON lines", description: "One record a line, oldest first, masked." })
      .setUrlParams(RecordFilterQuery)
      .addSuccess(file("application/jsonl", "The records.", '{"id":"r1"}'))
  )
  .add(
    at("modes", {
      summary: "Show what captures",
      description: "All ways of capturing, and which of them are on."
    }).addSuccess(CaptureModes)
  )
  .add(
    at("gateway", {
      summary: "Record the gateway's own traffic",
      description:
        "What clients send to the inference routes, and what they are answered. The switch is stored; it is off at first."
    })
      .setPayload(Toggle)
      .addSuccess(
        Schema.Struct({
          ok: field(Schema.Literal(true), "Always true."),
          gateway: field(Switch, "The new state.")
        }).annotations({ identifier: "GatewayModeAnswer" })
      )
      .addError(UnavailableAnswer)
  )
  .add(
    at("sessions", { summary: "List recorded sessions", description: "Newest first." })
      .addSuccess(
        Schema.Struct({ sessions: field(Schema.Array(SessionView), "The sessions.") }).annotations({
          identifier: "InspectorSessions"
        })
      )
      .addError(UnavailableAnswer)
  )
  .add(
    at("startSession", {
      summary: "Start recording a session",
      description: "One records at a time; else 409 `recording`."
    })
      .setPayload(StartSession)
      .addSuccess(Created(Session))
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("importSession", {
      summary: "Import an archive as a session",
      description: "The body is a HAR file of any program, 100 MB at most. Secrets in it are masked.",
      example: { log: { version: "1.2", creator: { name: "browser", version: "1" }, entries: [] } }
    })
      .setPayload(Archive)
      .addSuccess(Created(Session))
      .addError(BadRequestAnswer)
      .addError(TooLargeAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("session", { summary: "Show a recorded session", description: "With its records, oldest first, as they were." })
      .addSuccess(
        Schema.Struct({
          session: field(SessionView, "The session."),
          requests: field(Schema.Array(RecordView), "Its records.")
        }).annotations({ identifier: "InspectorSessionDetail" })
      )
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("changeSession", {
      summary: "Stop or rename a session",
      description: "What is stopped is saved.",
      example: { action: "stop" }
    })
      .setPayload(ChangeSession)
      .addSuccess(Session)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("removeSession", { summary: "Remove a session", description: "With its records; one that records ends." })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("sessionHar", { summary: "Export a session as HAR", description: "HTTP Archive 1.2, masked." })
      .addSuccess(file("application/har+json", "The archive.", '{"log":{"version":"1.2"}}'))
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("sessionJsonl", { summary: "Export a session as JSON lines", description: "One record a line, masked." })
      .addSuccess(file("application/jsonl", "The records.", '{"id":"r1"}'))
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("ingest", {
      summary: "Hand in a captured request",
      description: "For what captures outside of the gateway's process. A second call with the id updates the record."
    })
      .setPayload(IngestRecord)
      .addSuccess(
        Schema.Struct({
          ok: field(Schema.Literal(true), "Always true."),
          id: field(Schema.String, "Id of the record.", exampleId)
        }).annotations({ identifier: "InspectorIngested" })
      )
  )
  .add(
    at("feed", {
      summary: "Describe the feed",
      description:
        "Opened as a WebSocket, it sends frames `{type, data, seq}`: first `snapshot` (items, newest first), then `new`, `update` and `clear`; `behind` (`behindMs`, `waiting`) while the recording is behind, and once when it no longer is."
    }).addSuccess(
      Schema.Struct({
        path: field(Schema.String, "Where a WebSocket is opened.", "/api/tools/traffic-inspector/ws"),
        clients: field(Schema.Number, "How many watch now.", 1),
        maxClients: field(Schema.Number, "How many may watch at once.", 64)
      }).annotations({ identifier: "InspectorFeed" })
    )
  ) {}
