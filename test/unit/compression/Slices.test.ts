import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { compress, compressInSlices, type CompressOptions } from "../../../src/plane/compression/Compressor.ts"
import { defaultCaveman, cavemanEngine } from "../../../src/plane/compression/caveman/Caveman.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"

const prose = "I think that this is basically the best way to do it, and you are really able to see that for the file."
const said = (text: string): JsonObject => ({ role: "user", content: text })

/** A clock that goes on by a millisecond with each look. */
const options = (body: JsonObject): CompressOptions => {
  let nowMs = 0
  return {
    wire: "chat",
    body,
    engines: [cavemanEngine(defaultCaveman)],
    tools: { keep: () => null },
    owner: "",
    asTheyCame: false,
    stability: null,
    monotonicMs: () => (nowMs += 1)
  }
}

describe("the compression in slices", () => {
  it.effect("comes to the same as at once, with pauses between the texts", () =>
    Effect.gen(function* () {
      const body: JsonObject = {
        messages: [...Array.from({ length: 50 }, (_, at) => said(`${prose} ${at}`)), said("So?")]
      }
      let pauses = 0
      const inSlices = yield* compressInSlices(
        options(body),
        Effect.sync(() => void (pauses += 1))
      )
      const atOnce = compress(options(body))
      assert.deepStrictEqual(inSlices.body, atOnce.body)
      assert.lengthOf(inSlices.changes, 50)
      assert.isAtLeast(pauses, 5)
    })
  )

  it.effect("is interrupted with the request", () =>
    Effect.gen(function* () {
      const body: JsonObject = {
        messages: [...Array.from({ length: 50 }, (_, at) => said(`${prose} ${at}`)), said("So?")]
      }
      const exit = yield* Effect.exit(compressInSlices(options(body), Effect.interrupt))
      assert.strictEqual(exit._tag, "Failure")
    })
  )

  it("leaves a text alone that would keep all others waiting", () => {
    const long = `${prose} `.repeat(6_000)
    const body: JsonObject = { messages: [said(long), said(prose), said("So?")] }
    const { changes } = compress(options(body))
    assert.deepStrictEqual(
      changes.map(({ before }) => before),
      [prose]
    )
  })
})
