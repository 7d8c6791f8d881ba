/** The internet: one HTTPS server that has every host of the vendors, with certificates of an authority of its own, and notes what it is asked. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { once } from "node:events"
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import { createSecureContext, type SecureContext } from "node:tls"
import * as CertificateAuthority from "../../../src/observe/capture/tls/CertificateAuthority.ts"
import { internet } from "./Machine.ts"

export interface VendorRequest {
  readonly host: string
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Vendors {
  /** PEM of what signs their certificates. */
  readonly authority: string
  readonly requests: ReadonlyArray<VendorRequest>
  readonly close: () => void
}

export type VendorAnswer = (request: VendorRequest, response: ServerResponse) => void

const read = async (stream: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString("utf8")
}

const told =
  (done: (error: Error | null, context?: SecureContext) => void) =>
  (exit: Exit.Exit<SecureContext, unknown>): void =>
    Exit.isSuccess(exit) ? done(null, exit.value) : done(new Error("No certificate was made."))

export const start = async (answer: VendorAnswer): Promise<Vendors> => {
  const authority = await Effect.runPromise(CertificateAuthority.make("Internet"))
  const key = await Effect.runPromise(CertificateAuthority.makeKey)
  const pem = String(key.export({ type: "pkcs8", format: "pem" }))
  const requests: Array<VendorRequest> = []
  const certified = async (name: string) => {
    const { certificate } = await authority.issue(name, key, Date.now())
    return createSecureContext({ key: pem, cert: certificate })
  }
  const onRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { headers, method = "GET", url: path = "/" } = request
    const asked = { host: headers.host ?? "", method, path, headers, body: await read(request) }
    requests.push(asked)
    answer(asked, response)
  }
  const server = createServer(
    {
      SNICallback: (name, done) =>
        void Effect.runCallback(
          Effect.tryPromise(() => certified(name)),
          { onExit: told(done) }
        )
    },
    // A client that leaves takes its request with it.
    (request, response) => void onRequest(request, response).catch(() => response.destroy())
  )
  // None of them speaks WebSocket.
  server.on("upgrade", (_request, socket) => void socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"))
  server.listen(443, internet)
  await once(server, "listening")
  return {
    authority: authority.certificate,
    requests,
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}
