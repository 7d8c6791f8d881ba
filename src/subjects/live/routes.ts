/** The live feed: this describes it; the feed itself is a WebSocket at the same path. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { exampleKeyId, exampleRequestId, exampleTime } from "../../contract/Examples.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"

export const LiveView = Schema.Struct({
  path: field(Schema.String, "Where a WebSocket is opened.", "/api/live"),
  port: field(Schema.NullOr(Schema.Number), "The port of its own that the feed has too; null: none.", 20129),
  channels: field(Schema.Array(Schema.String), "What can be listened to.", ["requests", "health"]),
  clients: field(Schema.Number, "How many listen now.", 1),
  maxClients: field(Schema.Number, "How many may listen at once.", 64)
}).annotations({ identifier: "LiveFeed" })

export const RunningView = Schema.Struct({
  requestId: field(Schema.String, "The answer's `X-Gateway-Request-Id`.", exampleRequestId),
  startedAt: field(Schema.String, "When the request arrived, ISO 8601.", exampleTime),
  apiKeyId: field(Schema.NullOr(Schema.String), "Who asked; null: a caller without a key.", exampleKeyId),
  requestedModel: field(Schema.String, "The model id of the request.", "auto"),
  candidates: field(Schema.Number, "How many targets it was decided among.", 2),
  target: field(
    Schema.NullOr(Schema.String),
    "`provider/model` that is being called; null: no call is under way.",
    "openai/gpt-4o-mini"
  ),
  state: field(
    Schema.Literal("waiting", "calling", "streaming"),
    "`waiting`: for a place, a token or a target; `calling`: nothing of the answer is there; `streaming`: the client gets it.",
    "streaming"
  ),
  tokensOut: field(Schema.Number, "Tokens of the answer so far; an estimate until the provider counts.", 87)
}).annotations({ identifier: "RunningRequest" })
export type RunningView = typeof RunningView.Type

export const Running = Schema.Struct({
  count: field(Schema.Number, "How many are under way.", 1),
  requests: field(Schema.Array(RunningView), "The oldest first, at most 1,000.")
}).annotations({ identifier: "RunningRequests" })

const at = endpointsOf("live")

export class Live extends HttpApiGroup.make("live")
  .annotate(OpenApi.Title, "Live feed")
  .annotate(OpenApi.Description, "Events as they happen, over WebSocket.")
  .add(
    at("describe", {
      summary: "Describe the live feed",
      description:
        "Opened as a WebSocket with the same credential, it sends a frame of JSON for each event; docs/live-feed.md has them all."
    }).addSuccess(LiveView)
  )
  .add(
    at("running", {
      summary: "List the requests under way",
      description:
        "Requests of all callers from their decision to their end: how old each is, who asked, and what it waits for. `GET /api/routing/decisions/{requestId}` has the decision of each."
    }).addSuccess(Running)
  ) {}
