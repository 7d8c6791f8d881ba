import { assert, describe, it } from "@effect/vitest"
import { slugOf, wordsOf } from "../../../src/plane/memory/SearchTerms.ts"

describe("the words of a text", () => {
  it("are in lower case, without accents, endings and words that every text has", () => {
    assert.deepStrictEqual(wordsOf("The Cafés are testing; I TEST the café!", 10), ["cafe", "test"])
    assert.deepStrictEqual(wordsOf("cities city, use status bus", 10), ["city", "status", "bus"])
    assert.deepStrictEqual(
      wordsOf("Größe 42 a b", 10),
      ["große", "42"].map((word) => word.normalize("NFKD").replace(/\p{M}/gu, ""))
    )
    assert.deepStrictEqual(wordsOf("日本語", 10), ["日本", "本語"])
    assert.deepStrictEqual(wordsOf("one two three", 2), ["one", "two"])
    assert.deepStrictEqual(wordsOf("", 2), [])
  })

  it("of a long text are those of its ends", () => {
    const words = wordsOf(`begin ${"middle ".repeat(10_000)} centre ${"middle ".repeat(10_000)} finish`, 100)
    assert.deepStrictEqual(words.toSorted(), ["begin", "finish", "mid", "middl"])
  })

  it("make a name as they are", () => {
    assert.strictEqual(slugOf("The offices are testing!"), "offices-testing")
    assert.isAtMost(slugOf("longword".repeat(5).concat(" ").repeat(20)).length, 100)
  })
})
