/**
 * An edge of ngrok on loopback, as far as the SDK needs one: muxado frames over TLS, and JSON calls over its streams.
 * https://github.com/inconshreveable/muxado, https://github.com/ngrok/ngrok-rust (`muxado/SPEC.md`, `ngrok/src/internals/proto.rs`)
 */
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { type AddressInfo, createServer as createPlainServer, type Socket } from "node:net"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { createServer, type TLSSocket } from "node:tls"
import { makeCertificate } from "./Certificate.ts"

const frames = { rst: 0, data: 1, windowIncrement: 2, goAway: 3 }
const flags = { fin: 1, syn: 2 }
const headBytes = 8

/** Kind of a stream by its first four bytes. */
const kinds = { auth: 0, bind: 1, unbind: 2, proxy: 3, heartbeat: 0xffffffff }

const frame = (type: number, flag: number, id: number, body: Buffer): Buffer => {
  const head = Buffer.alloc(headBytes)
  head.writeUIntBE(body.length, 0, 3)
  head.writeUInt8((type << 4) | flag, 3)
  head.writeUInt32BE(id, 4)
  return Buffer.concat([head, body])
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export interface EdgeOptions {
  /** The refusal of a token, as ngrok words it; null takes it. Null for the whole: never answers. */
  readonly refusal: ((authToken: string) => string | null) | null
  readonly publicUrl: string
  /** Calls to take back a listener stay without an answer. */
  readonly ignoresUnbind: boolean
}

export interface NgrokEdge {
  /** `localhost:port`, for `TOKEN_TUNNEL_SERVER`. */
  readonly address: string
  /** File for `TOKEN_TUNNEL_CA`. */
  readonly caFile: string
  /** Every token that was shown, in order. */
  readonly tokens: ReadonlyArray<string>
  /** Connections of agents that are open now. */
  readonly connections: () => number
  /** Listeners that were bound and not taken back, of all sessions ever. */
  readonly bound: () => number
  /** Refuses later logins with this text; null: as the options say. */
  readonly refuseFromNow: (refusal: string | null) => void
  /** Port of 127.0.0.1 where the outside reaches the address: each connection goes on, byte by byte, by the agent that came last. */
  readonly publicPort: number
  /** Sends a request through the agent that came last; its answer comes as raw bytes. */
  readonly request: (raw: string) => PassThrough
  /** Ends the sessions that are open. */
  readonly dropSessions: () => void
  readonly close: () => Promise<void>
}

interface Session {
  readonly socket: TLSSocket
  readonly streams: Map<number, PassThrough>
  nextId: number
  /** The id of the listener that it bound last; null: none. */
  listener: string | null
  /** Connections from the public port. */
  readonly clients: Set<Socket>
  /** The agent tells how often it gives a sign of life; null: before that. */
  silenceMs: number | null
  heardAtMs: number
}

/** The members of calls that matter here. */
interface Call {
  readonly Version?: ReadonlyArray<string>
  readonly Extra?: {
    readonly AuthToken?: string
    /** Nanoseconds. */
    readonly HeartbeatInterval?: number
    readonly HeartbeatTolerance?: number
  }
  readonly Id?: string
  readonly Proto?: string
  readonly Opts?: unknown
}

/** Null: more is to come. */
const wholeCall = (bytes: Buffer): Call | null => {
  try {
    return JSON.parse(bytes.toString("utf8"))
  } catch {
    return null
  }
}

const defaults: EdgeOptions = {
  refusal: () => null,
  publicUrl: "https://gateway-test.ngrok-free.app",
  ignoresUnbind: false
}

/** `folder`: where its certificate is written. */
export const startEdge = async (folder: string, given: Partial<EdgeOptions> = {}): Promise<NgrokEdge> => {
  const options = { ...defaults, ...given }
  const { certPem, keyPem } = makeCertificate()
  const caFile = join(folder, "edge-ca.pem")
  writeFileSync(caFile, certPem)
  const sessions = new Set<Session>()
  const tokens: Array<string> = []
  let refusalFromNow: string | null = null
  /** Ids of the listeners that are bound now: each has its own, by which the SDK knows it in the whole process. */
  const listeners = new Set<string>()
  let lastListener = 0

  const answerOf = (kind: number, call: Call, session: Session): unknown => {
    if (kind === kinds.auth) {
      const token = call.Extra?.AuthToken ?? ""
      tokens.push(token)
      session.silenceMs = ((call.Extra?.HeartbeatInterval ?? 0) + (call.Extra?.HeartbeatTolerance ?? 0)) / 1e6
      if (options.refusal === null) return undefined
      const refusal = refusalFromNow ?? options.refusal(token)
      if (refusal !== null) return { Error: refusal }
      return {
        Version: call.Version?.[0],
        ClientId: "client-1",
        Extra: {
          Version: "prod",
          Region: "eu",
          Cookie: "c",
          AccountName: "a",
          SessionDuration: 0,
          PlanName: "Free",
          Banner: ""
        }
      }
    }
    if (kind === kinds.bind) {
      lastListener += 1
      // A session that comes back asks for the listener that it had.
      const id = call.Id || `endpoint-${lastListener}`
      listeners.add(id)
      session.listener = id
      return {
        Id: id,
        URL: options.publicUrl,
        Proto: call.Proto,
        BindOpts: call.Opts,
        Opts: call.Opts,
        Extra: { Token: "t" }
      }
    }
    if (kind !== kinds.unbind) return { Error: `no such call: ${kind}` }
    if (call.Id !== undefined) listeners.delete(call.Id)
    // The connections of clients end with the address; the SDK answers nothing on them any more.
    for (const client of session.clients) client.destroy()
    return options.ignoresUnbind ? undefined : {}
  }

  const serve = (socket: TLSSocket): void => {
    const session: Session = {
      socket,
      streams: new Map(),
      nextId: 2,
      listener: null,
      clients: new Set(),
      silenceMs: null,
      heardAtMs: performance.now()
    }
    socket.setNoDelay(true)
    sessions.add(session)
    socket.on("error", () => {})
    socket.on("close", () => {
      sessions.delete(session)
      for (const stream of session.streams.values()) stream.destroy()
    })
    /** Bytes of the streams that the agent has opened, until they are a whole call. */
    const calls = new Map<number, Buffer>()

    const take = (id: number, body: Buffer): void => {
      const bytes = Buffer.concat([calls.get(id) ?? Buffer.alloc(0), body])
      calls.set(id, bytes)
      if (bytes.length < 4) return
      const kind = bytes.readUInt32BE(0)
      const content = bytes.subarray(4)
      if (kind === kinds.heartbeat) {
        session.heardAtMs = performance.now()
        // Each beat is four bytes, sent back as they are.
        calls.set(id, bytes.subarray(0, 4))
        if (content.length > 0) socket.write(frame(frames.data, 0, id, content))
        return
      }
      const call = wholeCall(content)
      if (call === null) return
      calls.delete(id)
      const answer = answerOf(kind, call, session)
      if (answer !== undefined) socket.write(frame(frames.data, flags.fin, id, Buffer.from(JSON.stringify(answer))))
    }

    let pending = Buffer.alloc(0)
    socket.on("data", (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk])
      while (pending.length >= headBytes) {
        const length = pending.readUIntBE(0, 3)
        if (pending.length < headBytes + length) return
        const type = pending.readUInt8(3) >> 4
        const flag = pending.readUInt8(3) & 0x0f
        const id = pending.readUInt32BE(4)
        const body = pending.subarray(headBytes, headBytes + length)
        pending = pending.subarray(headBytes + length)
        const own = session.streams.get(id)
        if (type === frames.goAway) socket.end()
        else if (type === frames.rst) own?.destroy()
        else if (type === frames.data) {
          if (own === undefined) take(id, body)
          else if (body.length > 0) own.write(body)
          if (body.length > 0) socket.write(frame(frames.windowIncrement, 0, id, uint32(body.length)))
          if ((flag & flags.fin) !== 0) own?.end()
        }
      }
    })
  }

  // The SDK leaves the connections of closed sessions open, without a sign of life: an edge ends those.
  const forgetting = setInterval(() => {
    for (const { heardAtMs, silenceMs, socket } of sessions) {
      if (silenceMs !== null && performance.now() - heardAtMs > silenceMs) socket.destroy()
    }
  }, 50)

  const server = createServer({ cert: certPem, key: keyPem }, serve)
  server.on("tlsClientError", () => {})
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo

  /** Opens a stream to the agent of the session, with the first bytes of a client. */
  const openStream = (session: Session, first: Buffer): { readonly id: number; readonly answer: PassThrough } => {
    const id = session.nextId
    session.nextId += 2
    const stream = new PassThrough()
    session.streams.set(id, stream)
    const header = Buffer.from(
      JSON.stringify({
        Id: session.listener,
        ClientAddr: "203.0.113.7:4711",
        Proto: "https",
        EdgeType: "3",
        PassthroughTLS: false
      })
    )
    const length = Buffer.alloc(8)
    length.writeBigInt64LE(BigInt(header.length))
    session.socket.write(frame(frames.data, flags.syn, id, Buffer.concat([uint32(kinds.proxy), length, header, first])))
    return { id, answer: stream }
  }

  const request = (raw: string): PassThrough => {
    const session = [...sessions].at(-1)
    if (session === undefined) throw new Error("No agent is connected.")
    return openStream(session, Buffer.from(raw)).answer
  }

  const clients = new Set<Socket>()
  const carry = (client: Socket): void => {
    const session = [...sessions].at(-1)
    clients.add(client)
    client.on("close", () => clients.delete(client))
    client.on("error", () => {})
    if (session === undefined || session.listener === null || !listeners.has(session.listener)) {
      client.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\nngrok-error-code: ERR_NGROK_3200\r\n\r\n")
      return
    }
    session.clients.add(client)
    client.on("close", () => session.clients.delete(client))
    const { answer, id } = openStream(session, Buffer.alloc(0))
    answer.on("error", () => client.destroy())
    answer.on("close", () => client.destroySoon())
    answer.pipe(client)
    const send = (flag: number, body: Buffer): void => {
      if (session.socket.writable) session.socket.write(frame(frames.data, flag, id, body))
    }
    client.on("data", (chunk: Buffer) => send(0, chunk))
    client.on("end", () => send(flags.fin, Buffer.alloc(0)))
    client.on("close", () => {
      if (!answer.readableEnded && session.socket.writable) session.socket.write(frame(frames.rst, 0, id, uint32(0)))
    })
  }
  const outside = createPlainServer({ allowHalfOpen: true }, carry)
  outside.listen(0, "127.0.0.1")
  await once(outside, "listening")

  return {
    address: `localhost:${port}`,
    caFile,
    tokens,
    publicPort: (outside.address() as AddressInfo).port,
    connections: () => sessions.size,
    bound: () => listeners.size,
    refuseFromNow: (refusal) => {
      refusalFromNow = refusal
    },
    request,
    dropSessions: () => {
      for (const { socket } of sessions) socket.destroy()
    },
    close: async () => {
      clearInterval(forgetting)
      for (const { socket } of sessions) socket.destroy()
      for (const client of clients) client.destroy()
      outside.close()
      server.close()
      await once(server, "close")
    }
  }
}
