import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { createServer, type IncomingMessage, request } from "node:http"
import type { AddressInfo } from "node:net"
import { PluginFailed } from "../../../../../src/contract/domain/Errors.ts"
import { NodeReply } from "../../../../../src/entry/listening/NodeReply.ts"
import type { OpenStreams } from "../../../../../src/entry/listening/OpenStreams.ts"
import {
  HookedReply,
  type HookedReplyOptions,
  maxAnswerBytes
} from "../../../../../src/plane/features/plugins/HookedReply.ts"
import { Room } from "../../../../../src/plane/reply/HeldChunks.ts"
import type { Exchange } from "../../../../../src/plane/request/Exchange.ts"
import { codecs } from "../../../../../src/wire/Codec.ts"
import { makeTestReply } from "../../../../support/Replies.ts"

const heads = (): Array<string> => ["Content-Type", "text/event-stream"]

const setUp = (options: Partial<HookedReplyOptions> = {}) =>
  Effect.sync(() => {
    const client = makeTestReply()
    const room = new Room(64 * 1_048_576)
    const exchange = { codec: codecs.chat, wire: "chat", requestId: "r", reply: client } as unknown as Exchange
    const hooked = new HookedReply(exchange, {
      isStream: true,
      holds: true,
      isGuarded: false,
      room,
      marked: (headers) => [...headers, "X-Gateway-Plugins", "a"],
      ...options
    })
    return { client, hooked, room }
  })

describe("a stream that is held back", () => {
  it.effect("sends nothing, and then what it is concluded with", () =>
    Effect.gen(function* () {
      const { client, hooked, room } = yield* setUp()
      const { reply } = hooked
      reply.head(200, heads())
      assert.isTrue(reply.write("data: one\n\n"))
      assert.isNull(client.status())
      assert.strictEqual(hooked.soFar()?.toString(), "data: one\n\n")
      hooked.conclude(Buffer.from("data: two\n\n"))
      reply.end("data: end\n\n")
      assert.strictEqual(client.text(), "data: two\n\n")
      assert.strictEqual(client.ending(), "ended")
      assert.strictEqual(room.bytes, 0)
    })
  )

  it.effect("names the plugins where its head was not sent before", () =>
    Effect.gen(function* () {
      const { client, hooked } = yield* setUp()
      hooked.reply.head(200, heads())
      hooked.conclude(Buffer.from("data: two\n\n"))
      hooked.reply.end("")
      assert.includeMembers([...client.headers()], ["X-Gateway-Plugins", "a"])
    })
  )

  it.effect("names them in a trailer where its head was sent before", () =>
    Effect.gen(function* () {
      const named: Array<string> = []
      const { client, hooked } = yield* setUp({ marked: (headers) => [...headers, ...named] })
      hooked.reply.head(200, heads())
      hooked.release()
      assert.notInclude(client.headers(), "X-Gateway-Plugins")
      named.push("X-Gateway-Plugins", "a")
      hooked.conclude(Buffer.from("data: two\n\n"))
      hooked.reply.end("", () => ["X-Cost", "0"])
      assert.deepStrictEqual(client.trailers(), ["X-Cost", "0", "X-Gateway-Plugins", "a"])
    })
  )

  it.effect("has no such trailer where all stands in its head, or nothing was changed", () =>
    Effect.gen(function* () {
      const { client, hooked } = yield* setUp()
      hooked.reply.head(200, heads())
      hooked.release()
      hooked.reply.end("")
      assert.includeMembers([...client.headers()], ["X-Gateway-Plugins", "a"])
      assert.isNull(client.trailers())
      const other = yield* setUp({ marked: (headers) => headers })
      other.hooked.reply.head(200, heads())
      other.hooked.release()
      other.hooked.reply.end("", () => ["X-Cost", "0"])
      assert.deepStrictEqual(other.client.trailers(), ["X-Cost", "0"])
    })
  )

  it.scoped("reaches a client over a socket with its trailer, if that takes some", () =>
    Effect.gen(function* () {
      const named: Array<string> = []
      const begun = yield* Deferred.make<void>()
      const waiting: Array<HookedReply> = []
      const streams = { opened: () => {}, closed: () => {} } as unknown as typeof OpenStreams.Service
      const server = createServer((_, response) => {
        const exchange = { codec: codecs.chat, wire: "chat", requestId: "r", reply: new NodeReply(response, streams) }
        const hooked = new HookedReply(exchange as unknown as Exchange, {
          isStream: true,
          holds: true,
          isGuarded: false,
          room: new Room(1_048_576),
          marked: (headers) => [...headers, ...named]
        })
        waiting.push(hooked)
        hooked.reply.head(200, heads())
        Deferred.unsafeDone(begun, Effect.void)
      })
      yield* Effect.acquireRelease(
        Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
      )
      const { port } = server.address() as AddressInfo
      const answered = yield* Effect.fork(
        Effect.async<IncomingMessage>((resume) => {
          const asked = request({ port, host: "127.0.0.1", agent: false, headers: { te: "trailers" } }, (response) => {
            response.resume()
            response.on("end", () => resume(Effect.succeed(response)))
          })
          asked.end()
        })
      )
      yield* Deferred.await(begun)
      waiting[0]?.release()
      named.push("X-Gateway-Plugins", "a")
      waiting[0]?.conclude(Buffer.from("data: two\n\n"))
      waiting[0]?.reply.end("")
      const { headers, trailers } = yield* Fiber.join(answered)
      assert.isUndefined(headers["x-gateway-plugins"])
      assert.include(headers["trailer"], "X-Gateway-Plugins")
      assert.deepStrictEqual({ ...trailers }, { "x-gateway-plugins": "a" })
    })
  )

  it.effect("goes on as it comes where it is too large", () =>
    Effect.gen(function* () {
      const { client, hooked, room } = yield* setUp()
      const { reply } = hooked
      const half = Buffer.alloc(maxAnswerBytes / 2, "x")
      reply.head(200, heads())
      reply.write(half)
      assert.isNull(client.status())
      client.block()
      assert.isFalse(reply.write(half))
      assert.strictEqual(client.text().length, maxAnswerBytes)
      client.drain()
      reply.end("end")
      assert.strictEqual(client.text().length, maxAnswerBytes + 3)
      assert.isNull(hooked.soFar())
      assert.strictEqual(room.bytes, 0)
    })
  )

  it.effect("is refused where it is too large, and no answer may pass unseen", () =>
    Effect.gen(function* () {
      const { client, hooked, room } = yield* setUp({ isGuarded: true })
      const { reply } = hooked
      let hasLeft = false
      reply.onClose(() => {
        hasLeft = true
      })
      reply.head(200, heads())
      reply.write(Buffer.alloc(maxAnswerBytes + 1, "x"))
      assert.isTrue(hasLeft)
      assert.isTrue(reply.isClosed())
      assert.isTrue(hooked.isRefused())
      reply.write("more")
      reply.end("end")
      hooked.refuse(new PluginFailed({ plugin: "a", model: "m" }))
      assert.strictEqual(client.status(), 503)
      assert.notInclude(client.text(), "xx")
      assert.include(client.text(), "plugin_failed")
      assert.strictEqual(room.bytes, 0)
    })
  )

  it.effect("lets an error through, and gives its memory back when the client leaves", () =>
    Effect.gen(function* () {
      const { client, hooked } = yield* setUp()
      hooked.reply.head(503, heads())
      hooked.reply.end("no")
      assert.strictEqual(client.text(), "no")
      const other = yield* setUp()
      other.hooked.reply.head(200, heads())
      other.hooked.reply.write("data: one\n\n")
      assert.isAbove(other.room.bytes, 0)
      other.client.leave()
      assert.strictEqual(other.room.bytes, 0)
    })
  )
})
