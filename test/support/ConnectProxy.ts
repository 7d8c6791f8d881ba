/** An HTTP proxy on a real socket: it takes CONNECT, joins the two sockets, and remembers what it was asked for. */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { createServer } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"

export interface ConnectProxy {
  readonly port: number
  /** `host:port` of each CONNECT, in their order. */
  readonly asked: ReadonlyArray<string>
  /** `Proxy-Authorization` of each CONNECT; empty where there was none. */
  readonly credentials: ReadonlyArray<string>
  /** Addresses of names that only the proxy can resolve. */
  readonly hosts: Map<string, string>
  /** The `user:password` it lets through; null: everybody. */
  login: string | null
  /** Refusal of CONNECT in place of a tunnel; null: it is opened. */
  refusal: string | null
  /** Cuts all connections and accepts no further one. */
  readonly kill: () => void
}

export const start: Effect.Effect<ConnectProxy, never, Scope> = Effect.acquireRelease(
  Effect.async<ConnectProxy & { readonly close: () => void }>((resume) => {
    const asked: Array<string> = []
    const credentials: Array<string> = []
    const sockets = new Set<Socket>()
    const server = createServer()
    const kill = (): void => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
    const hosts = new Map<string, string>()
    const proxy = {
      port: 0,
      asked,
      credentials,
      hosts,
      login: null as string | null,
      refusal: null as string | null,
      kill,
      close: kill
    }
    server.on("connection", (socket) => {
      sockets.add(socket)
      socket.on("error", () => {}).on("close", () => sockets.delete(socket))
    })
    server.on("connect", (request, socket, head) => {
      asked.push(request.url ?? "")
      credentials.push(request.headers["proxy-authorization"] ?? "")
      const login = proxy.login === null ? null : `Basic ${Buffer.from(proxy.login).toString("base64")}`
      if (login !== null && login !== request.headers["proxy-authorization"]) {
        return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
      }
      if (proxy.refusal !== null) return void socket.end(proxy.refusal)
      const { hostname, port } = new URL(`http://${request.url ?? ""}`)
      const target = connect(Number(port || "80"), hosts.get(hostname) ?? hostname.replace(/^\[(.*)\]$/, "$1"), () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
        if (head.length > 0) target.write(head)
        target.pipe(socket).pipe(target)
      })
      sockets.add(target)
      target.on("error", () => socket.destroy()).on("close", () => sockets.delete(target))
      socket.on("error", () => target.destroy())
    })
    server.listen(0, "127.0.0.1", () => {
      proxy.port = (server.address() as AddressInfo).port
      resume(Effect.succeed(proxy))
    })
  }),
  ({ close }) => Effect.sync(close)
)
