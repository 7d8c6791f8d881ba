/**
 * Listener behind all fronts: the transparent mode, CONNECT of the HTTP proxy, and the port that custom hosts lead to. A front hands over an unread
 * socket and its destination; the rest depends on its first bytes:
 *
 * | the client speaks | what is done |
 * |---|---|
 * | TLS to a host that is never decrypted, or by a client that refuses our certificates for it | handed on unread |
 * | TLS, HTTP/2 among others | the server is asked first: decrypted, with what it chose; HTTP/1.1 for hosts whose requests `intercept` may answer |
 * | TLS, HTTP/2 alone, to a server that speaks none | handed on unread |
 * | TLS, neither HTTP/2 nor HTTP/1.1 | handed on unread |
 * | TLS with a server name that is none | refused with an alert |
 * | any other TLS | decrypted with a certificate for the name, else for the address; HTTP/1.1 |
 * | HTTP, HTTP/2 without TLS | relayed |
 * | something else, or nothing for 300 ms where its server is known | handed on unread |
 */
import type { Socket } from "node:net"
import type { TunnelReason } from "../CaptureSink.ts"
import type { Hello } from "./ClientHello.ts"
import { sniff, type ClientProtocol } from "./FirstBytes.ts"
import { h2 } from "./Http2.ts"
import { IdleSockets } from "./IdleSockets.ts"
import type { Origin } from "./Origin.ts"
import { tunnel } from "./Tunnel.ts"
import { makeOpener, recordOf, tell, http1, type Connection, discard, type ListenerOptions } from "./Connection.ts"
import { makeServing } from "./Serving.ts"
import { type Client, makeDecryption } from "./Decryption.ts"

export interface Listener {
  /** Takes a socket over. */
  readonly accept: (socket: Socket, origin: Origin) => void
  /** Returns the number of connections of clients. */
  readonly connections: () => number
  /** Ends all connections; returns how many of clients there were. Nothing is accepted any more. */
  readonly close: () => number
}

/** A client beyond these is refused. */
export const maxConnections = 4_096

/** Fatal, `unrecognized_name` (RFC 8446, 6), as a record of its own. */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112])

export const makeListener = (options: ListenerOptions): Listener => {
  const { idleTimeoutMs, isNeverDecrypted, needsHttp1, recording, refusals, serverTls } = options
  const { timers } = recording
  const clients = new IdleSockets(timers, idleTimeoutMs)
  const servers = new IdleSockets(timers, idleTimeoutMs)
  let isClosed = false
  const opener = makeOpener(servers, serverTls)
  const serving = makeServing(options, opener)

  const handOn = (client: Client, reason: TunnelReason): void =>
    tunnel({
      recording,
      client: client.below,
      record: recordOf(client),
      reason,
      dial: opener({ ...client, scheme: "http" })
    })

  const { askServer, decrypt } = makeDecryption({ options, opener, serving, handOn, isClosed: () => isClosed })

  const onHello = (client: Client, hello: Hello): void => {
    const { below, origin } = client
    const host = hello.serverName ?? origin.name ?? origin.address
    if (host === null) {
      tell(recording, recordOf(client), "NO_SERVER_NAME", "The client named no server.")
      return void below.destroy()
    }
    if (isNeverDecrypted(host)) return handOn(client, "never_decrypt")
    const refuser = { host, client: hello.client }
    if (refusals.isTunnelled(refuser, timers.nowMs())) return handOn(client, "client_refused")
    const takesHttp1 = hello.protocols.length === 0 || hello.protocols.includes(http1)
    if (hello.protocols.includes(h2) && !(takesHttp1 && needsHttp1?.(host) === true))
      return askServer(client, hello, refuser)
    if (!takesHttp1) return handOn(client, "not_http")
    decrypt(client, refuser, null)
  }

  /** Passes HTTP/2 without TLS: there is nothing to agree on. */
  const passHttp2 = (connection: Connection): void => {
    const { socket } = connection
    opener(connection)((server) => {
      if (socket.destroyed) return discard(server)
      socket.once("close", () => discard(server))
      serving.serveHttp2(connection, { protocol: h2, server, takesHttp1: false })
    })
  }

  const onBadName = (client: Client): void => {
    tell(recording, recordOf(client), "BAD_SERVER_NAME", "The client's server name is no host name.")
    client.below.end(unrecognizedName)
    client.below.destroySoon()
  }

  const accept = (socket: Socket, origin: Origin): void => {
    if (isClosed || clients.size >= maxConnections) return void socket.destroy()
    clients.watch(socket)
    const onError = (): void => void socket.destroy()
    socket.setNoDelay(true)
    socket.on("error", onError)
    const known = origin.name ?? origin.address
    const plain: Connection = { socket, below: socket, origin, scheme: "http", serverName: null }
    const onProtocol = (protocol: ClientProtocol): void => {
      switch (protocol._tag) {
        case "Gone":
          return void socket.destroy()
        case "BadName":
          return onBadName({ ...plain, scheme: "https" })
        case "Hello":
          return onHello({ ...plain, scheme: "https", serverName: protocol.serverName }, protocol)
        case "Other":
          return handOn(plain, "not_http")
        case "Http":
          if (known !== null && isNeverDecrypted(known)) return handOn(plain, "never_decrypt")
          return void serving.serve(plain, null)
        case "Http2":
          if (known !== null && isNeverDecrypted(known)) return handOn(plain, "never_decrypt")
          return passHttp2(plain)
      }
    }
    // A server without a name or an address is not known before the client speaks, however early it connects.
    sniff(socket, timers, onProtocol, known === null ? null : undefined)
  }

  return {
    accept,
    connections: () => clients.size,
    close: () => {
      isClosed = true
      servers.destroyAll()
      return clients.destroyAll()
    }
  }
}
