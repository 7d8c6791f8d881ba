import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { connect } from "node:net"
import { fillSocketMark, socketMark } from "../../../src/net/egress/SocketMark.ts"
import { Upstream } from "../../../src/net/egress/Upstream.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import { post, record, transport } from "./harness.ts"

/** Fills the place with what remembers the addresses it was asked for. */
const filled = (make: (address: string, port: number) => ReturnType<typeof connect>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const asked: Array<string> = []
      const empty = fillSocketMark((address, port) => {
        asked.push(address)
        return make(address, port)
      })
      return { asked, empty }
    }),
    ({ empty }) => Effect.sync(empty)
  )

const plain = (host: string, port: number) => connect({ host, port })

describe("SocketMark", () => {
  it.scopedLive("has sockets made another way for as long as the place is filled", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      fake.always(FakeUpstream.json({}))
      const { asked, empty } = yield* filled(plain)
      const marked = yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
      assert.strictEqual(marked.status, 200)
      assert.deepStrictEqual(asked, ["127.0.0.1"])
      empty()
      assert.isNull(socketMark())
      upstream.closeOrigin(fake.origin)
      yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
      assert.lengthOf(asked, 1)
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("tries the addresses of a name one after the other", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      fake.always(FakeUpstream.json({}))
      const { asked } = yield* filled(plain)
      const origin = `http://provider.example:${fake.port}`
      const answer = yield* Effect.promise(() => record(upstream, post(origin)).finished)
      assert.strictEqual(answer.status, 200)
      assert.deepStrictEqual(asked, ["127.0.0.2", "127.0.0.1"])
    }).pipe(Effect.provide(transport({ resolve: () => Promise.resolve(["127.0.0.2", "127.0.0.1"]) })))
  )

  it.scopedLive("fails the call as it would without a mark", () =>
    Effect.gen(function* () {
      const upstream = yield* Upstream
      const refusing = yield* filled(plain)
      const refused = yield* Effect.promise(() => record(upstream, post("http://127.0.0.1:1")).finished)
      assert.strictEqual(refused.failure?.kind, "refused")
      refusing.empty()
      yield* filled(() => {
        throw Object.assign(new Error("too many"), { code: "EMFILE" })
      })
      const none = yield* Effect.promise(() => record(upstream, post("http://127.0.0.1:2")).finished)
      assert.strictEqual(none.failure?.kind, "other")
    }).pipe(Effect.provide(transport()))
  )
})
