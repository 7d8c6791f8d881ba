import { assert, describe, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { makeOutlet } from "../../../src/agents/playground/Outlet.ts"

describe("an outlet", () => {
  it.effect("gives all that was written, and ends", () =>
    Effect.gen(function* () {
      const outlet = makeOutlet()
      outlet.push("a")
      const reading = yield* Effect.fork(Stream.runCollect(outlet.stream))
      yield* Effect.yieldNow()
      outlet.push("b")
      yield* Effect.yieldNow()
      outlet.push("c")
      outlet.end()
      outlet.push("too late")
      assert.deepEqual(Chunk.toReadonlyArray(yield* reading), ["a", "b", "c"])
    })
  )

  it.effect("holds writers up while its reader is slow", () =>
    Effect.gen(function* () {
      const outlet = makeOutlet(10)
      let drained = 0
      const forget = outlet.onDrain(() => {
        drained += 1
      })
      assert.isTrue(outlet.push("12345"))
      assert.isFalse(outlet.push("67890"))
      assert.isFalse(outlet.push("x"))
      yield* Stream.runHead(outlet.stream)
      assert.strictEqual(drained, 1)
      assert.isTrue(outlet.push("y"))
      forget()
      outlet.push("1234567890")
      yield* Stream.runHead(outlet.stream)
      assert.strictEqual(drained, 1)
    })
  )
})
