/** Connects the listener that decrypts with the agent bridge: answers the requests whose model is mapped, and hands on all others. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Bridge } from "../../agents/bridge/Bridge.ts"
import type { BodyBudget } from "../../plane/resilience/BodyBudget.ts"
import { NodeReply } from "../listening/NodeReply.ts"
import type { OpenStreams } from "../listening/OpenStreams.ts"
import { decodeBody } from "./DecodedBody.ts"
import { peekBody } from "./PeekedBody.ts"

/** Facts about the connection that a request came over. */
export interface InterceptedConnection {
  readonly scheme: "http" | "https"
  /** Server name of the TLS handshake; null without one. */
  readonly serverName: string | null
}

/**
 * False: the request is none of the bridge's, and nothing was done with it. True: it is answered here, or `passOn` is called later, when its body
 * shows that it goes on; it can then be read as if it had never been looked at.
 */
export type Intercept = (
  request: IncomingMessage,
  response: ServerResponse,
  connection: InterceptedConnection,
  passOn: () => void
) => boolean

export interface InterceptServices {
  readonly bridge: Pick<typeof Bridge.Service, "noticed" | "answersFor" | "wantsBody" | "judge" | "serve">
  /** Checks whether a host is not to be read, even where its connection was opened before that setting. */
  readonly isBypassed: (host: string) => boolean
  readonly streams: typeof OpenStreams.Service
  readonly bodies: Pick<typeof BodyBudget.Service, "share">
  /** Larger bodies go on unread. */
  readonly maxBodyBytes: number
}

const nameOf = (host: string | undefined): string | null => host?.replace(/:\d{1,5}$/, "").toLowerCase() ?? null

/** Null where the request names another host than the handshake. */
const hostOf = (request: IncomingMessage, serverName: string | null): string | null => {
  const named = nameOf(request.headers.host)
  const known = serverName?.toLowerCase() ?? null
  return known === null || named === null || known === named ? (known ?? named) : null
}

/**
 * Checks whether a request for a WebSocket has to be made over HTTP: frames are not answered here, and agents with mapped models must not
 * bypass that. Agents that speak WebSocket go on with HTTP after status 426.
 */
export const makeRefusesUpgrade =
  ({ bridge, isBypassed }: Pick<InterceptServices, "bridge" | "isBypassed">) =>
  (request: IncomingMessage, { serverName }: InterceptedConnection): boolean => {
    const host = hostOf(request, serverName)
    return host !== null && !isBypassed(host) && bridge.wantsBody({ host, method: "POST", path: request.url ?? "/" })
  }

/** Makes the check of whether requests to a host may be answered here. Only those of HTTP/1.1 are. */
export const makeNeedsHttp1 =
  ({ bridge, isBypassed }: Pick<InterceptServices, "bridge" | "isBypassed">) =>
  (host: string): boolean => {
    if (isBypassed(host)) return false
    bridge.noticed(host)
    return bridge.answersFor(host)
  }

export const makeIntercept =
  ({ bodies, bridge, isBypassed, maxBodyBytes, streams }: InterceptServices): Intercept =>
  (request, response, { scheme, serverName }, passOn) => {
    const host = hostOf(request, serverName)
    const { headers, method = "GET", rawHeaders, socket, url: path = "/" } = request
    if (host === null || isBypassed(host)) return false
    bridge.noticed(host)
    if (!bridge.wantsBody({ host, method, path })) return false
    const share = bodies.share(null)
    response.once("close", () => share.release())
    if (headers.expect !== undefined) response.writeContinue()
    peekBody(request, maxBodyBytes, share, ({ body, isWhole, putBack }) => {
      const { localPort, remotePort } = socket
      const client =
        localPort === undefined || remotePort === undefined
          ? {}
          : { client: { localPort: remotePort, remotePort: localPort } }
      const plain = isWhole ? decodeBody(body, headers["content-encoding"], maxBodyBytes) : null
      const asked = { host, scheme, method, path, headers, rawHeaders, sent: body, ...client }
      const call = plain === null ? null : bridge.judge({ ...asked, body: plain })
      if (call !== null) return bridge.serve(call, new NodeReply(response, streams))
      putBack()
      passOn()
    })
    return true
  }
