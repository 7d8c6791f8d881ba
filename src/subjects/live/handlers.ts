/** `GET /api/live` without an upgrade, and the requests under way. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Live, type RunningView } from "./routes.ts"
import { channels } from "../../entry/live/Channels.ts"
import { LiveFeed, maxClients, path } from "../../entry/live/LiveFeed.ts"
import { type RunningRequest, RunningRequests } from "../../plane/request/RunningRequests.ts"

/** Most requests of an answer. */
const mostRunning = 1_000

const viewOf = ({ requestId, startedMs, ...request }: RunningRequest): RunningView => ({
  requestId,
  startedAt: new Date(startedMs).toISOString(),
  ...request
})

export const layer = HttpApiBuilder.group(contractOf(Live), "live", (handlers) =>
  Effect.gen(function* () {
    const feed = yield* LiveFeed
    const running = yield* RunningRequests
    return handlers
      .handle("describe", () =>
        Effect.sync(() => ({ path, port: feed.ownPort(), channels, clients: feed.clients(), maxClients }))
      )
      .handle("running", () =>
        Effect.map(running.everywhere(mostRunning), (requests) => ({
          count: running.count(),
          requests: requests.map(viewOf)
        }))
      )
  })
)
