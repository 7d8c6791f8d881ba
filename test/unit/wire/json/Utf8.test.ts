import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { bytesOfJson, textOf } from "../../../../src/wire/json/Utf8.ts"

const long = fc.tuple(fc.constantFrom("x", "é", "語😀", "\ud800"), fc.constantFrom(1, 400, 40_000))
const values = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: "binary" }),
  fc.array(fc.oneof(fc.jsonValue(), fc.constant(undefined)), { maxLength: 20 }),
  long.map(([letters, times]) => letters.repeat(times)),
  long.map(([letters, times]) => Array.from({ length: 9 }, () => letters.repeat(times))),
  fc.constant(undefined)
)

describe("JSON texts and their bytes", () => {
  it("are the same as by the plain ways, whatever was written before", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), values), (source) => {
        const body = source as JsonObject
        const json = JSON.stringify(body)
        const bytes = bytesOfJson(body)
        assert.isTrue(bytes.equals(Buffer.from(json)))
        assert.strictEqual(textOf(bytes, 0, bytes.length), json)
        assert.strictEqual(textOf(Buffer.concat([Buffer.from("ab"), bytes]), 2, bytes.length + 2), json)
      }),
      { numRuns: 300 }
    )
  })

  it("are whole beyond the memory that is kept", () => {
    const body = { messages: Array.from({ length: 30 }, () => "é".repeat(100_000)) }
    assert.isTrue(bytesOfJson(body).equals(Buffer.from(JSON.stringify(body))))
    assert.isTrue(bytesOfJson({}).equals(Buffer.from("{}")))
  })
})
