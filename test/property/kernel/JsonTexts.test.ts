/** What is written by hand for speed says what the standard library says. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { IsoTimes } from "../../../src/kernel/time/IsoTimes.ts"
import { jsonNumber, JsonTexts } from "../../../src/kernel/text/JsonTexts.ts"

const day = 86_400_000

describe("IsoTimes", () => {
  it("writes what a Date writes, in any order of times", () => {
    const times = new IsoTimes()
    FastCheck.assert(
      FastCheck.property(FastCheck.double({ min: -40_000 * day, max: 80_000 * day, noNaN: true }), (ms) =>
        assert.strictEqual(times.of(ms), new Date(ms).toISOString())
      )
    )
    for (const ms of [0, 999, 1_000, 1_001, 1_700_000_000_000, 1_700_000_000_001]) {
      assert.strictEqual(times.of(ms), new Date(ms).toISOString())
    }
  })
})

describe("JsonTexts", () => {
  it("writes what JSON.stringify writes, before and after it has forgotten", () => {
    const texts = new JsonTexts()
    for (let round = 0; round < 3; round += 1) {
      for (let index = 0; index < 1_500; index += 1) {
        const text = `name "${index}" \u2028`
        assert.strictEqual(texts.of(text), JSON.stringify(text))
      }
    }
    FastCheck.assert(
      FastCheck.property(FastCheck.fullUnicodeString({ maxLength: 300 }), (text) =>
        assert.strictEqual(texts.of(text), JSON.stringify(text))
      )
    )
    assert.strictEqual(texts.of(null), "null")
  })

  it("writes numbers as JSON does", () => {
    for (const value of [0, -0, 1.5, 1e21, 1e-7, Number.NaN, Number.POSITIVE_INFINITY, null]) {
      assert.strictEqual(jsonNumber(value), JSON.stringify(value))
    }
  })
})
