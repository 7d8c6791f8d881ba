/** A proxy that follows a script: it waits for what the client sends, records it, and answers what the script says. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import type { ProxyHop, ProxyRoute } from "../../../../src/net/egress/proxy/ProxyRoute.ts"
import { Upstream } from "../../../../src/net/egress/Upstream.ts"
import { listen, post, record, transport } from "../harness.ts"

export interface Step {
  /** Bytes to wait for, or the text at whose end to stop. */
  readonly until: number | string
  readonly answer: string | Buffer
  /** Each byte in a write of its own. */
  readonly bytewise?: boolean
  /** Closes the connection behind the answer. */
  readonly ends?: boolean
}

export interface Scripted {
  readonly port: number
  /** What each step waited for, of all connections in order. */
  readonly received: ReadonlyArray<Buffer>
  readonly connections: () => number
}

const lengthOf = (bytes: Buffer, until: number | string): number => {
  if (typeof until === "number") return bytes.length < until ? -1 : until
  const at = bytes.indexOf(until)
  return at === -1 ? -1 : at + until.length
}

const answer = async (socket: Socket, { answer, bytewise = false, ends = false }: Step): Promise<void> => {
  const bytes = Buffer.from(answer)
  socket.setNoDelay(true)
  for (const piece of bytewise ? bytes : [bytes]) {
    await new Promise<void>((written) => {
      socket.write(typeof piece === "number" ? Buffer.of(piece) : piece, () => setImmediate(written))
    })
  }
  if (ends) socket.end()
}

export const scripted = (steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const received: Array<Buffer> = []
    let connections = 0
    const server = createServer(async (socket) => {
      connections += 1
      socket.on("error", () => {})
      let bytes = Buffer.alloc(0)
      const left = [...steps]
      for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
        bytes = Buffer.concat([bytes, chunk as Buffer])
        for (let step = left[0]; step !== undefined; step = left[0]) {
          const length = lengthOf(bytes, step.until)
          if (length === -1) break
          left.shift()
          received.push(Buffer.from(bytes.subarray(0, length)))
          bytes = bytes.subarray(length)
          await answer(socket, step)
        }
      }
    })
    const port = yield* listen(server)
    const scripted: Scripted = { port, received, connections: () => connections }
    return scripted
  })

export interface Login {
  readonly username: string | null
  readonly password?: string
}

export const hopTo = (
  port: number,
  type: ProxyHop["type"],
  { password, username }: Login = { username: null }
): ProxyHop => ({
  id: "proxy",
  key: `test ${port}`,
  type,
  host: "127.0.0.1",
  port,
  family: 0,
  username,
  password: password === undefined ? null : Redacted.make(password)
})

export const routeTo = (port: number, type: ProxyHop["type"], login?: Login): ProxyRoute => ({
  _tag: "Proxied",
  name: "office",
  hop: hopTo(port, type, login)
})

/** A connection to the proxy, once the attempt to open a tunnel on it is over. */
export const tunnelled = (port: number, open: (socket: Socket, done: (stands: boolean) => void) => void) =>
  Effect.gen(function* () {
    const socket = yield* Effect.acquireRelease(
      Effect.sync(() => connect(port, "127.0.0.1")),
      (socket) => Effect.sync(() => socket.destroy())
    )
    const stands = yield* Effect.async<boolean>((done) => {
      socket.once("connect", () => open(socket, (stands) => done(Effect.succeed(stands))))
    })
    const read = (length: number) =>
      Effect.promise(async () => {
        let text = ""
        while (text.length < length) {
          const chunk = socket.read() as Buffer | null
          if (chunk === null) await once(socket, "readable")
          else text += chunk.toString("latin1")
        }
        return text
      })
    return { stands, read }
  })

export const owner = {
  connectionId: "c",
  provider: "p",
  apiKeyId: null,
  proxyEnabled: true,
  proxyId: null,
  carriesKey: true,
  transport: null
}

/** One call through a proxy that follows the script. */
export const callThrough = (type: ProxyHop["type"], origin: string, steps: ReadonlyArray<Step>, login?: Login) =>
  Effect.gen(function* () {
    const proxy = yield* scripted(steps)
    const answer = yield* Effect.provide(
      Effect.gen(function* () {
        const upstream = yield* Upstream
        return yield* Effect.promise(() => record(upstream, post(origin, { owner })).finished)
      }),
      transport({ routes: () => routeTo(proxy.port, type, login) })
    )
    return { proxy, answer }
  })

export const httpAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
