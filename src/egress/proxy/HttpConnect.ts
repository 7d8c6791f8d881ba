/**
 * A tunnel through an HTTP proxy (RFC 9110, 9.3.6): `CONNECT host:port`, then every byte belongs to the target. The name goes to the
 * proxy as it is; it is not resolved here.
 */
import * as Redacted from "effect/Redacted"
import type { Socket } from "node:net"
import type { ProxyHop } from "./ProxyRoute.ts"

export interface Target {
  /** A name or an IP literal, without brackets. */
  readonly host: string
  readonly port: number
}

/** Of the proxy's answer to CONNECT, its status line included. */
const maxHeadBytes = 16 * 1024

const authorization = ({ password, username }: ProxyHop): string => {
  if (username === null) return ""
  const pair = `${username}:${password === null ? "" : Redacted.value(password)}`
  return `Proxy-Authorization: Basic ${Buffer.from(pair, "utf8").toString("base64")}\r\n`
}

const headEnd = Buffer.from("\r\n\r\n")

/** Runs `done` once: with true when the tunnel stands. What came behind the head stays in the socket. */
export const connectThrough = (
  socket: Socket,
  { host, port }: Target,
  hop: ProxyHop,
  done: (stands: boolean) => void
): void => {
  const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`
  let head = Buffer.alloc(0)

  const finish = (stands: boolean): void => {
    socket.off("data", onData).off("end", onEnd)
    done(stands)
  }
  const onEnd = (): void => finish(false)
  const onData = (chunk: Buffer): void => {
    // Three bytes before the chunk may belong to the end of the head.
    const from = Math.max(0, head.length - 3)
    head = Buffer.concat([head, chunk])
    const end = head.indexOf(headEnd, from)
    if (end === -1) {
      if (head.length > maxHeadBytes) finish(false)
      return
    }
    const stands = /^HTTP\/1\.[01] 2\d\d(?: |\r|$)/.test(head.subarray(0, 16).toString("latin1"))
    socket.pause()
    const rest = head.subarray(end + headEnd.length)
    if (stands && rest.length > 0) socket.unshift(rest)
    finish(stands)
  }
  socket.on("data", onData).on("end", onEnd)
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization(hop)}\r\n`)
}
