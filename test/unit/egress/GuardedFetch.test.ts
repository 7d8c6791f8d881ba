/** Requests of code that is not trusted, over real sockets. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { noSecrets } from "../../../src/kernel/secrets/SentSecrets.ts"
import { type GuardedRequest, make } from "../../../src/net/egress/GuardedFetch.ts"
import { maxRedirects } from "../../../src/net/egress/PublicFetch.ts"
import { eventually } from "../../support/eventually.ts"
import { transport } from "./harness.ts"

const open = { OUTBOUND_SSRF_GUARD_ENABLED: "false" }
const limits = { timeoutMs: 20_000, maxBytes: 1_000 }

interface Server {
  readonly origin: string
  readonly port: number
  /** Method and path of each request, in their order. */
  readonly seen: Array<string>
  readonly left: () => number
}

const answering = (answer: (url: string, response: ServerResponse, request: IncomingMessage) => void) =>
  Effect.acquireRelease(
    Effect.async<Server & { readonly close: () => void }>((resume) => {
      const seen: Array<string> = []
      let left = 0
      const http = createServer((request, response) => {
        seen.push(`${request.method} ${request.url}`)
        response.once("close", () => {
          if (!response.writableFinished) left += 1
        })
        answer(request.url ?? "", response, request)
      })
      http.listen(0, "127.0.0.1", () => {
        const { port } = http.address() as AddressInfo
        const close = (): void => {
          http.closeAllConnections()
          http.close()
        }
        resume(Effect.succeed({ origin: `http://127.0.0.1:${port}`, port, seen, left: () => left, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** `/to?<address>` redirects there, `/again?n` n times to itself. */
const redirecting = answering((url, response) => {
  const to = /^\/to\?(.*)$/.exec(url)?.[1]
  if (to !== undefined) return void response.writeHead(302, { location: decodeURIComponent(to) }).end()
  const again = /^\/again\?(\d+)$/.exec(url)?.[1]
  if (again !== undefined && again !== "0") {
    return void response.writeHead(307, { location: `/again?${Number(again) - 1}` }).end()
  }
  response.end("here")
})

const get = (url: string, more: Partial<GuardedRequest> = {}): GuardedRequest => ({
  url,
  method: "GET",
  headers: [],
  body: null,
  secrets: noSecrets,
  redirect: "follow",
  ...more
})
const all = (): boolean => true
const service = (setup: Parameters<typeof transport>[0] = { flags: open }) => Effect.provide(make, transport(setup))

describe("GuardedFetch", () => {
  it.scopedLive("sends method, headers and body, and gives the whole answer", () =>
    Effect.gen(function* () {
      const bodies: Array<string> = []
      const { origin } = yield* answering((_, response, request) => {
        request.on("data", (chunk: Buffer) => bodies.push(`${request.headers["x-mine"]} ${chunk.toString()}`))
        request.on("end", () => response.writeHead(418, { "x-two": "b" }).end("short"))
      })
      const { send } = yield* service()
      const sent = get(`${origin}/path?a=b#c`, { method: "PUT", headers: ["x-mine", "1"], body: "é" })
      const answer = yield* send(sent, limits, all)
      assert.deepInclude(answer, { status: 418, url: `${origin}/path?a=b`, isRedirected: false })
      assert.deepStrictEqual(bodies, ["1 é"])
    })
  )

  it.scopedLive("asks before it calls, and for each redirect", () =>
    Effect.gen(function* () {
      const { origin, seen } = yield* redirecting
      const { send } = yield* service()
      const asked: Array<string> = []
      const refused = yield* Effect.flip(send(get(`${origin}/one`), limits, () => false))
      assert.deepInclude(refused, { _tag: "UrlBlocked" })
      assert.deepStrictEqual(seen, [])
      const second = yield* Effect.flip(
        send(get(`${origin}/to?/two`), limits, ({ pathname }) => {
          asked.push(pathname)
          return pathname !== "/two"
        })
      )
      assert.deepInclude(second, { _tag: "UrlBlocked" })
      assert.deepStrictEqual(asked, ["/to", "/two"])
      assert.deepStrictEqual(seen, ["GET /to?/two"])
    })
  )

  it.scopedLive("refuses private addresses by the address that a name leads to", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* redirecting
      const { send } = yield* service({ resolve: () => Promise.resolve(["127.0.0.1"]) })
      for (const url of [`http://127.0.0.1:${port}/`, `http://[::1]:${port}/`, `http://name.example:${port}/`]) {
        const refused = yield* Effect.flip(send(get(url), limits, all))
        assert.isTrue(
          refused._tag === "UrlBlocked" || (refused._tag === "TransportFailure" && refused.kind === "blocked"),
          url
        )
      }
      assert.deepStrictEqual(seen, [])
    })
  )

  it.scopedLive("follows redirects of GET and HEAD to the same origin, and not forever", () =>
    Effect.gen(function* () {
      const { origin, port, seen } = yield* redirecting
      const { send } = yield* service({ flags: open, resolve: () => Promise.resolve(["127.0.0.1"]) })
      const redirected = yield* send(get(`${origin}/again?${maxRedirects}`), limits, all)
      assert.deepInclude(redirected, { status: 200, url: `${origin}/again?0`, isRedirected: true })
      const many = yield* Effect.flip(send(get(`${origin}/again?${maxRedirects + 1}`), limits, all))
      assert.deepInclude(many, { _tag: "RedirectRefused", reason: "too_many" })
      seen.length = 0
      for (const request of [
        get(`${origin}/to?${encodeURIComponent(`http://other.example:${port}/end`)}`),
        get(`${origin}/to?/end`, { method: "POST", body: "x" }),
        get(`${origin}/to?/end`, { redirect: "error" })
      ]) {
        const refused = yield* Effect.flip(send(request, limits, all))
        assert.deepInclude(refused, { _tag: "RedirectRefused", reason: "elsewhere" })
      }
      assert.isFalse(seen.some((line) => line.endsWith(" /end")))
      const manual = yield* send(get(`${origin}/to?/end`, { redirect: "manual" }), limits, all)
      assert.deepInclude(manual, { status: 302, isRedirected: false })
    })
  )

  it.scopedLive("bounds the answer, and the time of all redirects together", () =>
    Effect.gen(function* () {
      const { origin } = yield* answering((url, response) => {
        if (url === "/large") return void response.end("x".repeat(1_001))
        if (url === "/fits") return void response.end("x".repeat(1_000))
        if (url === "/to") return void response.writeHead(302, { location: "/silent" }).end()
      })
      const { send } = yield* service()
      assert.strictEqual((yield* Effect.flip(send(get(`${origin}/large`), limits, all)))._tag, "ResponseTooLarge")
      assert.strictEqual((yield* send(get(`${origin}/fits`), limits, all)).status, 200)
      const late = yield* Effect.flip(send(get(`${origin}/to`), { ...limits, timeoutMs: 200 }, all))
      assert.deepInclude(late, { _tag: "TimedOut", timeoutMs: 200 })
    })
  )

  it.scopedLive("leaves the server when it is interrupted", () =>
    Effect.gen(function* () {
      const { left, origin, seen } = yield* answering(() => {})
      const { send } = yield* service()
      const fiber = yield* Effect.fork(send(get(`${origin}/silent`), limits, all))
      yield* Effect.promise(() =>
        eventually(
          "the request is there",
          () => seen.length,
          (count) => count === 1
        )
      )
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => eventually("the client has left", left, (count) => count === 1))
    })
  )
})
