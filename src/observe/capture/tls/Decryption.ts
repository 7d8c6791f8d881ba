/** Decrypts connections of clients that take our certificates. The server is asked first where HTTP/2 may be spoken. */
import type { Socket } from "node:net"
import { TLSSocket } from "node:tls"
import type { Refuser } from "./Refusals.ts"
import type { Asked, Serving, Counted } from "./Serving.ts"
import type { Hello } from "./ClientHello.ts"
import { type Connection, type Opener, tell, http1, discard, endsAlone, type ListenerOptions } from "./Connection.ts"
import type { TunnelReason } from "../CaptureSink.ts"
import type { LeafCertificates } from "./LeafCertificates.ts"
import { h2 } from "./Http2.ts"
import { DialFailed } from "./Origin.ts"

/** OpenSSL's words for the alerts `bad_certificate`, `certificate_unknown` and `unknown_ca`. */
const refusing = new Set([
  "ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE",
  "ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN",
  "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA"
])

/** Returns the protocol that a server chose in its handshake; null: none. */
const chosenBy = (server: Socket): string | null =>
  server instanceof TLSSocket && typeof server.alpnProtocol === "string" ? server.alpnProtocol : null

/** OpenSSL's word for the alert `no_application_protocol`. */
const noProtocol = "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL"

export interface Decryption {
  /** Decrypts a connection; `asked` null: its server was not asked first. */
  readonly decrypt: (client: Client, refuser: Refuser, asked: Asked | null) => void
  /** Asks the server which of the client's protocols it speaks. A client gets HTTP/2 only where the server has agreed to it. */
  readonly askServer: (client: Client, hello: Hello, refuser: Refuser) => void
}

/** A client's socket that speaks TLS. */
export type Client = Omit<Connection, "socket">

export interface DecryptionParts {
  readonly options: ListenerOptions
  readonly opener: Opener
  readonly serving: Serving
  readonly handOn: (client: Client, reason: TunnelReason) => void
  readonly isClosed: () => boolean
}

export const makeDecryption = ({
  handOn,
  isClosed,
  opener,
  options: { leaves, recording, refusals },
  serving
}: DecryptionParts): Decryption => {
  const { timers } = recording

  const refused = (facts: Counted, isNews: boolean): void => {
    if (isNews) {
      tell(
        recording,
        facts.record,
        "CLIENT_REFUSED_CA",
        "The client does not trust the certificate authority. Its connections to this host are tunnelled for a while."
      )
    }
  }

  const decrypt: Decryption["decrypt"] = (client, refuser, asked) => {
    const { below: socket } = client
    const { host } = refuser
    const start = (secureContext: ReturnType<LeafCertificates["cached"]>): void => {
      if (secureContext === null || socket.destroyed) return void socket.destroy()
      const protocol = asked?.protocol ?? http1
      const tls = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: [protocol] })
      const connection = { ...client, socket: tls }
      const facts =
        asked !== null && protocol === h2
          ? serving.serveHttp2(connection, asked)
          : serving.serve(connection, refuser, asked?.server ?? null)
      let failure: string | undefined
      tls.on("error", (error: NodeJS.ErrnoException) => {
        failure ??= error.code
        tls.destroy()
      })
      tls.once("close", () => {
        socket.destroy()
        if (facts.requests > 0 || isClosed()) return
        if (failure === undefined) refused(facts, refusals.endedSilently(refuser, timers.nowMs()))
        else if (refusing.has(failure)) refused(facts, refusals.alerted(refuser, timers.nowMs()))
      })
    }
    if (asked !== null) socket.once("close", () => discard(asked.server))
    const nowMs = timers.nowMs()
    const cached = leaves.cached(host, nowMs)
    if (cached !== null) return start(cached)
    leaves.contextFor(host, nowMs).then(start, () => start(null))
  }

  const askServer: Decryption["askServer"] = (client, hello, refuser) => {
    const offered = hello.protocols.filter((protocol) => protocol === h2 || protocol === http1)
    const takesHttp1 = offered.includes(http1)
    opener(
      client,
      offered
    )((server) => {
      if (client.below.destroyed) return discard(server)
      const chosen = server instanceof DialFailed ? null : chosenBy(server)
      const isUnspoken = server instanceof DialFailed ? server.code === noProtocol : chosen !== h2
      if (!takesHttp1 && isUnspoken) {
        discard(server)
        return handOn(client, "http2_only")
      }
      const protocol = chosen === h2 || !takesHttp1 ? h2 : http1
      endsAlone(server)
      decrypt(client, refuser, { protocol, server, takesHttp1 })
    })
  }

  return { askServer, decrypt }
}
