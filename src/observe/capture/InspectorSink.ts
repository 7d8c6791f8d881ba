/** Hands what is captured to the inspector. Hot: bodies are referenced, and put together only when an exchange is over. */
import { operatorsOwn } from "../../contract/domain/ContentPermission.ts"
import type { Inspector } from "../inspector/Inspector.ts"
import type { DetectedKind } from "../../contract/domain/TrafficRecord.ts"
import type { CapturedBody, CapturedEnd, CapturedRequest, CaptureSink, TunnelReason } from "./CaptureSink.ts"

export interface InspectorSinkOptions {
  readonly inspector: Pick<typeof Inspector.Service, "attribute" | "begin" | "finish" | "update">
  /** The kind that was chosen for a custom host; null: it is detected. */
  readonly kindOf: (host: string) => DetectedKind | null
  /** Tells whether exchanges of an agent's host that the bridge does not answer are recorded. */
  readonly recordsPassthrough: () => boolean
  /** Finds the port at which the client's connection ends on this machine; null: at its destination. */
  readonly portOf: (source: CapturedRequest["source"]) => number | null
}

const notes: Readonly<Record<TunnelReason, string>> = {
  never_decrypt: "Handed on unread: the host is on the list of those that are never decrypted.",
  client_refused: "Handed on unread: the client does not trust the gateway's certificate authority.",
  http2_only: "Handed on unread: the client speaks HTTP/2 alone, and the server does not.",
  not_http: "Handed on unread: it is neither TLS nor HTTP.",
  not_enabled: "Handed on unread: TLS is not intercepted."
}

/** The answer to CONNECT, which is all that is known of what went through it. */
const connected = 200

const bytesOf = ({ chunks }: CapturedBody): Uint8Array | null => {
  const [first] = chunks
  if (first === undefined) return null
  return chunks.length === 1 ? first : Buffer.concat(chunks)
}

const statusOf = ({ error, head, tunnelled }: CapturedEnd): number | "error" => {
  if (error !== null) return "error"
  if (head !== null) return head.status
  return tunnelled === null ? "error" : connected
}

export const makeInspectorSink = ({
  inspector,
  kindOf,
  portOf,
  recordsPassthrough
}: InspectorSinkOptions): CaptureSink => ({
  begin: (request) => {
    // An id that the inspector does not know is ignored by it.
    if (request.source === "agent-bridge" && !recordsPassthrough()) return ""
    const kind = request.source === "custom-host" ? kindOf(request.serverName ?? request.host) : null
    const id = inspector.begin(operatorsOwn, {
      source: request.source,
      agent: request.agent,
      atMs: request.startedAtMs,
      method: request.method,
      scheme: request.scheme,
      host: request.host,
      path: request.method === "CONNECT" && request.path === "" ? `:${request.server.port}` : request.path,
      headers: request.headers,
      httpVersion: request.httpVersion,
      ...(kind === null ? {} : { kind }),
      ...(request.serverName === null || request.host.startsWith(request.serverName)
        ? {}
        : { note: `The name in the TLS handshake was ${request.serverName}.` })
    })
    inspector.attribute(id, {
      localPort: request.client.port,
      remotePort: portOf(request.source) ?? request.server.port
    })
    return id
  },
  update: (id, head) => inspector.update(id, { responseHeaders: head.headers }),
  finish: (id, end) => {
    const { error, head, requestBody, responseBody, sentMs, totalMs, tunnelled } = end
    inspector.finish(id, {
      status: statusOf(end),
      requestSize: requestBody.bytes,
      responseSize: responseBody.bytes,
      responseBody: bytesOf(responseBody),
      error: error === null ? null : `${error.code}: ${error.message}`,
      ttftMs: head?.afterMs ?? null,
      proxyLatencyMs: sentMs,
      upstreamLatencyMs: head === null || sentMs === null ? null : Math.max(0, head.afterMs - sentMs),
      totalLatencyMs: totalMs,
      ...(bytesOf(requestBody) === null ? {} : { requestBody: bytesOf(requestBody) ?? new Uint8Array() }),
      ...(head === null ? {} : { responseHeaders: head.headers }),
      ...(tunnelled === null ? {} : { note: notes[tunnelled] })
    })
  }
})
