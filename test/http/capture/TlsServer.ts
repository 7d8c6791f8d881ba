import * as Effect from "effect/Effect"
import { createSecureServer, type ServerHttp2Session } from "node:http2"
import type { AddressInfo } from "node:net"
import { createServer as createTlsServer } from "node:https"
import * as CertificateAuthority from "../../../src/observe/capture/tls/CertificateAuthority.ts"

/** A server of HTTP/2, and of HTTP/1.1 for clients that speak no other, whose certificate an authority of the test has signed. */
export const http2Server = Effect.gen(function* () {
  const authority = yield* CertificateAuthority.make("Test servers")
  const key = yield* CertificateAuthority.makeKey
  const { certificate } = yield* Effect.promise(() => authority.issue("localhost", key, Date.now()))
  const sessions = new Set<ServerHttp2Session>()
  const server = createSecureServer(
    { cert: certificate, key: key.export({ type: "pkcs8", format: "pem" }), allowHTTP1: true },
    (request, response) => {
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ by: request.httpVersion, key: request.headers.authorization ?? null }))
    }
  )
  server.on("session", (session) => sessions.add(session))
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done))),
    () =>
      Effect.sync(() => {
        server.close()
        for (const session of sessions) session.destroy()
      })
  )
  return { authority, port: (server.address() as AddressInfo).port }
})

/** A TLS server whose certificate an authority of the test has signed. */
export const tlsServer = Effect.gen(function* () {
  const authority = yield* CertificateAuthority.make("Test servers")
  const key = yield* CertificateAuthority.makeKey
  const { certificate } = yield* Effect.promise(() => authority.issue("localhost", key, Date.now()))
  const seen: Array<string> = []
  const server = createTlsServer(
    { cert: certificate, key: key.export({ type: "pkcs8", format: "pem" }) },
    (request, response) => {
      seen.push(`${request.method} ${request.url}`)
      response.setHeader("content-type", "application/json")
      response.end('{"hello":"world"}')
    }
  )
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done))),
    () => Effect.sync(() => void server.closeAllConnections())
  )
  yield* Effect.addFinalizer(() => Effect.sync(() => void server.close()))
  return { authority, port: (server.address() as AddressInfo).port, seen }
})
