/** Any text, and its work: nothing throws, nothing overlaps, and a long hostile text takes no more than a short one per character. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { findPersonalData, openFrom, redact } from "../../../src/plane/guard/Detectors.ts"

const all = { disabled: new Set<string>(), custom: [] }

const secrets = [
  "jane@example.com",
  "4111 1111 1111 1111",
  "DE89370400440532013000",
  "123-45-6789",
  "+49 151 12345678",
  "203.0.113.7",
  "2001:db8::8a2e:370:7334",
  "AKIAIOSFODNN7EXAMPLE",
  "529.982.247-25"
]
const piece = fc.oneof(
  fc.constantFrom(...secrets),
  fc.constantFrom(" ", "\n", ".", ",", " - ", "@", "(", ")", ":", "::", "sk-", "eyJ", "-----BEGIN", "日本", "\ud800"),
  fc.stringMatching(/^[\d a-zA-Z.+-]{0,12}$/),
  fc.string({ maxLength: 12, unit: "binary" })
)
const text = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(""))

describe("detectors", () => {
  it("find places in their order, none over another", () => {
    fc.assert(
      fc.property(text, (each) => {
        let last = 0
        for (const { end, start } of findPersonalData(each, all)) {
          assert.isAtLeast(start, last)
          assert.isAbove(end, start)
          last = end
        }
        assert.isAtMost(last, each.length)
      }),
      { numRuns: 2_000, seed: 7 }
    )
  })

  it("leave open what goes on behind a cut", () => {
    fc.assert(
      fc.property(text, fc.nat(), (each, seed) => {
        const cut = each.length === 0 ? 0 : seed % (each.length + 1)
        for (const { end, start } of findPersonalData(each, all)) {
          if (start < cut && cut < end) assert.isAtMost(openFrom(each.slice(0, cut), all), start)
        }
      }),
      { numRuns: 4_000, seed: 11 }
    )
  })

  it("replace nothing in what they have replaced", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...secrets, "and", "to"), { maxLength: 12 }), (words) => {
        const once = redact(words.join(" ; "), all).text
        assert.strictEqual(redact(once, all).text, once)
        for (const secret of secrets) assert.notInclude(once, secret)
      }),
      { numRuns: 300, seed: 13 }
    )
  })

  it("get through a megabyte of what almost matches", () => {
    const unit = [
      "4",
      "4 ",
      "a@",
      "a.",
      "1.",
      ":a",
      "DE89 ",
      "eyJ",
      "sk-",
      "-----BEGIN PRIVATE KEY-----",
      "x://a:",
      "+1 ",
      "(4",
      "A",
      "-"
    ]
    for (const each of unit)
      assert.isAtLeast(findPersonalData(each.repeat(Math.ceil(1_048_576 / each.length)), all).length, 0)
  })
})
