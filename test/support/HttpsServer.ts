/** A server on this machine whose answers a test chooses by path, over TLS. */
import * as Effect from "effect/Effect"
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import type { Certificate } from "./tunnels/Certificate.ts"

export type Route = (response: ServerResponse) => void

export interface HttpsServer {
  /** `https://127.0.0.1:<port>` */
  readonly origin: string
  /** Answers by path; 404 elsewhere. */
  readonly routes: Map<string, Route>
  /** Paths that were asked for, oldest first. */
  readonly asked: Array<string>
  /** Returns the number of sockets that were opened to it. */
  readonly connections: () => number
  /** Ends it before the scope does. */
  readonly close: () => Promise<void>
}

export const start = ({ certPem, keyPem }: Certificate) =>
  Effect.acquireRelease(
    Effect.promise(async (): Promise<HttpsServer> => {
      const routes = new Map<string, Route>()
      const asked: Array<string> = []
      const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
        const url = request.url ?? ""
        asked.push(url)
        response.on("error", () => {})
        const route = routes.get(url)
        if (route === undefined) response.writeHead(404).end("nothing here")
        else route(response)
      })
      let connections = 0
      server.on("connection", () => (connections += 1))
      // A client that does not trust the certificate.
      server.on("tlsClientError", () => {})
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      const { port } = server.address() as AddressInfo
      const close = async (): Promise<void> => {
        if (!server.listening) return
        const closed = once(server, "close")
        server.close()
        server.closeAllConnections()
        await closed
      }
      return { origin: `https://127.0.0.1:${port}`, routes, asked, connections: () => connections, close }
    }),
    ({ close }) => Effect.promise(close)
  )

export const json =
  (value: unknown): Route =>
  (response) =>
    void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value))

export const text =
  (body: string, status = 200): Route =>
  (response) =>
    void response.writeHead(status).end(body)

export const redirect =
  (location: string, status = 302): Route =>
  (response) =>
    void response.writeHead(status, { location }).end()
