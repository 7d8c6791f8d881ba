/** Only what is, letter for letter, the end of what was sent is left out of a continuation, and only once. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import {
  makeOverlapTrimmer,
  maxOverlapChars,
  minOverlapChars
} from "../../../../../src/plane/features/recovery/Overlap.ts"

const after = (sent: string, pieces: ReadonlyArray<string>, blanksCut = false): string => {
  const trimmer = makeOverlapTrimmer(sent, blanksCut)
  return pieces.map((piece) => trimmer.push(piece)).join("") + trimmer.end()
}

describe("the overlap of a continuation", () => {
  const cases: ReadonlyArray<readonly [string, string, ReadonlyArray<string>, string]> = [
    ["the last words", "The quick brown fox", ["quick brown fox jumps"], " jumps"],
    ["in small pieces", "The quick brown fox", ["quick br", "own", " f", "ox", " jumps"], " jumps"],
    ["nothing but the last words", "The quick brown fox", [" brown fox"], ""],
    ["too few letters", "The quick brown fox", ["fox jumps"], "fox jumps"],
    ["almost the last words", "The quick brown fox", ["brown Fox jumps"], "brown Fox jumps"],
    ["what stands further before", "The quick brown fox", ["The quick brown cat"], "The quick brown cat"],
    ["the whole of a short text", "The quick brown fox", ["The quick brown fox jumps"], " jumps"],
    ["a rule", `Title\n${"-".repeat(20)}`, ["-".repeat(20)], "-".repeat(20)],
    ["a line break", "one\n", ["\ntwo"], "\ntwo"],
    ["after nothing", "", ["Hello"], "Hello"]
  ]
  for (const [name, sent, pieces, left] of cases) {
    it(`left out or not: ${name}`, () => assert.strictEqual(after(sent, pieces), left))
  }

  it("white space that the target was not shown is not doubled", () => {
    assert.strictEqual(after("one\n\n", ["\n", "\ntwo"], true), "two")
    assert.strictEqual(after("one ", ["two"], true), "two")
  })

  it("nothing is held back when nothing matches", () => {
    assert.strictEqual(makeOverlapTrimmer("The quick brown fox", false).push(" jumps"), " jumps")
  })

  it("no more than the bound is compared", () => {
    const long = Array.from({ length: 100 }, (_, n) => `word${n}`).join(" ")
    assert.strictEqual(after(long, [long]), long)
    const tail = long.slice(-maxOverlapChars)
    assert.strictEqual(after(long, [tail, " more"]), " more")
  })

  it("however it is cut into pieces, the text loses an end of what was sent or nothing", () => {
    const letters = fc.stringOf(fc.constantFrom("a", "b", " "), { maxLength: 60 })
    fc.assert(
      fc.property(letters, letters, fc.array(fc.nat(60), { maxLength: 8 }), (sent, text, cuts) => {
        const marks = [0, ...cuts.map((mark) => Math.min(mark, text.length)).toSorted((a, b) => a - b), text.length]
        const pieces = marks.slice(1).map((mark, n) => text.slice(marks[n], mark))
        const left = after(sent, pieces)
        assert.strictEqual(left, after(sent, [text]))
        assert.isTrue(text.endsWith(left))
        const trimmed = text.slice(0, text.length - left.length)
        assert.isTrue(sent.endsWith(trimmed))
        assert.isTrue(trimmed === "" || trimmed.length >= minOverlapChars)
      })
    )
  })
})
