import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { createServer as createTcpServer } from "node:net"
import { noSecrets } from "../../../src/kernel/secrets/SentSecrets.ts"
import { Flags } from "../../../src/subjects/flags/service.ts"
import { make, Upstream } from "../../../src/net/egress/Upstream.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import { listen, post, publicOnlyFlags, record, transport } from "./harness.ts"

const limits = { timeoutMs: 5_000, maxBytes: 1_000_000 }

describe("Upstream.dispatch", () => {
  it.scopedLive("sends the request as given and hands on the answer", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      fake.enqueue(FakeUpstream.json({ ok: true }, { status: 201, headers: { "X-Request-Id": "up-1" } }))
      const recording = record(upstream, post(fake.origin, { path: "/v1/x?a=1", body: '{"stadt":"Zürich"}' }))
      assert.deepStrictEqual(recording.events, [])
      const answer = yield* Effect.promise(() => recording.finished)
      const { headers } = yield* Effect.promise(() => recording.headers)
      assert.deepStrictEqual(answer, { status: 201, body: '{"ok":true}', failure: null })
      assert.strictEqual(headers.get("x-request-id"), "up-1")
      assert.isNull(headers.get("x-request"))
      assert.deepInclude([...headers], ["content-type", "application/json"])
      const [sent] = fake.requests
      assert.strictEqual(sent?.method, "POST")
      assert.strictEqual(sent?.url, "/v1/x?a=1")
      assert.strictEqual(sent?.body, '{"stadt":"Zürich"}')
      assert.strictEqual(sent?.headers["content-type"], "application/json")
      assert.strictEqual(sent?.headers.host, `127.0.0.1:${fake.port}`)
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("hands on a stream piece by piece while it is still running", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      const latch = FakeUpstream.makeLatch()
      const [first = "", ...rest] = FakeUpstream.chatStream(["Hel", "lo"])
      fake.enqueue(FakeUpstream.sse([first, latch, ...rest]))
      const recording = record(upstream, post(fake.origin))
      assert.strictEqual(yield* Effect.promise(() => recording.firstChunk), first)
      assert.deepStrictEqual(recording.events, ["headers", "data"])
      latch.open()
      const answer = yield* Effect.promise(() => recording.finished)
      assert.strictEqual(answer.body, [first, ...rest].join(""))
      assert.isNull(answer.failure)
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("uses a connection again", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      fake.always(FakeUpstream.json({}))
      for (let i = 0; i < 3; i++) yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
      assert.strictEqual(new Set(fake.requests.map((request) => request.clientPort)).size, 1)
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("never makes a call wait for another: 200 in parallel", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      const latch = FakeUpstream.makeLatch()
      fake.always(FakeUpstream.sse([latch, "data: x\n\n"]))
      const recordings = Array.from({ length: 200 }, () => record(upstream, post(fake.origin)))
      yield* Effect.promise(() => fake.received(200))
      assert.strictEqual(fake.openSockets(), 200)
      latch.open()
      const answers = yield* Effect.promise(() => Promise.all(recordings.map((recording) => recording.finished)))
      assert.isTrue(answers.every((answer) => answer.failure === null && answer.body === "data: x\n\n"))
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("delivers nothing while it is paused, and everything in the end", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      const piece = "x".repeat(50_000)
      fake.enqueue(FakeUpstream.sse(Array.from({ length: 100 }, () => piece)))
      let paused = false
      let early = 0
      const recording = record(upstream, post(fake.origin), () => {
        if (paused) early++
        paused = true
        setImmediate(() => {
          paused = false
          recording.call.resume()
        })
        return false
      })
      const answer = yield* Effect.promise(() => recording.finished)
      assert.strictEqual(early, 0)
      assert.strictEqual(answer.body.length, 5_000_000)
      assert.isNull(answer.failure)
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("can be paused at the headers", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      fake.enqueue(FakeUpstream.text("body"))
      const body = yield* Effect.async<string>((done) => {
        let received = ""
        let resumed = false
        const call = upstream.dispatch(post(fake.origin), {
          onHeaders: () => {
            setImmediate(() => {
              resumed = true
              call.resume()
            })
            return false
          },
          onData: (chunk) => {
            received += resumed ? chunk.toString() : "too early"
            return true
          },
          onEnd: () => done(Effect.succeed(received)),
          onFail: (failure) => done(Effect.die(failure))
        })
      })
      assert.strictEqual(body, "body")
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("does not follow redirects", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      fake.enqueue(FakeUpstream.text("", { status: 307, headers: { location: `${fake.origin}/elsewhere` } }))
      const answer = yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
      assert.strictEqual(answer.status, 307)
      assert.strictEqual(fake.requests.length, 1)
    }).pipe(Effect.provide(transport()))
  )

  for (const encoding of ["gzip", "br", "deflate", "deflate-raw"] as const) {
    it.scopedLive(`decodes ${encoding}, also when the sink is slow`, () =>
      Effect.gen(function* () {
        const fake = yield* FakeUpstream.start
        const upstream = yield* Upstream
        const body = Array.from({ length: 40_000 }, (_, i) => `line ${i}\n`).join("")
        fake.enqueue(FakeUpstream.compressed(body, encoding))
        const recording = record(upstream, post(fake.origin), () => {
          setImmediate(() => recording.call.resume())
          return false
        })
        const answer = yield* Effect.promise(() => recording.finished)
        const { headers } = yield* Effect.promise(() => recording.headers)
        assert.isNull(answer.failure)
        assert.strictEqual(answer.body, body)
        assert.isNull(headers.get("content-encoding"))
        assert.isNull(headers.get("content-length"))
      }).pipe(Effect.provide(transport()))
    )
  }

  it.scopedLive("reports what cannot be sent as a failure, after dispatch has returned", () =>
    Effect.gen(function* () {
      const upstream = yield* Upstream
      const wrong = [
        post("not an origin"),
        post("ftp://127.0.0.1"),
        post("http://127.0.0.1/path"),
        post("http://127.0.0.1:1", { path: "no-slash" }),
        post("http://127.0.0.1:1", { headers: ["x-a", "line\nbreak"] })
      ]
      const kinds = yield* Effect.forEach(wrong, (request) => {
        const recording = record(upstream, request)
        assert.deepStrictEqual(recording.events, [])
        return Effect.promise(async () => (await recording.finished).failure?.kind)
      })
      assert.deepStrictEqual(kinds, ["blocked", "blocked", "blocked", "other", "other"])
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("closes idle connections of one origin and leaves running calls alone", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      const latch = FakeUpstream.makeLatch()
      fake.enqueue(FakeUpstream.sse([latch, "data: x\n\n"]), FakeUpstream.json({}))
      const running = record(upstream, post(fake.origin))
      yield* Effect.promise(() => fake.received(1))
      yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
      upstream.closeOrigin(fake.origin)
      yield* Effect.promise(() => fake.requests[1]!.closed)
      assert.strictEqual(fake.openSockets(), 1)
      latch.open()
      assert.isNull((yield* Effect.promise(() => running.finished)).failure)
      yield* Effect.promise(() => fake.requests[0]!.closed)
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("keeps pools for 2,000 origins and closes the one unused longest", () =>
    Effect.gen(function* () {
      const [first, second] = [yield* FakeUpstream.start, yield* FakeUpstream.start]
      const upstream = yield* Upstream
      for (const fake of [first, second, first]) {
        fake.always(FakeUpstream.json({}))
        yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
      }
      // Origins that are refused have a pool, too, but no socket.
      const others = Array.from({ length: 1_999 }, (_, i) => record(upstream, post(`http://169.254.1.1:${i + 1_000}`)))
      yield* Effect.promise(() => Promise.all(others.map((other) => other.finished)))
      yield* Effect.promise(() => second.requests[0]!.closed)
      assert.strictEqual(first.openSockets(), 1)
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("lets no connection outlive the policy it was made under", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      const flags = yield* Flags
      fake.always(FakeUpstream.json({}))
      assert.isNull((yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)).failure)
      yield* flags.set("GATEWAY_ALLOW_LOCAL_PROVIDER_URLS", "false")
      yield* Effect.promise(() => fake.requests[0]!.closed)
      const refused = yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
      assert.strictEqual(refused.failure?.kind, "blocked")
      yield* flags.unset("GATEWAY_ALLOW_LOCAL_PROVIDER_URLS")
      assert.isNull((yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)).failure)
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("fails running calls and refuses new ones when its scope closes", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      fake.always(FakeUpstream.hang())
      const scope = yield* Scope.make()
      const upstream = yield* make.pipe(Scope.extend(scope))
      const running = record(upstream, post(fake.origin))
      const request = yield* Effect.promise(() => fake.received(1))
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* Effect.promise(() => running.finished)).failure?.kind, "other")
      yield* Effect.promise(() => request.closed)
      assert.strictEqual(
        (yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)).failure?.kind,
        "other"
      )
    }).pipe(Effect.provide(transport()))
  )
})

describe("Upstream.request", () => {
  it.scopedLive("gives the whole answer and asks for no encoding", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      fake.lists(FakeUpstream.compressed(JSON.stringify(FakeUpstream.models(["a", "b"])), "gzip"))
      const answer = yield* upstream.request(
        {
          origin: fake.origin,
          path: "/v1/models",
          method: "GET",
          headers: [],
          body: null,
          secrets: noSecrets,
          owner: null
        },
        limits
      )
      assert.strictEqual(answer.status, 200)
      assert.deepStrictEqual(
        (JSON.parse(answer.body.toString()) as { data: ReadonlyArray<{ id: string }> }).data.map((model) => model.id),
        ["a", "b"]
      )
      assert.strictEqual(fake.listRequests[0]?.headers["accept-encoding"], "identity")
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("stops at the size limit, counted after decoding", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      fake.enqueue(FakeUpstream.compressed("0".repeat(50_000_000), "gzip"))
      const error = yield* Effect.flip(upstream.request(post(fake.origin), { timeoutMs: 60_000, maxBytes: 100_000 }))
      assert.strictEqual(error._tag, "ResponseTooLarge")
    }).pipe(Effect.provide(transport()))
  )

  it.scoped("gives up after its time and closes the connection", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      fake.always(FakeUpstream.silence(["data: x\n\n"]))
      const fiber = yield* Effect.fork(
        Effect.flip(upstream.request(post(fake.origin), { timeoutMs: 3_000, maxBytes: 10 }))
      )
      const request = yield* Effect.promise(() => fake.received(1))
      yield* TestClock.adjust(3_000)
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "TimedOut")
      yield* Effect.promise(() => request.closed)
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("closes the connection when it is interrupted", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      fake.always(FakeUpstream.hang())
      const fiber = yield* Effect.fork(upstream.request(post(fake.origin), limits))
      const request = yield* Effect.promise(() => fake.received(1))
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => request.closed)
    }).pipe(Effect.provide(transport()))
  )
})

describe("the outbound policy at the socket", () => {
  it.scopedLive("refuses a literal, a name and a second DNS answer that lead inside", () =>
    Effect.gen(function* () {
      let contacts = 0
      const port = yield* listen(createTcpServer(() => contacts++))
      const upstream = yield* Upstream
      const kindOf = (host: string) =>
        Effect.promise(async () => (await record(upstream, post(`http://${host}:${port}`)).finished).failure?.kind)
      for (const host of ["127.0.0.1", "[::ffff:7f00:1]", "[::1]", "localhost", "inside.example", "mixed.example"]) {
        assert.strictEqual(yield* kindOf(host), "blocked", host)
      }
      assert.strictEqual(yield* kindOf("metadata.google.internal"), "blocked")
      assert.strictEqual(yield* kindOf("nowhere.example"), "dns")
      assert.strictEqual(contacts, 0)
    }).pipe(
      Effect.provide(
        transport({
          flags: publicOnlyFlags,
          resolve: async (name) => {
            if (name === "nowhere.example") throw new Error("ENOTFOUND")
            return name === "mixed.example" ? ["203.0.113.7", "127.0.0.1"] : ["127.0.0.1"]
          }
        })
      )
    )
  )

  it.scopedLive("connects to the answers it judged and asks only once", () => {
    const answers = [["127.0.0.1"], ["169.254.169.254"]]
    let asked = 0
    return Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      fake.always(FakeUpstream.json({}))
      const origin = `http://rebinding.example:${fake.port}`
      assert.isNull((yield* Effect.promise(() => record(upstream, post(origin)).finished)).failure)
      assert.strictEqual(asked, 1)
      assert.strictEqual(fake.requests[0]?.headers.host, `rebinding.example:${fake.port}`)
      // The next connection asks anew, and the second answer is judged like the first.
      upstream.closeOrigin(origin)
      const second = yield* Effect.promise(() => record(upstream, post(origin)).finished)
      assert.strictEqual(second.failure?.kind, "blocked")
      assert.strictEqual(asked, 2)
    }).pipe(Effect.provide(transport({ resolve: async () => answers[asked++] ?? [] })))
  })

  it.scopedLive("tries the next address when the first does not answer", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      fake.always(FakeUpstream.json({}))
      const answer = yield* Effect.promise(() => record(upstream, post(`http://two.example:${fake.port}`)).finished)
      assert.isNull(answer.failure)
    }).pipe(Effect.provide(transport({ resolve: async () => ["::1", "127.0.0.1"] })))
  )
})
