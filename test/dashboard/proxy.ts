/**
 * A reverse proxy before the gateway of a suite, with the faults that proxies and gateways have: away, cutting sockets, taking a path away, another
 * gateway behind it, and headers that say something else.
 */
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as ask,
  type ServerResponse
} from "node:http"
import { connect, type AddressInfo } from "node:net"
import { once } from "node:events"
import type { Duplex } from "node:stream"

export interface Faults {
  /** Address of the gateway behind it. */
  target: string
  /** Every connection is cut. */
  isAway: boolean
  /** Upgrades are cut; HTTP goes on. */
  cutsSockets: boolean
  /** Path before all paths, which is taken away: `/llm`; empty: none. */
  prefix: string
  /** Changes headers of answers. */
  headers: (headers: OutgoingHttpHeaders) => OutgoingHttpHeaders
}

export interface Proxy {
  readonly url: string
  readonly faults: Faults
  /** Ends the sockets that are open. */
  readonly cutOpen: () => void
  readonly stop: () => void
}

export const startProxy = async (target: string): Promise<Proxy> => {
  const faults: Faults = { target, isAway: false, cutsSockets: false, prefix: "", headers: (headers) => headers }
  const open = new Set<Duplex>()
  const pathOf = (url = "/"): string =>
    faults.prefix !== "" && url.startsWith(faults.prefix) ? url.slice(faults.prefix.length) || "/" : url
  const told = (request: IncomingMessage) => ({
    ...request.headers,
    ...(faults.prefix === "" ? {} : { "x-forwarded-prefix": faults.prefix })
  })
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    if (faults.isAway) return void request.socket.destroy()
    const sent = ask(
      new URL(pathOf(request.url), faults.target),
      { method: request.method, headers: told(request) },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, faults.headers(answer.headers))
        answer.pipe(response)
        answer.on("error", () => response.destroy())
      }
    )
    sent.on("error", () => response.destroy())
    request.pipe(sent)
  })
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (faults.isAway || faults.cutsSockets) return void socket.destroy()
    const { hostname, port } = new URL(faults.target)
    const behind = connect(Number(port), hostname, () => {
      const headers = Object.entries(told(request)).map(([name, value]) => `${name}: ${String(value)}`)
      behind.write(`GET ${pathOf(request.url)} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`)
      behind.write(head)
      behind.pipe(socket)
      socket.pipe(behind)
    })
    open.add(socket)
    const end = (): void => {
      open.delete(socket)
      behind.destroy()
      socket.destroy()
    }
    for (const side of [behind, socket]) side.on("error", end).on("close", end)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    cutOpen: () => {
      for (const socket of open) socket.destroy()
    },
    stop: () => {
      for (const socket of open) socket.destroy()
      server.close()
      server.closeAllConnections()
    }
  }
}
