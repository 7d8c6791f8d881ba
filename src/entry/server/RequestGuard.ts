/**
 * Checks every request and every upgrade before its route: requests of foreign sites are refused, and pages of other origins get the CORS
 * headers. One place for inference, management and sockets.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { type Match, routeAt } from "../../contract/Routes.ts"
import { isForThisMachine } from "../../contract/tiers/Tier.ts"
import { type Denied, notLocal } from "../../subjects/auth/Access.ts"
import type { RequestHeaders } from "../../subjects/auth/Credentials.ts"
import { asVisit } from "../../subjects/auth/ForeignSite.ts"
import { Gate } from "../../subjects/auth/Gate.ts"
import { isLoopback } from "../../subjects/auth/Loopback.ts"
import { peerAddressOf, peerOf } from "../../subjects/auth/PeerAddress.ts"
import { describe, type ErrorView, errorView, UnsupportedBody } from "../../contract/domain/Errors.ts"
import { errorHeaders } from "../../plane/request/Headers.ts"
import * as IdGen from "../../platform/IdGen.ts"
import * as Timers from "../../platform/Timers.ts"
import { Tunnels } from "../../net/tunnels/Tunnels.ts"
import { codecs } from "../../wire/Codec.ts"
import { codingProblem } from "../listening/ContentCodings.ts"
import { logRefusal } from "../edge/RefusalLog.ts"
import { refuseUpgrade } from "../ws/Upgrade.ts"

export class RequestGuard extends Context.Tag("gateway/entry/server/RequestGuard")<
  RequestGuard,
  {
    /** Decides whether the request may go on; when not, it was answered. */
    readonly admits: (found: Match, request: IncomingMessage, response: ServerResponse) => boolean
    /** `headers`: those of the request, as it is to be judged by them. */
    readonly admitsUpgrade: (request: IncomingMessage, socket: Duplex, headers?: RequestHeaders) => boolean
  }
>() {}

/** An error in the words of the route that was asked for; the management plane speaks as the chat wire does. */
const renderFor = (found: Match, view: ErrorView, requestId: string): string =>
  JSON.stringify(codecs[routeAt(found)?.wire ?? "chat"].renderError(view, requestId))

/** Time for which a page may cache the answer to a preflight request, in seconds. */
const preflightSeconds = "600"
const maxHeaderNames = 1024
const preflightVary = "Origin, Access-Control-Request-Headers, Access-Control-Request-Private-Network"

const viewOf = ({ code, message, status }: Denied): ErrorView => errorView(status, message, { code })

/**
 * Checks whether a request for this machine only comes from elsewhere. That comes before everything else about a
 * request: others learn nothing more.
 */
const isElsewhere = (found: Match, { headers, socket }: IncomingMessage): boolean => {
  if (found._tag !== "Found" || found.route.plane !== "management") return false
  return isForThisMachine(found.route.tier) && !isLoopback(peerAddressOf(socket), headers)
}

/** Providers and issuers send browsers to this page, which the state of a sign-in opens. */
const isSignInCallback = (found: Match): boolean =>
  found._tag === "Found" && (found.route.key === "oauth.callback" || found.route.key === "signIn.callback")

export const make = Effect.gen(function* () {
  const gate = yield* Gate
  const ids = yield* IdGen.IdGen
  const timers = yield* Timers.Timers
  const tunnels = yield* Tunnels
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())

  const deniedTo = (request: IncomingMessage, headers: RequestHeaders = request.headers): Denied | null =>
    gate.admit(headers, peerOf(request.socket, tunnels))

  const refuse = (found: Match, request: IncomingMessage, response: ServerResponse, view: ErrorView): void => {
    const requestId = ids.next(timers.nowMs())
    const url = request.url ?? "/"
    runFork(logRefusal({ requestId, method: request.method ?? "", url, status: view.status, reason: view.message }))
    const body = renderFor(found, view, requestId)
    response.writeHead(view.status, errorHeaders(requestId, view, Buffer.byteLength(body)))
    response.end(body)
  }

  /** Allows the page to read the answer; true when this was its question before the request, and is answered. */
  const toldPage = (request: IncomingMessage, response: ServerResponse, origin: string): boolean => {
    response.setHeader("Access-Control-Allow-Origin", origin)
    // Credentials of the browser are never allowed, so that this means every header: ids, limits and costs, an upstream's own too.
    response.setHeader("Access-Control-Expose-Headers", "*")
    if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) return false
    const wanted = request.headers["access-control-request-headers"] ?? ""
    response.setHeader("Vary", preflightVary)
    response.setHeader("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
    if (wanted !== "" && wanted.length <= maxHeaderNames) response.setHeader("Access-Control-Allow-Headers", wanted)
    // A page of the internet asks before it calls a machine of the local network: https://wicg.github.io/private-network-access/
    if (request.headers["access-control-request-private-network"] === "true") {
      response.setHeader("Access-Control-Allow-Private-Network", "true")
    }
    response.setHeader("Access-Control-Max-Age", preflightSeconds)
    response.writeHead(204).end()
    return true
  }

  return RequestGuard.of({
    admits: (found, request, response) => {
      // A cache must not give one origin what was meant for another, or for none.
      if (gate.namesOrigins()) response.setHeader("Vary", "Origin")
      const denied = isElsewhere(found, request)
        ? notLocal
        : deniedTo(request, isSignInCallback(found) ? asVisit(request.headers) : request.headers)
      if (denied !== null) {
        refuse(found, request, response, viewOf(denied))
        return false
      }
      const unknown = codingProblem(request)
      if (unknown !== null) {
        refuse(found, request, response, describe(new UnsupportedBody({ message: unknown })))
        return false
      }
      // Hot: clients that are no browsers end here.
      if (request.headers.origin === undefined) return true
      const origin = gate.namedOrigin(request.headers)
      return origin === null || !toldPage(request, response, origin)
    },
    admitsUpgrade: (request, socket, headers) => {
      const denied = deniedTo(request, headers)
      if (denied === null) return true
      refuseUpgrade(socket, viewOf(denied), ids.next(timers.nowMs()))
      return false
    }
  })
})

export const layer: Layer.Layer<RequestGuard, never, Gate | IdGen.IdGen | Timers.Timers | Tunnels> = Layer.effect(
  RequestGuard,
  make
)
