/**
 * Decides whether an upgrade may become a socket, from the facts of the request; a refusal is an ordinary HTTP answer,
 * because clients go on over HTTP by its status (426) or show its text.
 */
import type { Duplex } from "node:stream"
import { type IncomingMessage, STATUS_CODES } from "node:http"
import type { WebSocket, WebSocketServer } from "ws"
import { match, routeAt } from "../../contract/Routes.ts"
import type { Access } from "../../subjects/auth/Access.ts"
import type { RequestHeaders } from "../../subjects/auth/Credentials.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { type ErrorView, typeAndCode } from "../../contract/domain/Errors.ts"
import { identityHeaders } from "../../plane/request/Headers.ts"
import { codecs } from "../../wire/Codec.ts"
import { transportError } from "./ServerFrames.ts"

export interface UpgradeFacts {
  readonly method: string
  /** The request target with its query. */
  readonly url: string
  readonly headers: RequestHeaders
  /** The flag `GATEWAY_UPSTREAM_WS_ENABLED`. */
  readonly enabled: boolean
  /** The gateway is stopping, or has as many sockets as it may. */
  readonly full: boolean
  /** Decides the access; called only when everything else is right. */
  readonly access: () => Access
}

/** The path of the route that becomes a socket and who opens it, or why not. */
export type UpgradeVerdict = { readonly path: string; readonly principal: Principal } | ErrorView

const noRoute = transportError(404, "not_found", "There is no WebSocket at this path. Use /v1/responses.")
const wrongMethod = transportError(405, null, "A WebSocket is opened with GET.")
const disabled = transportError(
  426,
  "upstream_ws_disabled",
  "Responses over WebSocket are off (GATEWAY_UPSTREAM_WS_ENABLED). Use HTTP."
)
export const full = transportError(
  503,
  null,
  "The gateway takes no further WebSocket connection now. Use HTTP, or try again."
)

/** Returns the caller, or the refusal as inference over HTTP has it. */
export const principalOf = (access: Access): Principal | ErrorView => {
  if (access._tag === "Allowed") return access.principal
  const { code, message, status } = access
  const isUnknown = status === 401 && !code.startsWith("key_")
  return transportError(status, isUnknown ? typeAndCode(401)[1] : code, message)
}

/** The owner of the socket, or the answer that refuses it. The key is checked last, so that a path without sockets reveals nothing about keys. */
export const judgeUpgrade = (facts: UpgradeFacts): UpgradeVerdict => {
  const route = routeAt(match(facts.method, facts.url))
  if (route?.key !== "inference.responses") return noRoute
  if (facts.method !== "GET") return wrongMethod
  if (!facts.enabled) return disabled
  if (facts.full) return full
  const principal = principalOf(facts.access())
  return "_tag" in principal ? { path: route.path, principal } : principal
}

/** Answers an upgrade over plain HTTP and closes the connection. */
export const refuseUpgrade = (socket: Duplex, view: ErrorView, requestId: string): void => {
  const body = JSON.stringify(codecs.responses.renderError(view, requestId))
  const headers = identityHeaders(requestId)
  headers.push("Connection", "close", "Content-Type", "application/json")
  headers.push("Content-Length", String(Buffer.byteLength(body)))
  if (view.status === 426) headers.push("Upgrade", "websocket")
  let head = `HTTP/1.1 ${view.status} ${STATUS_CODES[view.status] ?? ""}\r\n`
  for (let at = 0; at + 1 < headers.length; at += 2) head += `${headers[at] ?? ""}: ${headers[at + 1] ?? ""}\r\n`
  socket.on("error", () => socket.destroy())
  socket.once("finish", () => socket.destroy())
  socket.end(`${head}\r\n${body}`)
}

export interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

/** Makes a WebSocket of an upgrade, answered with the headers that name the gateway and the request. */
export const acceptUpgrade = (
  server: WebSocketServer,
  { head, request, socket }: UpgradeRequest,
  requestId: string,
  opened: (socket: WebSocket) => void
): void => {
  const onHeaders = (sent: Array<string>): void => {
    const headers = identityHeaders(requestId)
    for (let at = 0; at + 1 < headers.length; at += 2) sent.push(`${headers[at] ?? ""}: ${headers[at + 1] ?? ""}`)
  }
  // `handleUpgrade` answers before it returns: the listener is for this upgrade alone.
  server.once("headers", onHeaders)
  server.handleUpgrade(request, socket, head, opened)
  server.off("headers", onHeaders)
}

/** Headers that belong to the connection, or name one request: they do not speak for every request of a socket. */
const ofTheUpgrade =
  /^(?:connection|upgrade|origin|content-.*|transfer-encoding|sec-websocket-.*|idempotency-key|x-request-id|x-gateway-progress)$/

/** Selects the headers of the upgrade that hold for every request on the socket. */
export const lastingHeaders = (headers: RequestHeaders): RequestHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofTheUpgrade.test(name)))
