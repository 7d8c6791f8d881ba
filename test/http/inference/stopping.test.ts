/** The end of the drain: running requests end with an error of their own wire and are recorded; no target is penalised or called. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { connect } from "node:net"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import * as Ws from "../ws/support.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const says = "server_shutting_down|gateway is stopping"

const requestIn: Readonly<Record<WireName, (stream: boolean) => readonly [path: string, body: object]>> = {
  chat: (stream) => ["/v1/chat/completions", { model: "pair", stream, messages: [{ role: "user", content: "Hi" }] }],
  messages: (stream) => [
    "/v1/messages",
    { model: "pair", stream, max_tokens: 20, messages: [{ role: "user", content: "Hi" }] }
  ],
  responses: (stream) => ["/v1/responses", { model: "pair", stream, input: "Hi" }],
  gemini: (stream) => [
    `/v1beta/models/pair:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }
  ],
  ollama: (stream) => ["/api/chat", { model: "pair", stream, messages: [{ role: "user", content: "Hi" }] }]
}
const wires = Object.keys(requestIn) as ReadonlyArray<WireName>

/** Good ends, in every wire. */
const goodEnd = /\[DONE\]|message_stop|response\.completed|"done":true|"finishReason":/

/** A gateway with two targets behind one name, which has no time to drain; and the same one started again. */
const setUp = (more: Readonly<Record<string, unknown>> = {}, flags: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryFolder
    const scope = yield* Scope.make()
    const environment = new Map(flags.map((flag) => [flag, "true"]))
    const gateway = yield* Scope.extend(TestGateway.start({ dataDir, drainMs: 0, environment }), scope)
    const first = yield* Fake.start
    const second = yield* Fake.start
    second.always(Fake.json(Fake.chatCompletion()))
    yield* Effect.promise(async () => {
      await gateway.connect("first", first, "chat", more)
      await gateway.connect("second", second, "chat")
      await gateway.combo("pair", "first/m", "second/m")
    })
    return { gateway, first, second, stop: Scope.close(scope, Exit.void), again: TestGateway.start({ dataDir }) }
  })

const unpunished = async (gateway: TestGateway.TestGateway): Promise<void> => {
  const { connections } = await gateway.manage("GET", "/api/providers")
  for (const { backoffLevel, lastError, provider, rateLimitedUntil } of connections) {
    assert.deepStrictEqual([provider, rateLimitedUntil, lastError, backoffLevel], [provider, null, null, 0])
  }
  const { breakers } = await gateway.manage("GET", "/api/resilience/breakers")
  for (const { failures } of breakers) assert.strictEqual(failures, 0)
}

describe("the end of the drain", () => {
  for (const wire of wires) {
    it.scopedLive(
      `${wire}: a stream ends with an error event, is billed for what was delivered, and is not asked again`,
      () =>
        Effect.gen(function* () {
          const { again, first, gateway, second, stop } = yield* setUp()
          const [head = "", word = ""] = Fake.chatStream(["these words were delivered", "!"])
          first.always(Fake.sse([head, word, Fake.makeLatch()]))
          const response = yield* Effect.promise(() => gateway.post(...requestIn[wire](true)))
          assert.strictEqual(response.status, 200)
          const reading = yield* Effect.fork(Effect.promise(() => response.text()))
          yield* stop
          const text = yield* Fiber.join(reading)
          assert.include(text, "these words were delivered")
          assert.match(text, new RegExp(says))
          assert.notMatch(text, goodEnd)
          yield* Effect.promise(() => first.requests[0]!.closed)
          assert.strictEqual(second.requests.length, 0)
          const later = yield* again
          yield* Effect.promise(async () => {
            const row = await later.usageRow(response.headers.get("x-gateway-request-id") ?? "")
            assert.deepInclude(row, { outcome: "failed", provider: "first", attempts: 1, usageSource: "estimated" })
            assert.isAbove(row.tokens.out, 0)
            await unpunished(later)
          })
        })
    )

    it.scopedLive(`${wire}: a whole answer under way is a 503 that says when to come back`, () =>
      Effect.gen(function* () {
        const { again, first, gateway, second, stop } = yield* setUp()
        first.always(Fake.hang())
        const asking = yield* Effect.fork(Effect.promise(() => gateway.post(...requestIn[wire](false))))
        yield* Effect.promise(() => first.received(1))
        yield* stop
        const response = yield* Fiber.join(asking)
        assert.strictEqual(response.status, 503)
        assert.strictEqual(response.headers.get("retry-after"), "5")
        assert.match(yield* Effect.promise(() => response.text()), new RegExp(says))
        assert.strictEqual(second.requests.length, 0)
        const later = yield* again
        yield* Effect.promise(async () => {
          const row = await later.usageRow(response.headers.get("x-gateway-request-id") ?? "")
          assert.deepInclude(row, { outcome: "failed", status: 503 })
          await unpunished(later)
        })
      })
    )
  }

  it.scopedLive("a stream that another target would go on with is not handed on", () =>
    Effect.gen(function* () {
      const { first, gateway, second, stop } = yield* setUp({}, ["STREAM_RECOVERY_MIDSTREAM_ENABLED"])
      const [head = "", word = ""] = Fake.chatStream(["delivered", "!"])
      first.always(Fake.sse([head, word, Fake.makeLatch()]))
      const response = yield* Effect.promise(() => gateway.post(...requestIn.chat(true)))
      const reading = yield* Effect.fork(Effect.promise(() => response.text()))
      yield* stop
      assert.match(yield* Fiber.join(reading), new RegExp(says))
      assert.strictEqual(second.requests.length, 0)
    })
  )

  it.scopedLive("a request that waits before the next target is a 503, and asks it no more", () =>
    Effect.gen(function* () {
      const { first, gateway, second, stop } = yield* setUp()
      first.always(Fake.json({ error: { message: "no" } }, { status: 500 }))
      yield* Effect.promise(() =>
        gateway.manage("POST", "/api/combos", {
          name: "slow",
          strategy: "priority",
          targets: [{ model: "first/m" }, { model: "second/m" }],
          config: { maxRetries: 0, fallbackDelayMs: 60_000 }
        })
      )
      const [path, body] = requestIn.chat(false)
      const asking = yield* Effect.fork(Effect.promise(() => gateway.post(path, { ...body, model: "slow" })))
      yield* Effect.promise(async () => {
        for (let failures = 0; failures === 0;) {
          const { breakers } = await gateway.manage("GET", "/api/resilience/breakers")
          failures = Math.max(0, ...breakers.map((breaker: { failures: number }) => breaker.failures))
        }
      })
      yield* stop
      const response = yield* Fiber.join(asking)
      assert.deepStrictEqual([response.status, response.headers.get("retry-after")], [503, "5"])
      assert.match(yield* Effect.promise(() => response.text()), new RegExp(says))
      assert.strictEqual(second.requests.length, 0)
    })
  )

  it.scopedLive("a request that waits for a place is a 503 too, and takes no other", () =>
    Effect.gen(function* () {
      const { first, gateway, second, stop } = yield* setUp({ max_concurrent: 1 })
      first.always(Fake.hang())
      const body = { model: "first/m", messages: [{ role: "user", content: "Hi" }] }
      const ask = Effect.fork(Effect.promise(() => gateway.post("/v1/chat/completions", body)))
      const asking = [yield* ask, yield* ask]
      yield* Effect.promise(async () => {
        await first.received(1)
        for (let inFlight = ""; inFlight !== "2";) {
          const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
          inFlight = /^gateway_requests_in_flight(?:\{[^}]*\})? (\d+)$/m.exec(metrics)?.[1] ?? ""
        }
      })
      yield* stop
      for (const each of asking) {
        const response = yield* Fiber.join(each)
        assert.deepStrictEqual([response.status, response.headers.get("retry-after")], [503, "5"])
      }
      assert.strictEqual(first.requests.length, 1)
      assert.strictEqual(second.requests.length, 0)
    })
  )

  it.scopedLive("a client that is still sending its request is told", () =>
    Effect.gen(function* () {
      const { gateway, stop } = yield* setUp()
      const { hostname, port } = new URL(gateway.url)
      const socket = connect(Number(port), hostname)
      let text = ""
      const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()))
      socket.on("data", (chunk) => (text += chunk.toString()))
      // The interim answer says that the gateway has begun to read.
      const reading = new Promise<void>((resolve) => socket.once("data", () => resolve()))
      socket.write(
        `POST /v1/messages HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n`
      )
      yield* Effect.promise(() => reading)
      yield* stop
      yield* Effect.promise(() => closed)
      assert.match(text, /HTTP\/1\.1 503 /)
      assert.match(text, /retry-after: 5/i)
      assert.include(text, '"type":"error"')
    })
  )

  it.scopedLive("over a socket the stream ends with an error frame, and the socket with 1001", () =>
    Effect.gen(function* () {
      const { again, first, gateway, second, stop } = yield* setUp()
      const [head = "", word = ""] = Fake.chatStream(["delivered", "!"])
      first.always(Fake.sse([head, word, Fake.makeLatch()]))
      const client = yield* Ws.open(gateway)
      client.send(Ws.create({ model: "pair" }))
      const began = yield* Effect.promise(() => client.next())
      yield* Effect.promise(async () => {
        while ((await client.next()).type !== "response.output_text.delta");
      })
      yield* stop
      const last = yield* Effect.promise(async () => (await client.turn()).at(-1))
      assert.match(JSON.stringify(last), new RegExp(says))
      assert.notStrictEqual(last.type, "response.completed")
      assert.strictEqual((yield* Effect.promise(() => client.closed)).code, 1001)
      assert.strictEqual(second.requests.length, 0)
      const later = yield* again
      const row = yield* Effect.promise(() => later.usageRow(began.headers["x-gateway-request-id"]))
      assert.strictEqual(row.outcome, "failed")
      assert.isAbove(row.tokens.out, 0)
    })
  )
})
