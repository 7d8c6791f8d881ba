/** Untrusted URLs, on real sockets: what they may reach, and what a hostile server can do with a fetch. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Dns from "../../../src/net/egress/Dns.ts"
import { layer, PublicFetch } from "../../../src/net/egress/PublicFetch.ts"
import * as UpstreamSettings from "../../../src/net/egress/UpstreamSettings.ts"
import * as Flags from "../../../src/subjects/flags/service.ts"
import { layerMemory } from "../../../src/subjects/flags/repo.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as Timers from "../../../src/platform/Timers.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"

const fetcher = (guarded: boolean, resolve?: (hostname: string) => Promise<ReadonlyArray<string>>) =>
  layer.pipe(
    Layer.provide(Flags.layer),
    Layer.provide(
      Layer.mergeAll(
        resolve === undefined ? Dns.layer : Layer.succeed(Dns.Dns, { resolve }),
        Timers.layer,
        UpstreamSettings.layerOf({ connectTimeoutMs: 10_000 }),
        layerMemory({
          OUTBOUND_SSRF_GUARD_ENABLED: String(guarded),
          // Permissions of the operator's own providers do not apply to URLs in requests.
          GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: "true",
          GATEWAY_ALLOW_PRIVATE_PROVIDER_URLS: "true"
        }),
        AppConfig.layerOf({ dataDir: "/nowhere" })
      )
    )
  )

const limits = { timeoutMs: 15_000, maxBytes: 100_000 }
const all = () => true

const get = (url: string, more: Partial<typeof limits> = {}, wanted: () => boolean = all) =>
  Effect.flatMap(PublicFetch, (service) => service.get(url, { ...limits, ...more }, wanted))

/** The failure, as its tag and what it says besides. */
const failureOf = (url: string, more: Partial<typeof limits> = {}) =>
  Effect.map(Effect.flip(get(url, more)), (error) => {
    const said = "reason" in error ? error.reason : "kind" in error ? error.kind : ""
    return `${error._tag} ${said}`.trim()
  })

const redirectTo = (location: string, status = 302) => FakeUpstream.text("", { status, headers: { location } })

describe("private addresses", () => {
  const urls = [
    "http://127.0.0.1/x",
    "http://[::1]/x",
    "http://[::ffff:127.0.0.1]/x",
    "http://10.0.0.8/x",
    "http://192.168.1.1/x",
    "http://100.64.0.1/x",
    "http://0.0.0.0/x",
    "http://2130706433/x",
    "http://0x7f.1/x",
    "http://localhost/x",
    "http://printer.local/x",
    "http://db.internal/x",
    "http://169.254.169.254/latest/meta-data",
    "http://metadata.google.internal/"
  ]
  for (const url of urls) {
    it.scopedLive(`refuses ${url} although providers may live there`, () =>
      Effect.gen(function* () {
        assert.match(yield* failureOf(url), /^UrlBlocked (?:private|metadata|unroutable)$/)
      }).pipe(Effect.provide(fetcher(true)))
    )
  }

  it.scopedLive("refuses a name that resolves to one, without a connection", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      assert.strictEqual(yield* failureOf(`http://pictures.example:${fake.port}/x`), "TransportFailure blocked")
      assert.strictEqual(fake.openSockets(), 0)
    }).pipe(Effect.provide(fetcher(true, async () => ["127.0.0.1"])))
  )

  it.scopedLive("one private address among public ones condemns the name", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* failureOf("http://pictures.example/x"), "TransportFailure blocked")
    }).pipe(Effect.provide(fetcher(true, async () => ["93.184.215.14", "10.0.0.1"])))
  )

  it.scopedLive("a name is resolved once per connection: a second answer is never asked for", () => {
    let asked = 0
    return Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      fake.always(FakeUpstream.text("hello"))
      const answer = yield* get(`http://rebinding.example:${fake.port}/x`)
      assert.strictEqual(answer.body.toString(), "hello")
      assert.strictEqual(asked, 1)
    }).pipe(
      Effect.provide(
        fetcher(false, async () => {
          asked += 1
          return asked === 1 ? ["127.0.0.1"] : ["169.254.169.254"]
        })
      )
    )
  })

  it.scopedLive("metadata addresses stay refused with the guard off", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* failureOf("http://169.254.169.254/x"), "UrlBlocked metadata")
    }).pipe(Effect.provide(fetcher(false)))
  )
})

describe("odd URLs", () => {
  const urls: ReadonlyArray<readonly [url: string, failure: string]> = [
    ["file:///etc/passwd", "UrlBlocked scheme"],
    ["ftp://pictures.example/x", "UrlBlocked scheme"],
    ["http://user:pass@pictures.example/x", "UrlBlocked user_info"],
    ["/etc/passwd", "UrlBlocked syntax"],
    ["http://", "UrlBlocked syntax"]
  ]
  for (const [url, failure] of urls) {
    it.scopedLive(`refuses ${url}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* failureOf(url), failure)
      }).pipe(Effect.provide(fetcher(true)))
    )
  }
})

describe("redirects", () => {
  it.scopedLive("follows a few, relative ones too, and leaves the fragment at home", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      fake.enqueue(redirectTo("/b?q=1#part", 301), redirectTo(`${fake.origin}/c`, 307), FakeUpstream.text("there"))
      const answer = yield* get(`${fake.origin}/a#top`)
      assert.strictEqual(answer.body.toString(), "there")
      assert.deepStrictEqual(
        fake.requests.map((request) => `${request.method} ${request.url}`),
        ["GET /a", "GET /b?q=1", "GET /c"]
      )
      assert.notProperty(fake.requests[0]?.headers ?? {}, "authorization")
    }).pipe(Effect.provide(fetcher(false)))
  )

  it.scopedLive("gives up after three", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      fake.always(redirectTo("/again"))
      assert.strictEqual(yield* failureOf(`${fake.origin}/a`), "RedirectRefused too_many")
      assert.strictEqual(fake.requests.length, 4)
    }).pipe(Effect.provide(fetcher(false)))
  )

  const places: ReadonlyArray<readonly [location: string, failure: RegExp]> = [
    ["http://169.254.169.254/latest", /^UrlBlocked metadata$/],
    ["http://hidden.example/x", /^TransportFailure blocked$/],
    ["file:///etc/passwd", /^UrlBlocked scheme$/],
    ["http://user:pass@pictures.example/", /^UrlBlocked user_info$/],
    ["http://[", /^RedirectRefused unreadable$/]
  ]
  for (const [location, failure] of places) {
    it.scopedLive(`judges where it leads: ${location}`, () =>
      Effect.gen(function* () {
        const fake = yield* FakeUpstream.start
        fake.always(redirectTo(location))
        assert.match(yield* failureOf(`${fake.origin}/a`), failure)
        assert.strictEqual(fake.requests.length, 1)
      }).pipe(Effect.provide(fetcher(false, async () => ["169.254.169.254"])))
    )
  }

  it.scopedLive("one without an address is no answer", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      fake.always(FakeUpstream.text("", { status: 302 }))
      assert.strictEqual(yield* failureOf(`${fake.origin}/a`), "RedirectRefused unreadable")
    }).pipe(Effect.provide(fetcher(false)))
  )
})

describe("hostile servers", () => {
  it.scopedLive("a body over the limit is cut off", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      fake.always(FakeUpstream.silence(["x".repeat(60_000), "x".repeat(60_000)]))
      assert.strictEqual(yield* failureOf(`${fake.origin}/a`), "ResponseTooLarge")
      yield* Effect.promise(() => fake.requests[0]?.closed ?? Promise.reject(new Error("never asked")))
    }).pipe(Effect.provide(fetcher(false)))
  )

  it.scopedLive("a small body that unpacks to a huge one is cut off too", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      fake.always(FakeUpstream.compressed("x".repeat(5_000_000), "gzip"))
      assert.strictEqual(yield* failureOf(`${fake.origin}/a`), "ResponseTooLarge")
    }).pipe(Effect.provide(fetcher(false)))
  )

  it.scopedLive("one that never ends is left in time, its socket closed", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      fake.always(FakeUpstream.silence(["a little"]))
      assert.strictEqual(yield* failureOf(`${fake.origin}/a`, { timeoutMs: 50 }), "TimedOut")
      const request = yield* Effect.promise(() => fake.received(1))
      yield* Effect.promise(() => request.closed)
    }).pipe(Effect.provide(fetcher(false)))
  )

  it.scopedLive("a body that ends too early is a failure, no short picture", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      fake.always(FakeUpstream.truncated("short"))
      assert.strictEqual(yield* failureOf(`${fake.origin}/a`), "TransportFailure truncated")
    }).pipe(Effect.provide(fetcher(false)))
  )

  it.scopedLive("an unwanted answer comes without its body, and its socket is closed", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      fake.always(FakeUpstream.silence(["x"], { headers: { "content-type": "video/mp4" } }))
      const answer = yield* get(`${fake.origin}/a`, {}, () => false)
      assert.strictEqual(answer.body.length, 0)
      assert.strictEqual(answer.headers.get("content-type"), "video/mp4")
      yield* Effect.promise(() => fake.requests[0]?.closed ?? Promise.reject(new Error("never asked")))
    }).pipe(Effect.provide(fetcher(false)))
  )

  it.scopedLive("interruption closes the socket", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      fake.always(FakeUpstream.hang())
      const fiber = yield* Effect.fork(get(`${fake.origin}/a`))
      const request = yield* Effect.promise(() => fake.received(1))
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      yield* Effect.promise(() => request.closed)
    }).pipe(Effect.provide(fetcher(false)))
  )

  it.scopedLive("keeps no connection", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      fake.always(FakeUpstream.text("hello"))
      yield* get(`${fake.origin}/a`)
      yield* Effect.promise(() => fake.requests[0]?.closed ?? Promise.reject(new Error("never asked")))
      yield* get(`${fake.origin}/a`)
      assert.notStrictEqual(fake.requests[0]?.clientPort, fake.requests[1]?.clientPort)
    }).pipe(Effect.provide(fetcher(false)))
  )
})

describe("a message", () => {
  const message = { headers: ["content-type", "application/json"], body: "{}" }
  const post = (url: string) => Effect.flatMap(PublicFetch, (service) => service.post(url, message, 10_000))
  const check = (url: string) => Effect.flatMap(PublicFetch, (service) => service.check(url))

  it.scopedLive("is sent whole, and a redirect is its answer", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      fake.always(redirectTo(`${fake.origin}/elsewhere`, 307))
      assert.strictEqual(yield* post(`${fake.origin}/in?x=1`), 307)
      const [request, ...others] = fake.requests
      assert.lengthOf(others, 0)
      assert.deepInclude(request, { method: "POST", url: "/in?x=1", body: "{}" })
    }).pipe(Effect.provide(fetcher(false)))
  )

  it.scopedLive("is not sent to a name that was public when it was checked and is private now", () => {
    let address = "93.184.215.14"
    return Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const url = `http://rebinding.example:${fake.port}/in`
      assert.isNull(yield* check(url))
      address = "127.0.0.1"
      assert.strictEqual(yield* check(url), "private")
      const failure = yield* Effect.flip(post(url))
      assert.deepInclude(failure, { _tag: "TransportFailure", kind: "blocked" })
      assert.strictEqual(fake.openSockets(), 0)
    }).pipe(Effect.provide(fetcher(true, async () => [address])))
  })

  it.scopedLive(
    "goes nowhere near metadata addresses with the guard off, and names that do not resolve are judged later",
    () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* check("http://metadata.example/"), "metadata")
        assert.strictEqual(yield* check("http://169.254.169.254/"), "metadata")
        assert.isNull(yield* check("http://unknown.example/"))
      }).pipe(
        Effect.provide(
          fetcher(false, async (name) =>
            name === "metadata.example" ? ["169.254.169.254"] : Promise.reject(new Error())
          )
        )
      )
  )

  it.scopedLive("has its answer with the head, and a body without end is left", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      fake.always(FakeUpstream.silence(["x"]))
      assert.strictEqual(yield* post(`${fake.origin}/in`), 200)
      yield* Effect.promise(() => fake.requests[0]?.closed ?? Promise.reject(new Error("never asked")))
    }).pipe(Effect.provide(fetcher(false)))
  )
})
