/** Stands between the listener that decrypts and the agent bridge: answers the requests whose model is mapped, and hands on all others. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Bridge } from "../../bridge/Bridge.ts"
import type { BodyBudget } from "../../resilience/BodyBudget.ts"
import { NodeReply } from "../NodeReply.ts"
import type { OpenStreams } from "../OpenStreams.ts"
import { peekBody } from "./PeekedBody.ts"

/** Facts about the connection that a request came over. */
export interface InterceptedConnection {
  readonly scheme: "http" | "https"
  /** Of the TLS handshake; null without one. */
  readonly serverName: string | null
}

/**
 * False: the request is none of the bridge's, and nothing was done with it. True: it is answered here, or `passOn` is called later, when its body
 * has told that it goes on; it can then be read as if it had never been looked at.
 */
export type Intercept = (
  request: IncomingMessage,
  response: ServerResponse,
  connection: InterceptedConnection,
  passOn: () => void
) => boolean

export interface InterceptServices {
  readonly bridge: Pick<typeof Bridge.Service, "noticed" | "wantsBody" | "judge" | "serve">
  /** Whether a host is not to be read, even where its connection stood before that was said. */
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

export const makeIntercept =
  ({ bodies, bridge, isBypassed, maxBodyBytes, streams }: InterceptServices): Intercept =>
  (request, response, { scheme, serverName }, passOn) => {
    const host = hostOf(request, serverName)
    const { headers, method = "GET", rawHeaders, socket, url: path = "/" } = request
    if (host === null || isBypassed(host)) return false
    bridge.noticed(host)
    if (!bridge.wantsBody({ host, method, path })) return false
    const share = bodies.share()
    response.once("close", () => share.release())
    if (headers.expect !== undefined) response.writeContinue()
    peekBody(request, maxBodyBytes, share, ({ body, isWhole, putBack }) => {
      const { localPort, remotePort } = socket
      const client =
        localPort === undefined || remotePort === undefined
          ? {}
          : { client: { localPort: remotePort, remotePort: localPort } }
      const asked = { host, scheme, method, path, headers, rawHeaders, body, ...client }
      const call = isWhole ? bridge.judge(asked) : null
      if (call !== null) return bridge.serve(call, new NodeReply(response, streams))
      putBack()
      passOn()
    })
    return true
  }
