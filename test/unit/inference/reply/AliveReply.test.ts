/** What a client that waits for a stream gets while nothing is said, in each wire. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { AliveReply } from "../../../../src/plane/reply/AliveReply.ts"
import { codecs } from "../../../../src/wire/Codec.ts"
import { geminiArray } from "../../../../src/wire/gemini/Codec.ts"
import type { WireCodec } from "../../../../src/wire/WireCodec.ts"
import { makeTestReply } from "../../../support/Replies.ts"
import * as TestTimers from "../../../support/TestTimers.ts"

const heartbeatMs = 15_000

const setUp = (codec: WireCodec = codecs.chat, startedMs?: number) =>
  Effect.map(TestTimers.make, (timers) => {
    const client = makeTestReply()
    const early = (): Array<string> => ["X-Gateway-Request-Id", "r", "Content-Type", codec.streamContentType]
    const options = { codec, heartbeatMs, startedMs: startedMs ?? timers.monotonicMs(), earlyHeaders: early, timers }
    return { client, reply: new AliveReply(client, options), timers }
  })

const headers = (codec: WireCodec): Array<string> => [
  "X-Gateway-Request-Id",
  "r",
  "Content-Type",
  codec.streamContentType,
  "X-Gateway-Provider",
  "up"
]

const wires = { ...codecs, geminiArray }
const speaking = (["chat", "messages", "responses", "gemini", "geminiArray"] as const).map(
  (name) => [name, wires[name]] as const
)

describe("a silent stream", () => {
  for (const [name, codec] of speaking) {
    it.effect(`of ${name} sends its head and a sign of life, again and again, also later`, () =>
      Effect.gen(function* () {
        const { client, reply } = yield* setUp(codec)
        yield* TestClock.adjust(heartbeatMs - 1)
        assert.isNull(client.status())
        yield* TestClock.adjust(1)
        assert.strictEqual(client.status(), 200)
        assert.deepStrictEqual(client.chunks(), [codec.heartbeat])
        yield* TestClock.adjust(2 * heartbeatMs)
        assert.deepStrictEqual(client.chunks(), [codec.heartbeat, codec.heartbeat, codec.heartbeat])
        reply.head(200, headers(codec))
        reply.write("data: {}\n\n")
        const spoken = client.chunks().length
        yield* TestClock.adjust(heartbeatMs)
        assert.deepStrictEqual(client.chunks().slice(spoken), [codec.heartbeat])
      })
    )

    it.effect(`of ${name} tells late what its head could not`, () =>
      Effect.gen(function* () {
        const { client, reply } = yield* setUp(codec)
        yield* TestClock.adjust(heartbeatMs)
        assert.notInclude(client.headers(), "X-Gateway-Provider")
        reply.head(200, headers(codec))
        reply.write("data: {}\n\n")
        reply.end("data: end\n\n", () => ["X-Cost", "0"])
        assert.deepStrictEqual(client.trailers(), ["X-Gateway-Provider", "up", "X-Cost", "0"])
        const isTold = client.text().includes(": X-Gateway-Provider: up\n\ndata: {}\n\n")
        assert.strictEqual(isTold, codec.heartbeat.trim() !== "")
        assert.notInclude(client.text(), ": X-Gateway-Request-Id")
      })
    )

    it.effect(`of ${name} tells a failure as the error event of its wire`, () =>
      Effect.gen(function* () {
        const { client, reply } = yield* setUp(codec)
        yield* TestClock.adjust(heartbeatMs)
        const body = { error: { message: "All targets failed.", type: "server_error", code: "upstream_error" } }
        reply.head(502, ["Content-Type", "application/json", "Content-Length", "9"])
        reply.end(JSON.stringify(body))
        const rest = client.text().slice(codec.heartbeat.length)
        assert.strictEqual(rest, codec.errorBodyInStream?.(body))
        assert.include(rest, "All targets failed.")
        assert.strictEqual(client.ending(), "ended")
        if (codec === geminiArray) assert.deepStrictEqual(JSON.parse(client.text()), [body])
      })
    )
  }

  it.effect("is measured from the last byte, and from the arrival of the request", () =>
    Effect.gen(function* () {
      const { client, reply } = yield* setUp()
      reply.head(200, headers(codecs.chat))
      yield* TestClock.adjust(heartbeatMs - 1_000)
      reply.write("data: {}\n\n")
      yield* TestClock.adjust(heartbeatMs - 1_000)
      assert.deepStrictEqual(client.chunks(), ["data: {}\n\n"])
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(client.chunks(), ["data: {}\n\n", codecs.chat.heartbeat])
      const late = yield* setUp(codecs.chat, 2 * (heartbeatMs - 500) - heartbeatMs + 500)
      yield* TestClock.adjust(heartbeatMs)
      assert.strictEqual(late.client.status(), 200)
    })
  )

  it.effect("is not broken into in the middle of an event", () =>
    Effect.gen(function* () {
      const { client, reply } = yield* setUp()
      reply.head(200, headers(codecs.chat))
      reply.write('data: {"a"')
      yield* TestClock.adjust(3 * heartbeatMs)
      assert.deepStrictEqual(client.chunks(), ['data: {"a"'])
      reply.write(":1}\n")
      reply.write(Buffer.from("\r\n"))
      yield* TestClock.adjust(heartbeatMs)
      assert.strictEqual(client.text(), `data: {"a":1}\n\r\n${codecs.chat.heartbeat}`)
    })
  )

  it.effect("sends no more to a client that takes nothing, until it has", () =>
    Effect.gen(function* () {
      const { client, reply } = yield* setUp()
      reply.head(200, headers(codecs.chat))
      client.block()
      assert.isFalse(reply.write("data: {}\n\n"))
      yield* TestClock.adjust(3 * heartbeatMs)
      assert.deepStrictEqual(client.chunks(), ["data: {}\n\n"])
      client.drain()
      yield* TestClock.adjust(heartbeatMs)
      assert.lengthOf(client.chunks(), 2)
    })
  )

  it.effect("leaves no timer behind, however it ends", () =>
    Effect.gen(function* () {
      const ends: ReadonlyArray<(made: Effect.Effect.Success<ReturnType<typeof setUp>>) => void> = [
        ({ reply }) => reply.end(""),
        ({ reply }) => reply.cut(),
        ({ client }) => client.leave(),
        ({ reply }) => reply.head(400, ["Content-Type", "application/json"])
      ]
      for (const end of ends) {
        const made = yield* setUp()
        if (ends.indexOf(end) < 2) made.reply.head(200, headers(codecs.chat))
        end(made)
        assert.strictEqual(made.timers.live(), 0)
      }
    })
  )

  it.effect("of an error that comes in time keeps its status and its body", () =>
    Effect.gen(function* () {
      const { client, reply } = yield* setUp()
      reply.head(503, ["Content-Type", "application/json"])
      reply.end("{}")
      assert.deepStrictEqual([client.status(), client.text()], [503, "{}"])
    })
  )
})
