/** `GET /api/live` without an upgrade. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Live } from "./routes.ts"
import { channels } from "../../entry/live/Channels.ts"
import { LiveFeed, maxClients, path } from "../../entry/live/LiveFeed.ts"

export const layer = HttpApiBuilder.group(contractOf(Live), "live", (handlers) =>
  Effect.map(LiveFeed, (feed) =>
    handlers.handle("describe", () =>
      Effect.sync(() => ({ path, port: feed.ownPort(), channels, clients: feed.clients(), maxClients }))
    )
  )
)
