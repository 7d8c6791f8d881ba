import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { bytesOfJson, textOf } from "../../../../src/wire/json/Utf8.ts"

/** Short ones, and some that are long enough for the other way. */
const values = fc.tuple(
  fc.array(fc.string({ unit: "binary" })),
  fc.constantFrom(1, 40, 400),
  fc.constantFrom("x", "é", "語😀")
)

describe("JSON texts and their bytes", () => {
  it("are the same as by the plain ways", () => {
    fc.assert(
      fc.property(values, ([words, times, letters]) => {
        const json = JSON.stringify([words, letters.repeat(times * 11), "\ud800", "\udc00x"])
        const bytes = bytesOfJson(json)
        assert.deepStrictEqual(bytes, Buffer.from(json))
        assert.strictEqual(textOf(bytes, 0, bytes.length), json)
        assert.strictEqual(textOf(Buffer.concat([Buffer.from("ab"), bytes]), 2, bytes.length + 2), json)
      }),
      { numRuns: 300 }
    )
  })
})
