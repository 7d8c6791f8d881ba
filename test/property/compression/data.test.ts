import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { shortened, usualShortening } from "../../../src/plane/compression/engines/Shortened.ts"
import { withoutRepeats } from "../../../src/plane/compression/engines/Repeats.ts"
import { isKept } from "../../../src/plane/compression/rtk/Kept.ts"

describe("session-dedup", () => {
  const output = FastCheck.record({
    text: FastCheck.constantFrom("a".repeat(300), "b".repeat(300), "short"),
    turn: FastCheck.nat({ max: 20 })
  })

  it("refers to earlier messages alone, and does with the first ones what it did without the later ones", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(output), FastCheck.nat(), (outputs, cut) => {
        const ordered = outputs.toSorted((one, other) => one.turn - other.turn)
        const all = withoutRepeats(ordered)
        const at = cut % (ordered.length + 1)
        assert.deepStrictEqual(withoutRepeats(ordered.slice(0, at)), all.slice(0, at))
        for (const [index, reference] of all.entries()) {
          const own = ordered[index]
          if (reference === null || own === undefined) continue
          const turn = Number(/message (\d+) /.exec(reference)?.[1]) - 1
          assert.isBelow(turn, own.turn)
          assert.isTrue(ordered.some((each) => each.turn === turn && each.text === own.text))
          assert.isBelow(reference.length, own.text.length)
        }
      }),
      { numRuns: 200 }
    )
  })
})

describe("ccr", () => {
  it("keeps the whole of what it shortens, every line that failed, and does nothing to its own results", () => {
    const line = FastCheck.oneof(
      { weight: 20, arbitrary: FastCheck.string({ minLength: 60, maxLength: 120 }) },
      { weight: 1, arbitrary: FastCheck.constantFrom("Error: boom", "src/a.ts:3:4 broken", "3 passed, 1 failed") }
    )
    let made = 0
    FastCheck.assert(
      FastCheck.property(FastCheck.array(line, { minLength: 100, maxLength: 400, size: "max" }), (lines) => {
        const text = lines.join("\n")
        const kept: Array<string> = []
        const keep = (raw: string): string => {
          kept.push(raw)
          return "0123456789abcdefghijklmn"
        }
        const result = shortened(text, usualShortening, keep)
        assert.deepStrictEqual(kept, result === null ? [] : [text])
        if (result === null) return
        made += 1
        assert.isBelow(result.length, text.length)
        for (const each of text.split("\n")) if (isKept(each)) assert.include(result, each)
        assert.isNull(shortened(result, usualShortening, keep))
        assert.isNull(shortened(text, usualShortening, () => null))
      }),
      { numRuns: 60 }
    )
    assert.isAbove(made, 10)
  })
})
