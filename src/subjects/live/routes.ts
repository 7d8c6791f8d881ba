/** The live feed: this describes it; the feed itself is a WebSocket at the same path. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"

export const LiveView = Schema.Struct({
  path: field(Schema.String, "Where a WebSocket is opened.", "/api/live"),
  port: field(Schema.NullOr(Schema.Number), "The port of its own that the feed has too; null: none.", 20129),
  channels: field(Schema.Array(Schema.String), "What can be listened to.", ["requests", "health"]),
  clients: field(Schema.Number, "How many listen now.", 1),
  maxClients: field(Schema.Number, "How many may listen at once.", 64)
}).annotations({ identifier: "LiveFeed" })

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
  ) {}
