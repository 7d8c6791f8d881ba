/** A tunnel through a SOCKS5 proxy (RFC 1928, RFC 1929). The target's name goes to the proxy; it is not resolved here. */
import * as Redacted from "effect/Redacted"
import ipaddr from "ipaddr.js"
import { isIP, type Socket } from "node:net"
import { type Judge, readHandshake } from "./Handshake.ts"
import type { Target } from "./HttpConnect.ts"
import type { ProxyHop } from "./ProxyRoute.ts"

const version = 5
const loginVersion = 1
const withoutLogin = 0
const withLogin = 2
const connectCommand = 1
const addressTypes = { v4: 1, name: 3, v6: 4 } as const
const succeeded = 0

/** Names and passwords have one byte for their length. */
export const maxSocksTextBytes = 255
/** The method, the login, and a reply whose address is a name of full length. */
const maxAnswerBytes = 2 + 2 + 4 + 1 + maxSocksTextBytes + 2

/** Writes a text with its length in front; null when it is too long for that. */
const counted = (text: string): Buffer | null => {
  const bytes = Buffer.from(text, "utf8")
  return bytes.length > maxSocksTextBytes ? null : Buffer.from([bytes.length, ...bytes])
}

const addressOf = (host: string): Buffer | null => {
  const family = isIP(host)
  if (family !== 0) {
    return Buffer.from([family === 4 ? addressTypes.v4 : addressTypes.v6, ...ipaddr.parse(host).toByteArray()])
  }
  const name = counted(host)
  return name === null ? null : Buffer.concat([Buffer.from([addressTypes.name]), name])
}

const connectOf = ({ host, port }: Target): Buffer | null => {
  const address = addressOf(host)
  return address === null
    ? null
    : Buffer.concat([Buffer.from([version, connectCommand, 0]), address, Buffer.from([port >> 8, port & 0xff])])
}

const loginOf = ({ password, username }: ProxyHop): Buffer | null => {
  const name = counted(username ?? "")
  const secret = counted(password === null ? "" : Redacted.value(password))
  return name === null || secret === null ? null : Buffer.concat([Buffer.from([loginVersion]), name, secret])
}

/** Bytes of a reply, by the type of its address and the byte behind that; null for an unknown type. */
const replyBytes = (type: number | undefined, next: number): number | null => {
  switch (type) {
    case addressTypes.v4:
      return 10
    case addressTypes.v6:
      return 22
    case addressTypes.name:
      return 7 + next
    default:
      return null
  }
}

/** Reads the proxy's answers one after the other and sends what comes next. `login` is null when there is none to offer. */
const answerJudge = (socket: Socket, connect: Buffer, login: Buffer | null): Judge => {
  let awaited: "method" | "login" | "reply" = "method"
  /** Bytes of the answers before the awaited one. */
  let start = 0

  const onMethod = (chosen: number | undefined): "failed" | null => {
    if (chosen !== withoutLogin && (chosen !== withLogin || login === null)) return "failed"
    awaited = chosen === withLogin ? "login" : "reply"
    socket.write(chosen === withLogin && login !== null ? login : connect)
    return null
  }

  const onLogin = (code: number | undefined): "failed" | null => {
    if (code !== succeeded) return "failed"
    awaited = "reply"
    socket.write(connect)
    return null
  }

  const onReply = (reply: Buffer): number | "more" | "failed" => {
    if (reply.length > 1 && (reply[0] !== version || reply[1] !== succeeded)) return "failed"
    if (reply.length < 5) return "more"
    const length = replyBytes(reply[3], reply[4] ?? 0)
    if (length === null) return "failed"
    return reply.length < length ? "more" : start + length
  }

  return (bytes) => {
    for (;;) {
      if (awaited === "reply") return onReply(bytes.subarray(start))
      if (awaited === "method" && bytes[0] !== version) return "failed"
      if (bytes.length < start + 2) return "more"
      const code = bytes[start + 1]
      start += 2
      if ((awaited === "method" ? onMethod(code) : onLogin(code)) === "failed") return "failed"
    }
  }
}

/** Runs `done` once: with true when the tunnel is open. What came behind the proxy's reply stays in the socket. */
export const socksThrough = (socket: Socket, target: Target, hop: ProxyHop, done: (stands: boolean) => void): void => {
  const connect = connectOf(target)
  const login = hop.username === null ? null : loginOf(hop)
  if (connect === null || (login === null && hop.username !== null)) return done(false)
  readHandshake(socket, maxAnswerBytes, answerJudge(socket, connect, login), done)
  socket.write(Buffer.from(login === null ? [version, 1, withoutLogin] : [version, 2, withoutLogin, withLogin]))
}
