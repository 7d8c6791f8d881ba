/** How responses and sockets end: cancelled, left, read slowly, drained. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import * as Ws from "./support.ts"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
  return { gateway, upstream }
})

/** A stream that has begun and waits. */
const held = (text: string) => {
  const latch = Fake.makeLatch()
  const [head, first, ...rest] = Fake.chatStream([text, "!"])
  return { latch, answer: Fake.sse([head!, first!, latch, ...rest]) }
}

/** Reads until the answer's text has begun. */
const begun = async (client: Ws.Client): Promise<ReadonlyArray<Ws.Frame>> => {
  const frames: Array<Ws.Frame> = []
  do frames.push(await client.next())
  while (frames.at(-1).type !== "response.output_text.delta")
  return frames
}

describe("the end of a response", () => {
  for (const type of ["response.cancel", "cancel"]) {
    it.scopedLive(`'${type}' closes the upstream call, and the lane is free`, () =>
      Effect.gen(function* () {
        const { gateway, upstream } = yield* setUp
        upstream.enqueue(held("never ends").answer)
        upstream.always(Fake.sse(Fake.chatStream(["next"])))
        const client = yield* Ws.open(gateway)
        yield* Effect.promise(async () => {
          client.send(Ws.create({ stream_id: "a" }))
          const [first] = await begun(client)
          client.send(Ws.create({ stream_id: "a", input: "waiting" }))
          client.send({ type, stream_id: "a" })
          const cancelled = await client.next()
          assert.deepInclude(cancelled, { type: "error", status: 499, code: "response_cancelled", stream_id: "a" })
          await upstream.requests[0]!.closed
          const row = await gateway.usageRow(first.headers["x-gateway-request-id"])
          assert.deepInclude(row, { outcome: "aborted", status: 499 })
          assert.include(JSON.stringify((await client.turn()).at(-1)), "next")
        })
      })
    )
  }

  it.scopedLive("a client that vanishes ends the upstream calls of all its lanes", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp
      upstream.always(held("never ends").answer)
      const client = yield* Ws.open(gateway)
      yield* Effect.promise(async () => {
        client.send(Ws.create({ stream_id: "a" }))
        client.send(Ws.create({ stream_id: "b" }))
        client.send(Ws.create({ stream_id: "b", input: "never starts" }))
        await upstream.received(2)
        const [first] = await begun(client)
        client.socket.terminate()
        await Promise.all(upstream.requests.map(({ closed }) => closed))
        const row = await gateway.usageRow(first.headers["x-gateway-request-id"])
        assert.strictEqual(row.outcome, "aborted")
        assert.strictEqual(upstream.requests.length, 2)
      })
    })
  )

  it.scopedLive("lanes and waiting requests are bounded", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp
      const { answer, latch } = held("held")
      upstream.always(answer)
      const client = yield* Ws.open(gateway)
      yield* Effect.promise(async () => {
        for (let lane = 0; lane < 8; lane += 1) client.send(Ws.create({ stream_id: `lane-${lane}` }))
        await upstream.received(8)
        client.send(Ws.create({ stream_id: "one too many" }))
        for (let waiting = 0; waiting < 17; waiting += 1) client.send(Ws.create({ stream_id: "lane-0" }))
        const errors: Array<Ws.Frame> = []
        while (errors.length < 2) {
          const frame = await client.next()
          if (frame.type === "error") errors.push(frame)
        }
        assert.deepInclude(errors[0], { status: 429, code: "too_many_streams", stream_id: "one too many" })
        assert.deepInclude(errors[1], { status: 429, code: "too_many_requests", stream_id: "lane-0" })
        latch.open()
        let completed = 0
        while (completed < 24) {
          const { type } = await client.next()
          if (type === "response.completed") completed += 1
          else assert.notStrictEqual(type, "error")
        }
        assert.strictEqual(upstream.requests.length, 24)
      })
    })
  )

  it.scopedLive("a slow reader gets everything, in order", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp
      const texts = Array.from({ length: 100 }, (_, index) => `${index}:${"x".repeat(50_000)};`)
      upstream.always(Fake.sse(Fake.chatStream(texts)))
      const client = yield* Ws.open(gateway)
      yield* Effect.promise(async () => {
        client.send(Ws.create())
        await begun(client)
        client.socket.pause()
        // The gateway answers others meanwhile.
        assert.strictEqual((await fetch(`${gateway.url}/api/health/ping`)).status, 200)
        client.socket.resume()
        let last = await client.next()
        while (!Ws.ends(last)) last = await client.next()
        assert.strictEqual(last.type, "response.completed")
        assert.strictEqual(last.response.output[0].content[0].text, texts.join(""))
      })
    })
  )
})

describe("a gateway that stops", () => {
  it.scopedLive("closes idle sockets at once and lets a running response finish", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      const scope = yield* Scope.make()
      const gateway = yield* Scope.extend(TestGateway.start({ drainMs: 10_000 }), scope)
      yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
      const { answer, latch } = held("last words")
      upstream.always(answer)
      const idle = yield* Ws.open(gateway)
      const busy = yield* Ws.open(gateway)
      busy.send(Ws.create())
      yield* Effect.promise(() => begun(busy))
      busy.send(Ws.create({ input: "too late" }))
      const stopping = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* Effect.promise(async () => {
        assert.strictEqual((await idle.closed).code, 1001)
        const late = await busy.next()
        assert.deepInclude(late, { type: "error", status: 503, code: "server_shutting_down" })
        latch.open()
        assert.strictEqual((await busy.turn()).at(-1).type, "response.completed")
        assert.strictEqual((await busy.closed).code, 1001)
      })
      yield* Fiber.join(stopping)
    })
  )

  it.scopedLive("ends what is not over when the time is up", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      const scope = yield* Scope.make()
      const gateway = yield* Scope.extend(TestGateway.start({ drainMs: 0 }), scope)
      yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
      upstream.always(held("never ends").answer)
      const client = yield* Ws.open(gateway)
      client.send(Ws.create())
      yield* Effect.promise(() => begun(client))
      yield* Scope.close(scope, Exit.void)
      const { code } = yield* Effect.promise(() => client.closed)
      assert.strictEqual(code, 1001)
      yield* Effect.promise(() => upstream.requests[0]!.closed)
    })
  )
})
