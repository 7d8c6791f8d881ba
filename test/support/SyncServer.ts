/** A small server for the cloud sync, as `docs/cloud-sync.md` describes it: it keeps the newest bundle as it came, with its signature. */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { createHmac } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Kept {
  readonly body: string
  readonly signature: string
}

export interface SyncServer {
  readonly url: string
  readonly kept: () => Kept | null
  /** Sets the answer from now on, whatever it is. */
  readonly keep: (kept: Kept | null) => void
  /** Requests that were refused because they were not signed. */
  readonly refused: () => number
}

export const sign = (key: string, text: string): string =>
  `sha256=${createHmac("sha256", key).update(text).digest("hex")}`

export const start = (key: string): Effect.Effect<SyncServer, never, Scope> =>
  Effect.gen(function* () {
    let kept: Kept | null = null
    let refused = 0
    let origin = ""
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? "/", origin)
      const end = (status: number): void => void response.writeHead(status).end()
      const refuse = (): void => {
        refused += 1
        end(401)
      }
      if (request.method === "GET") {
        const proof = `sha256=${url.searchParams.get("signature")}`
        const at = url.searchParams.get("at")
        if (proof !== sign(key, `GET\n${origin}${url.pathname}\n${at}`)) return refuse()
        if (kept === null) return end(404)
        response.writeHead(200, { "content-type": "application/json", "x-gateway-signature": kept.signature })
        response.end(kept.body)
        return
      }
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const body = Buffer.concat(chunks).toString("utf8")
        const signature = String(request.headers["x-gateway-signature"])
        if (signature !== sign(key, body)) return refuse()
        kept = { body, signature }
        end(204)
      })
    }).listen(0, "127.0.0.1")
    yield* Effect.promise(() => once(server, "listening"))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
    )
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return { url: `${origin}/team`, kept: () => kept, keep: (next) => void (kept = next), refused: () => refused }
  })
