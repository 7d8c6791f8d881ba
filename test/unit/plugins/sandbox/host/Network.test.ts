import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { type GuardedFetch, make } from "../../../../../src/net/egress/GuardedFetch.ts"
import { isListed } from "../../../../../src/agents/plugins/sandbox/host/Network.ts"
import { callOf, openSandbox, pluginOf } from "../../../../support/Sandboxes.ts"
import { type Setup, transport } from "../../../egress/harness.ts"

const guarded = (setup: Setup) => Effect.provide(make, transport(setup))

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/** A server on this machine that says what it was asked. */
const server = Effect.acquireRelease(
  Effect.async<{
    readonly origin: string
    readonly port: number
    readonly seen: Array<Seen>
    readonly close: () => void
  }>((resume) => {
    const seen: Array<Seen> = []
    const http = createServer((request, response) => {
      let body = ""
      request.on("data", (chunk: Buffer) => (body += chunk.toString()))
      request.on("end", () => {
        const url = request.url ?? ""
        seen.push({ method: request.method ?? "", url, headers: request.headers, body })
        const to = /^\/redirect\?(.*)$/.exec(url)?.[1]
        if (to !== undefined) return response.writeHead(302, { location: decodeURIComponent(to) }).end()
        if (url === "/large") return response.end(Buffer.alloc(6 * 1_048_576))
        response.writeHead(201, { "content-type": "application/json", "x-two": ["a", "b"] })
        response.end(JSON.stringify({ got: body, é: "€" }))
      })
    })
    http.listen(0, "127.0.0.1", () => {
      const { port } = http.address() as AddressInfo
      const close = (): void => {
        http.closeAllConnections()
        http.close()
      }
      resume(Effect.succeed({ origin: `http://127.0.0.1:${port}`, port, seen, close }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const open = { OUTBOUND_SSRF_GUARD_ENABLED: "false" }

const asking = pluginOf(
  `onRequest: async (context, { url, init, times }) => {
    try {
      const response = await fetch(url, init ?? {})
      return modifyBody({ status: response.status, ok: response.ok, type: response.headers.get("Content-Type"), text: await response.text(), redirected: response.redirected })
    } catch (error) {
      return modifyBody({ error: error.name + ": " + error.message })
    }
  }`
)

const resultOf = (outcome: { readonly _tag: string; readonly body?: Uint8Array }) =>
  JSON.parse(outcome.body === undefined ? JSON.stringify(outcome) : Buffer.from(outcome.body).toString())

const privateAddresses = [
  "http://127.0.0.1/",
  "http://127.1/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://017700000001/",
  "http://0/",
  "http://0.0.0.0/",
  "http://localhost/",
  "http://localhost./",
  "http://a.localhost/",
  "http://LOCALHOST/",
  "http://[::1]/",
  "http://[::]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[2002:7f00:1::]/",
  "http://10.0.0.1/",
  "http://172.16.0.1/",
  "http://192.168.1.1/",
  "http://100.64.0.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://[fd00:ec2::254]/",
  "http://[fe80::1]/",
  "http://metadata.google.internal/",
  "http://100.100.100.200/",
  "http://168.63.129.16/",
  "http://printer.local/",
  "http://db.internal/",
  "http://user:pw@example.com/",
  "http://example.com@127.0.0.1/",
  "http://127.0.0.1#@example.com/",
  "file:///etc/passwd",
  "ftp://example.com/",
  "gopher://example.com/",
  "data:text/plain,x",
  "http://①②⑦.⓪.⓪.①/",
  "http://127。0。0。1/",
  "//127.0.0.1/",
  "http://"
]

describe("fetch of a plugin", () => {
  it.scopedLive("reaches no address of this machine, its network or a cloud's metadata", () =>
    Effect.gen(function* () {
      const fetch = yield* guarded({ resolve: () => Promise.reject(new Error("no names here")) })
      const { sandbox } = yield* openSandbox(asking, { permissions: ["network"], fetch, limits: { timeoutMs: 5_000 } })
      for (const url of privateAddresses) {
        const { error } = resultOf(yield* sandbox.call(callOf({}, "onRequest", { url })))
        assert.match(
          error ?? "",
          /^TypeError: (?:fetch failed: (?:The outbound policy|Only http|User name|It is not)|Invalid URL)/,
          url
        )
      }
    })
  )

  it.scopedLive("checks the addresses that a name leads to, each time it is called", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* server
      const addresses = [["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["169.254.169.254"], ["::ffff:127.0.0.1"]]
      let asked = 0
      const fetch = yield* guarded({ resolve: () => Promise.resolve(addresses[asked++ % addresses.length] ?? []) })
      const { sandbox } = yield* openSandbox(asking, { permissions: ["network"], fetch })
      for (let times = 0; times < addresses.length; times += 1) {
        const { error } = resultOf(
          yield* sandbox.call(callOf({}, "onRequest", { url: `http://rebind.example:${port}/` }))
        )
        assert.match(error ?? "", /fetch failed/)
      }
      assert.strictEqual(asked, addresses.length)
      assert.deepStrictEqual(seen, [])
    })
  )

  it.scopedLive("sends any method with its body and headers, and reads the answer", () =>
    Effect.gen(function* () {
      const { origin, seen } = yield* server
      const fetch = yield* guarded({ flags: open })
      const { sandbox } = yield* openSandbox(asking, { permissions: ["network"], fetch, limits: { timeoutMs: 10_000 } })
      const init = { method: "post", body: "a\u0000é", headers: { "X-Mine": "1", "content-type": "text/plain" } }
      const result = resultOf(yield* sandbox.call(callOf({}, "onRequest", { url: `${origin}/x?y=1#z`, init })))
      assert.deepStrictEqual(result, {
        status: 201,
        ok: true,
        type: "application/json",
        text: '{"got":"a\\u0000é","é":"€"}',
        redirected: false
      })
      assert.deepInclude(seen[0], { method: "POST", url: "/x?y=1", body: "a\u0000é" })
      assert.deepInclude(seen[0]?.headers, { "x-mine": "1", "content-type": "text/plain" })
      assert.notProperty(seen[0]?.headers, "authorization")
      for (const headers of [
        { host: "x" },
        { "transfer-encoding": "chunked" },
        { "content-length": "0" },
        { "proxy-authorization": "x" }
      ]) {
        const refused = resultOf(yield* sandbox.call(callOf({}, "onRequest", { url: origin, init: { headers } })))
        assert.match(refused.error ?? "", /header is not allowed/, JSON.stringify([headers, refused]))
      }
      const split = resultOf(
        yield* sandbox.call(callOf({}, "onRequest", { url: origin, init: { headers: { a: "b\r\nc: d" } } }))
      )
      assert.match(split.error, /line break/)
      const method = resultOf(
        yield* sandbox.call(callOf({}, "onRequest", { url: origin, init: { method: "CONNECT" } }))
      )
      assert.match(method.error, /method must be/)
      const large = resultOf(yield* sandbox.call(callOf({}, "onRequest", { url: `${origin}/large` })))
      assert.match(large.error, /larger than 5242880 bytes/)
      assert.strictEqual(seen.length, 2)
    })
  )

  it.scopedLive("follows a redirect to the same place only", () =>
    Effect.gen(function* () {
      const { origin, port, seen } = yield* server
      const fetch = yield* guarded({ flags: open, resolve: () => Promise.resolve(["127.0.0.1"]) })
      const { sandbox } = yield* openSandbox(asking, { permissions: ["network"], fetch, limits: { timeoutMs: 10_000 } })
      const ask = (to: string, init = {}) =>
        Effect.map(
          sandbox.call(callOf({}, "onRequest", { url: `${origin}/redirect?${encodeURIComponent(to)}`, init })),
          resultOf
        )
      assert.deepInclude(yield* ask("/end"), { status: 201, redirected: true })
      assert.match((yield* ask(`http://other.example:${port}/end`)).error, /redirects to another place/)
      assert.match((yield* ask("/end", { method: "POST", body: "x" })).error, /redirects to another place/)
      assert.match((yield* ask("/end", { redirect: "error" })).error, /redirects to another place/)
      assert.deepInclude(yield* ask("/end", { redirect: "manual" }), { status: 302 })
      assert.strictEqual(seen.filter(({ url }) => url === "/end").length, 1)
    })
  )

  it.scopedLive("asks only the hosts that the manifest names", () =>
    Effect.gen(function* () {
      const { origin, port, seen } = yield* server
      const fetch = yield* guarded({ flags: open, resolve: () => Promise.resolve(["127.0.0.1"]) })
      const { sandbox } = yield* openSandbox(asking, {
        permissions: ["network"],
        hosts: ["api.example.com"],
        fetch,
        limits: { timeoutMs: 10_000 }
      })
      const named = yield* sandbox.call(callOf({}, "onRequest", { url: `http://api.example.com:${port}/` }))
      assert.deepInclude(resultOf(named), { status: 201 })
      for (const url of [origin, `http://example.com:${port}/`, `http://api.example.com.evil.example:${port}/`]) {
        assert.match(resultOf(yield* sandbox.call(callOf({}, "onRequest", { url }))).error, /policy/)
      }
      assert.strictEqual(seen.length, 1)
    })
  )

  it.scopedLive("is aborted by the plugin, and with the call that has started it", () =>
    Effect.gen(function* () {
      let aborted = 0
      const fetch: typeof GuardedFetch.Service = {
        send: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => (aborted += 1)))
      }
      const { sandbox } = yield* openSandbox(
        pluginOf(`onRequest: async () => {
          const stop = new AbortController()
          setTimeout(() => stop.abort(), 1)
          const error = await fetch("http://example.com", { signal: stop.signal }).catch((e) => e)
          fetch("http://example.com")
          return modifyBody({ name: error.name })
        }`),
        { permissions: ["network"], fetch, limits: { timeoutMs: 10_000 } }
      )
      assert.deepStrictEqual(resultOf(yield* sandbox.call(callOf({}))), { name: "AbortError" })
      // The messages of the thread come in order.
      yield* sandbox.call(callOf({}))
      assert.isAtLeast(aborted, 2)
    })
  )

  it("knows hosts by name, port and what is above them", () => {
    const url = (text: string) => new URL(text)
    assert.isTrue(isListed(["example.com"], url("https://EXAMPLE.com./x")))
    assert.isTrue(isListed(["example.com"], url("http://example.com:81/x")))
    assert.isTrue(isListed(["example.com:443"], url("https://example.com/")))
    assert.isFalse(isListed(["example.com:443"], url("http://example.com/")))
    assert.isFalse(isListed(["example.com"], url("https://a.example.com/")))
    assert.isTrue(isListed(["*.example.com"], url("https://a.b.example.com/")))
    assert.isFalse(isListed(["*.example.com"], url("https://example.com/")))
    assert.isFalse(isListed(["*.example.com"], url("https://badexample.com/")))
    assert.isTrue(isListed(["[2606:4700::1]"], url("https://[2606:4700::1]/")))
    assert.isTrue(isListed(["[2606:4700::1]:8443"], url("https://[2606:4700::1]:8443/")))
    assert.isFalse(isListed(["[2606:4700::1]:8443"], url("https://[2606:4700::1]/")))
    assert.isFalse(isListed([], url("https://example.com/")))
  })
})
