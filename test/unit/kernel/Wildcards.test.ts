import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { anyWildcard, wildcard } from "../../../src/kernel/text/Wildcards.ts"

/** By trying every way: a text of one `*` less, or with one character less. */
const oracle = (pattern: string, text: string): boolean => {
  if (pattern === "") return text === ""
  if (pattern.startsWith("*")) return oracle(pattern.slice(1), text) || (text !== "" && oracle(pattern, text.slice(1)))
  return text.startsWith(pattern.slice(0, 1)) && oracle(pattern.slice(1), text.slice(1))
}

describe("wildcard", () => {
  it("agrees with trying every way", () => {
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 7 })
    const text = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 9 })
    fc.assert(
      fc.property(pattern, text, (each, one) => assert.strictEqual(wildcard(each)(one), oracle(each, one))),
      { seed: 14, numRuns: 2_000 }
    )
  })

  it("takes no character for more than it is", () => {
    assert.isTrue(wildcard("a.c")("a.c"))
    assert.isFalse(wildcard("a.c")("abc"))
    assert.isFalse(anyWildcard([])("a"))
    assert.isTrue(anyWildcard(["x", "*mini*"])("gpt-mini-2"))
  })
})
