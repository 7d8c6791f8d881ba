/**
 * A tunnel through an HTTP proxy (RFC 9110, 9.3.6): `CONNECT host:port`, then every byte belongs to the target. The name goes to the
 * proxy as it is; it is not resolved here.
 */
import * as Redacted from "effect/Redacted"
import type { Socket } from "node:net"
import { type Judge, readHandshake } from "./Handshake.ts"
import type { ProxyHop } from "./ProxyRoute.ts"

export interface Target {
  /** A name or an IP literal, without brackets. */
  readonly host: string
  readonly port: number
}

/** Most bytes of the proxy's answers to CONNECT, their status lines included. */
const maxHeadBytes = 16 * 1024

const authorization = ({ password, username }: ProxyHop): string => {
  if (username === null) return ""
  const pair = `${username}:${password === null ? "" : Redacted.value(password)}`
  return `Proxy-Authorization: Basic ${Buffer.from(pair, "utf8").toString("base64")}\r\n`
}

const headStart = Buffer.from("HTTP/1.")
const headEnd = Buffer.from("\r\n\r\n")
/** Long enough for the version and the status. */
const statusLineBytes = 16

/** Informational answers may come first. A 2xx answer has no body, whatever its headers say. */
const answerJudge = (): Judge => {
  /** Position at which the head of the answer being read begins. */
  let start = 0
  /** Up to here there is no end of that head. */
  let searched = 0
  return (bytes) => {
    for (;;) {
      const known = Math.min(bytes.length - start, headStart.length)
      // Without waiting for more: a server of another protocol may wait for the client itself.
      if (headStart.compare(bytes, start, start + known, 0, known) !== 0) return "failed"
      const end = bytes.indexOf(headEnd, searched)
      if (end === -1) {
        searched = Math.max(start, bytes.length - (headEnd.length - 1))
        return "more"
      }
      const statusLine = bytes.toString("latin1", start, start + statusLineBytes)
      const status = /^HTTP\/1\.[01] (\d{3})(?: |\r)/.exec(statusLine)?.[1] ?? ""
      start = end + headEnd.length
      searched = start
      if (status.startsWith("2")) return start
      if (!status.startsWith("1") || status === "101") return "failed"
    }
  }
}

/** Runs `done` once: with true when the tunnel is open. What came behind the head stays in the socket. */
export const connectThrough = (
  socket: Socket,
  { host, port }: Target,
  hop: ProxyHop,
  done: (stands: boolean) => void
): void => {
  const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`
  readHandshake(socket, maxHeadBytes, answerJudge(), done)
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization(hop)}\r\n`)
}
