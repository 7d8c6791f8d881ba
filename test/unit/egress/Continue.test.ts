/** An unrequested `100 Continue`. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Upstream } from "../../../src/net/egress/Upstream.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import { post, record, transport } from "./harness.ts"

const interim = "HTTP/1.1 100 Continue\r\n\r\n"
const answer = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"

const fronts = {
  one: interim,
  two: interim + interim,
  "one with a header": "HTTP/1.1 100 Continue\r\nx-a: b\r\n\r\n",
  "one before other hints": `${interim}HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n`
}

describe("100 Continue", () => {
  for (const [name, front] of Object.entries(fronts)) {
    it.scopedLive(`is taken off the front of an answer: ${name}`, () =>
      Effect.gen(function* () {
        const fake = yield* FakeUpstream.start
        const upstream = yield* Upstream
        fake.enqueue(FakeUpstream.raw([front + answer]))
        const read = yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
        assert.deepStrictEqual(read, { status: 200, body: "hello", failure: null })
      }).pipe(Effect.provide(transport()))
    )
  }

  it.scopedLive("also where it comes byte by byte", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      fake.always(async (response) => {
        const { socket } = response
        for (const byte of interim + answer) {
          await new Promise<void>((resolve) => socket?.write(byte, () => resolve()))
          await new Promise((resolve) => setImmediate(resolve))
        }
        response.detachSocket(socket ?? assert.fail("no socket"))
      })
      const first = yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
      assert.deepStrictEqual(first, { status: 200, body: "hello", failure: null })
    }).pipe(Effect.provide(transport()))
  )

  it.scopedLive("alone it is no answer", () =>
    Effect.gen(function* () {
      const fake = yield* FakeUpstream.start
      const upstream = yield* Upstream
      fake.enqueue(FakeUpstream.raw([interim]))
      const read = yield* Effect.promise(() => record(upstream, post(fake.origin)).finished)
      assert.isNotNull(read.failure)
    }).pipe(Effect.provide(transport()))
  )
})
