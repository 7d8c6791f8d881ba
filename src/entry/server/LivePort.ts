/**
 * A port of its own for the live feed, for dashboards that expect one (flag `GATEWAY_ENABLE_LIVE_WS`). By default it is opened only where the
 * gateway itself has its usual port, so that several gateways on one machine do not ask for the same. If it cannot be opened the gateway goes
 * on: the feed is on the main port too.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { Duplex } from "node:stream"
import { headerOf, type RequestHeaders } from "../../subjects/auth/Credentials.ts"
import { Flags } from "../../subjects/flags/service.ts"
import { AppConfig, defaultPort } from "../../platform/AppConfig.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Timers } from "../../platform/Timers.ts"
import { RequestGuard } from "./RequestGuard.ts"
import { HttpServer } from "./Server.ts"
import { transportError } from "../ws/ServerFrames.ts"
import { refuseUpgrade } from "../ws/Upgrade.ts"
import { LiveFeed, path } from "../live/LiveFeed.ts"

export const usualPort = 20129

const listen = (server: Server, host: string, port: number): Effect.Effect<number, NodeJS.ErrnoException> =>
  Effect.async((resume) => {
    const onError = (error: NodeJS.ErrnoException): void => resume(Effect.fail(error))
    server.once("error", onError)
    server.listen({ port, host }, () => {
      server.off("error", onError)
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

/**
 * A page that came from the gateway's main port is its own page here: it counts as if it had asked there. The browser's word about the site is
 * left out then, because it says "another origin".
 */
export const headersAtMain = (headers: RequestHeaders, mainPort: number): RequestHeaders => {
  const origin = headerOf(headers, "origin")
  const host = headerOf(headers, "host")
  if (origin === null || host === null) return headers
  const atMain = `${host.replace(/:\d+$/, "")}:${mainPort}`
  if (origin.toLowerCase() !== `http://${atMain}`.toLowerCase()) return headers
  const { "sec-fetch-site": _, ...others } = headers
  return { ...others, host: atMain }
}

const paths = new Set(["/", "/live", path])

const noFeed = transportError(
  404,
  "not_found",
  "The live feed is at /live. Everything else is at the gateway's main port."
)

const text = `{"error":{"message":"This port serves the live feed over WebSocket, at /live. Everything else is at the gateway's main port.","type":"invalid_request_error","code":"upgrade_required"}}`

export const make = Effect.gen(function* () {
  const { host, livePort, port } = yield* AppConfig
  const flags = yield* Flags
  const feed = yield* LiveFeed
  const ids = yield* IdGen
  const timers = yield* Timers
  const requestGuard = yield* RequestGuard
  const main = yield* HttpServer
  const wanted = livePort ?? (port === defaultPort ? usualPort : null)
  if (wanted === null || !flags.isOn("GATEWAY_ENABLE_LIVE_WS")) return

  const server = createServer((_request, response) => {
    response.writeHead(426, {
      "content-type": "application/json",
      "x-content-type-options": "nosniff",
      upgrade: "websocket",
      connection: "close"
    })
    response.end(text)
  })
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const [asked = ""] = (request.url ?? "/").split("?", 1)
    const headers = headersAtMain(request.headers, main.port)
    if (!paths.has(asked)) return refuseUpgrade(socket, noFeed, ids.next(timers.nowMs()))
    if (requestGuard.admitsUpgrade(request, socket, headers)) feed.upgrade(request, socket, head, headers)
  })

  const opened = Effect.map(listen(server, host, wanted), (found) => {
    feed.listensAt(found)
    return found
  })
  yield* Effect.acquireRelease(opened, () =>
    Effect.sync(() => {
      feed.listensAt(null)
      server.close()
      server.closeAllConnections()
    })
  ).pipe(
    Effect.tap((found) => Effect.logInfo(`The live feed listens on port ${found} too.`)),
    Effect.catchAll((error) =>
      Effect.logWarning(
        `The live feed cannot listen on port ${wanted} (${error.code ?? error.message}); it is at ${path} of the main port. GATEWAY_LIVE_PORT chooses another port, GATEWAY_ENABLE_LIVE_WS=false none.`
      )
    )
  )
})

export const layer: Layer.Layer<
  never,
  never,
  AppConfig | Flags | RequestGuard | HttpServer | IdGen | LiveFeed | Timers
> = Layer.scopedDiscard(make)
