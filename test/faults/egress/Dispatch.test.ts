import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { once } from "node:events"
import { createServer, type Socket } from "node:net"
import { Upstream } from "../../../src/net/egress/Upstream.ts"
import { Timers } from "../../../src/platform/Timers.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import { listen, post, record, transport } from "../../unit/egress/harness.ts"

const started = Effect.gen(function* () {
  return { fake: yield* FakeUpstream.start, upstream: yield* Upstream }
})

const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

describe("abort", () => {
  it.scopedLive("before the name is resolved: nothing is ever connected", () => {
    const asked = FakeUpstream.makeLatch()
    const answered = FakeUpstream.makeLatch()
    return Effect.gen(function* () {
      const { fake, upstream } = yield* started
      const recording = record(upstream, post(`http://slow.example:${fake.port}`))
      yield* Effect.promise(() => asked.opened)
      recording.call.abort()
      answered.open()
      yield* turn
      // A later call proves that the loop has gone on; only it reached the upstream.
      fake.always(FakeUpstream.json({}))
      yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
      assert.strictEqual(fake.requests.length, 1)
      assert.strictEqual(fake.openSockets(), 1)
      assert.deepStrictEqual(recording.events, [])
    }).pipe(
      Effect.provide(
        transport({
          resolve: async () => {
            asked.open()
            await answered.opened
            return ["127.0.0.1"]
          }
        })
      )
    )
  })

  it.scopedLive("while connecting: the half-made connection is destroyed at once", () =>
    Effect.gen(function* () {
      const upstream = yield* Upstream
      // Accepts TCP and never takes part in the TLS handshake.
      const server = createServer()
      const port = yield* listen(server)
      const recording = record(upstream, post(`https://127.0.0.1:${port}`))
      const [socket] = (yield* Effect.promise(() => once(server, "connection"))) as [Socket]
      yield* Effect.promise(() => once(socket, "data"))
      const closed = once(socket, "close")
      socket.on("error", () => {})
      recording.call.abort()
      yield* Effect.promise(() => closed)
      assert.deepStrictEqual(recording.events, [])
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("while waiting for headers: the upstream sees the close", () =>
    Effect.gen(function* () {
      const { fake, upstream } = yield* started
      fake.always(FakeUpstream.hang())
      const recording = record(upstream, post(fake.origin))
      const request = yield* Effect.promise(() => fake.received(1))
      recording.call.abort()
      recording.call.abort()
      yield* Effect.promise(() => request.closed)
      assert.deepStrictEqual(recording.events, [])
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("while streaming: the upstream sees the close and the sink hears nothing more", () =>
    Effect.gen(function* () {
      const { fake, upstream } = yield* started
      fake.always(FakeUpstream.silence(["data: 1\n\n"]))
      const recording = record(upstream, post(fake.origin))
      yield* Effect.promise(() => recording.firstChunk)
      recording.call.abort()
      yield* Effect.promise(() => fake.requests[0]!.closed)
      assert.deepStrictEqual(recording.events, ["headers", "data"])
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("from inside onData, and while paused", () =>
    Effect.gen(function* () {
      const { fake, upstream } = yield* started
      fake.always(FakeUpstream.silence(["data: 1\n\n", "data: 2\n\n"]))
      const inside = record(upstream, post(fake.origin), () => {
        inside.call.abort()
        return true
      })
      yield* Effect.promise(() => inside.firstChunk)
      yield* Effect.promise(() => fake.requests[0]!.closed)
      const paused = record(upstream, post(fake.origin), () => false)
      yield* Effect.promise(() => paused.firstChunk)
      paused.call.abort()
      paused.call.resume()
      yield* Effect.promise(() => fake.requests[1]!.closed)
      assert.deepStrictEqual(inside.events, ["headers", "data"])
      assert.deepStrictEqual(paused.events, ["headers", "data"])
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("after the end it does nothing to the connection, which is used again", () =>
    Effect.gen(function* () {
      const { fake, upstream } = yield* started
      fake.always(FakeUpstream.json({}))
      const first = record(upstream, post(fake.origin))
      yield* Effect.promise(() => first.finished)
      first.call.abort()
      yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
      assert.strictEqual(fake.requests[0]?.clientPort, fake.requests[1]?.clientPort)
    }).pipe(Effect.provide(transport()))
  )
})

describe("failures", () => {
  it.scopedLive("refused", () =>
    Effect.gen(function* () {
      const upstream = yield* Upstream
      const port = yield* Effect.scoped(listen(createServer()))
      const { failure } = yield* Effect.promise(() => record(upstream, post(`http://127.0.0.1:${port}`)).finished)
      assert.strictEqual(failure?.kind, "refused")
      assert.strictEqual(failure?.statusClass, 502)
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("not TLS", () =>
    Effect.gen(function* () {
      const { fake, upstream } = yield* started
      const origin = fake.origin.replace("http:", "https:")
      const { failure } = yield* Effect.promise(() => record(upstream, post(origin)).finished)
      assert.strictEqual(failure?.kind, "tls")
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("a connection not made in time", () => {
    const due: Array<() => void> = []
    const timers = Layer.succeed(Timers, {
      nowMs: () => 0,
      monotonicMs: () => 0,
      after: (_delayMs, run) => {
        due.push(run)
        return { restart: () => {}, cancel: () => {} }
      },
      soon: setImmediate,
      live: () => due.length
    })
    return Effect.gen(function* () {
      const upstream = yield* Upstream
      const server = createServer()
      const port = yield* listen(server)
      const recording = record(upstream, post(`https://127.0.0.1:${port}`))
      const [socket] = (yield* Effect.promise(() => once(server, "connection"))) as [Socket]
      socket.on("error", () => {})
      const closed = once(socket, "close")
      socket.resume()
      for (const run of due) run()
      const { failure } = yield* Effect.promise(() => recording.finished)
      assert.strictEqual(failure?.kind, "connect_timeout")
      assert.strictEqual(failure?.statusClass, 504)
      yield* Effect.promise(() => closed)
    }).pipe(Effect.provide(transport({ timers })))
  })

  const faults: ReadonlyArray<readonly [string, FakeUpstream.Answer, string, string]> = [
    ["reset before headers", FakeUpstream.resetBeforeHeaders(), "reset", ""],
    ["closed before headers", FakeUpstream.closeBeforeHeaders(), "reset", ""],
    ["closed within the headers", FakeUpstream.raw(["HTTP/1.1 200 OK\r\ncontent-"]), "reset", ""],
    ["body shorter than announced", FakeUpstream.truncated("half"), "truncated", "half"],
    ["no last chunk", FakeUpstream.cutOff(["data: 1\n\n"]), "truncated", "data: 1\n\n"],
    [
      "no last chunk on a connection that closes anyway",
      FakeUpstream.raw(["HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"]),
      "truncated",
      "abc"
    ],
    ["not HTTP", FakeUpstream.raw(["SSH-2.0-x\r\n"]), "protocol", ""],
    ["headers without end", FakeUpstream.raw([`HTTP/1.1 200 OK\r\nx: ${"y".repeat(70_000)}`]), "protocol", ""],
    [
      "a body that is not what its encoding says",
      FakeUpstream.text("plain", { headers: { "content-encoding": "gzip" } }),
      "protocol",
      ""
    ],
    ["an unknown encoding", FakeUpstream.text("plain", { headers: { "content-encoding": "rot13" } }), "protocol", ""]
  ]
  for (const [name, answer, kind, body] of faults) {
    it.scopedLive(name, () =>
      Effect.gen(function* () {
        const { fake, upstream } = yield* started
        fake.enqueue(answer)
        const recording = record(upstream, post(fake.origin))
        const result = yield* Effect.promise(() => recording.finished)
        assert.strictEqual(result.failure?.kind, kind)
        assert.strictEqual(result.body, body)
        assert.strictEqual(recording.events.filter((event) => event === "end" || event === "fail").length, 1)
        // The origin is not spoilt for the next call.
        fake.enqueue(FakeUpstream.json({ fine: true }))
        assert.isNull((yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)).failure)
      }).pipe(Effect.provide(transport()))
    )
  }

  it.scopedLive("an encoded body that ends too early", () =>
    Effect.gen(function* () {
      const { fake, upstream } = yield* started
      fake.enqueue(
        FakeUpstream.text(Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), {
          headers: { "content-encoding": "gzip" }
        })
      )
      const { failure } = yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
      assert.strictEqual(failure?.kind, "truncated")
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("reset in the middle of the body", () =>
    Effect.gen(function* () {
      const { fake, upstream } = yield* started
      const latch = FakeUpstream.makeLatch()
      fake.enqueue(FakeUpstream.resetMidBody(["data: 1\n\n", latch]))
      const recording = record(upstream, post(fake.origin))
      yield* Effect.promise(() => recording.firstChunk)
      latch.open()
      assert.strictEqual((yield* Effect.promise(() => recording.finished)).failure?.kind, "reset")
    }).pipe(Effect.provide(transport()))
  )

  const lengthless = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello"

  it.scopedLive("a body without a length ends with the connection", () =>
    Effect.gen(function* () {
      const { fake, upstream } = yield* started
      fake.enqueue(FakeUpstream.raw([lengthless]))
      const result = yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
      assert.deepStrictEqual(result, { status: 200, body: "hello", failure: null })
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("but a reset is not its end", () =>
    Effect.gen(function* () {
      const { fake, upstream } = yield* started
      const latch = FakeUpstream.makeLatch()
      fake.enqueue(FakeUpstream.raw([lengthless, latch], "reset"))
      const recording = record(upstream, post(fake.origin))
      yield* Effect.promise(() => recording.firstChunk)
      latch.open()
      assert.strictEqual((yield* Effect.promise(() => recording.finished)).failure?.kind, "reset")
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("a reset while the body is paused fails the call and nothing else", () =>
    Effect.gen(function* () {
      const { fake, upstream } = yield* started
      const latch = FakeUpstream.makeLatch()
      fake.enqueue(FakeUpstream.raw([lengthless, latch], "reset"))
      const recording = record(upstream, post(fake.origin), () => false)
      yield* Effect.promise(() => recording.firstChunk)
      latch.open()
      assert.strictEqual((yield* Effect.promise(() => recording.finished)).failure?.kind, "reset")
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("an orderly end while the body is paused waits for resume", () =>
    Effect.gen(function* () {
      const { fake, upstream } = yield* started
      fake.enqueue(FakeUpstream.raw([lengthless]))
      const recording = record(upstream, post(fake.origin), () => false)
      yield* Effect.promise(() => recording.firstChunk)
      yield* Effect.promise(() => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve))))
      recording.call.resume()
      assert.isNull((yield* Effect.promise(() => recording.finished)).failure)
    }).pipe(Effect.provide(transport()))
  )

  const big = "x".repeat(1_000_000)
  const closing: ReadonlyArray<readonly [string, FakeUpstream.Answer]> = [
    ["without a length", FakeUpstream.raw(["HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", big])],
    [
      "with a length",
      FakeUpstream.raw([`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${big.length}\r\n\r\n`, big])
    ],
    ["in chunks", FakeUpstream.sse([big], { headers: { connection: "close" } })]
  ]
  for (const [name, answer] of closing) {
    for (const when of ["microtask", "later"] as const) {
      it.scopedLive(`a slow reader of a closing connection gets everything: ${name}, resuming ${when}`, () =>
        Effect.gen(function* () {
          const { fake, upstream } = yield* started
          fake.always(answer)
          const recording = record(upstream, post(fake.origin), () => {
            const resume = () => recording.call.resume()
            if (when === "later") setImmediate(resume)
            else queueMicrotask(resume)
            return false
          })
          const result = yield* Effect.promise(() => recording.finished)
          assert.isNull(result.failure)
          assert.strictEqual(result.body.length, big.length)
        }).pipe(Effect.provide(transport()))
      )
    }
  }

  it.scopedLive("a kept connection that the upstream closes on the next request fails as reset before any byte", () =>
    Effect.gen(function* () {
      const { fake, upstream } = yield* started
      fake.enqueue(FakeUpstream.json({}), FakeUpstream.closeBeforeHeaders(), FakeUpstream.json({}))
      yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
      const raced = record(upstream, post(fake.origin))
      assert.strictEqual((yield* Effect.promise(() => raced.finished)).failure?.kind, "reset")
      assert.deepStrictEqual(raced.events, ["fail"])
      assert.strictEqual(fake.requests[0]?.clientPort, fake.requests[1]?.clientPort)
      // So the caller may send it again.
      assert.isNull((yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)).failure)
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("answers cut at every byte still arrive whole", () =>
    Effect.gen(function* () {
      const { fake, upstream } = yield* started
      const body = FakeUpstream.chatStream(["größe"]).join("")
      fake.enqueue(FakeUpstream.byteByByte(body))
      const result = yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
      assert.strictEqual(result.body, body)
    }).pipe(Effect.provide(transport()))
  )
})
