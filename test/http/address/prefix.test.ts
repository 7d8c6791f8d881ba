/** The gateway below a path of a reverse proxy, one that takes the path away and one that leaves it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createServer, request as ask } from "node:http"
import type { AddressInfo } from "node:net"
import * as TestGateway from "../../support/TestGateway.ts"

interface Kind {
  /** The path is taken away. */
  readonly strips: boolean
  /** `X-Forwarded-Prefix` is sent. */
  readonly tells: boolean
}

const reverseProxy = (gateway: () => string, { strips, tells }: Kind) =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer((incoming, answer) => {
        const { host = "" } = incoming.headers
        const path = incoming.url ?? ""
        const sent = ask(
          new URL(strips ? path.replace(/^\/llm(?=[/?]|$)/, "") || "/" : path, gateway()),
          {
            method: incoming.method,
            headers: { ...incoming.headers, host, ...(tells ? { "x-forwarded-prefix": "/llm" } : {}) }
          },
          (response) => {
            answer.writeHead(response.statusCode ?? 502, response.rawHeaders)
            response.pipe(answer)
          }
        )
        sent.on("error", () => answer.destroy())
        incoming.pipe(sent)
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const close = (): void => {
          server.close()
          server.closeAllConnections()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const kinds: ReadonlyArray<readonly [string, Kind, boolean]> = [
  ["a proxy that takes the path away and tells it", { strips: true, tells: true }, false],
  ["a proxy that takes the path away, with GATEWAY_PUBLIC_URL", { strips: true, tells: false }, true],
  ["a proxy that leaves the path, with GATEWAY_PUBLIC_URL", { strips: false, tells: false }, true]
]

const get = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async () => {
    const response = await fetch(url, { headers, redirect: "manual" })
    return { response, text: await response.text() }
  })

describe("below /llm", () => {
  for (const [name, kind, isConfigured] of kinds) {
    it.scopedLive(
      `everything works behind ${name}`,
      () =>
        Effect.gen(function* () {
          let gatewayUrl = ""
          const { url } = yield* reverseProxy(() => gatewayUrl, kind)
          const gateway = yield* TestGateway.start({
            ...(isConfigured ? { publicUrl: `${url}/llm` } : {}),
            host: "127.0.0.1"
          })
          gatewayUrl = gateway.url
          const base = `${url}/llm`
          for (const page of ["/", "/docs"]) {
            const { response, text } = yield* get(base + page, { accept: "text/html" })
            assert.strictEqual(response.status, 200, text)
            const links = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link = ""]) => link)
            assert.isNotEmpty(links)
            for (const link of links) {
              assert.match(link, /^\/llm\//)
              assert.strictEqual((yield* get(url + link)).response.status, 200, link)
            }
          }
          const document = JSON.parse((yield* get(`${base}/openapi.json`)).text)
          assert.strictEqual(document.servers[0].url, base)
          const card = yield* get(`${base}/.well-known/agent-card.json`)
          assert.strictEqual(card.response.status, 200, card.text)
          assert.include(card.text, `${base}/`)
          assert.notInclude(card.text.replaceAll(base, ""), url)
          assert.strictEqual((yield* get(`${base}/v1/models`)).response.status, 200)
          const wrong = yield* get(`${base}/v1/nothing`)
          assert.include(wrong.text, `${base}/v1`)
        }),
      60_000
    )
  }

  it.scopedLive("a prefix that is no plain path is not believed", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      for (const prefix of ['/"><script>', "//evil.example", "llm", "/a/../b", `/${"a".repeat(300)}`]) {
        const { text } = yield* get(`${gateway.url}/docs`, { accept: "text/html", "x-forwarded-prefix": prefix })
        assert.include(text, 'href="/openapi.json"')
      }
    })
  )
})
