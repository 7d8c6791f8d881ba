import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { shortened, usualShortening } from "../../../src/compression/ccr/Shortened.ts"
import { withoutRepeats } from "../../../src/compression/dedup/Repeats.ts"
import { columnar, decoded } from "../../../src/compression/headroom/Columns.ts"
import { isKept } from "../../../src/compression/rtk/Kept.ts"

const names = FastCheck.uniqueArray(
  FastCheck.string({ minLength: 1, maxLength: 8, unit: "grapheme" }).filter((name) => name !== "__proto__"),
  { minLength: 1, maxLength: 6 }
)
const rows = names.chain((own) =>
  FastCheck.array(FastCheck.tuple(...own.map(() => FastCheck.jsonValue({ maxDepth: 2 }))), {
    minLength: 1,
    maxLength: 30
  }).map((values) => values.map((row) => Object.fromEntries(own.map((name, index) => [name, row[index]]))))
)

describe("headroom", () => {
  it("gives columns that read back as the equal value, and only shorter ones", () => {
    let made = 0
    FastCheck.assert(
      FastCheck.property(rows, FastCheck.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        const columns = columnar(text)
        if (columns === null) return
        made += 1
        assert.isBelow(columns.length, text.length)
        assert.strictEqual(JSON.stringify(decoded(columns)), JSON.stringify(value))
        assert.isNull(columnar(columns))
      }),
      { numRuns: 400 }
    )
    assert.isAbove(made, 50)
  })

  it("leaves what is no homogeneous array, and numbers that are written otherwise than read", () => {
    const row = '{"name":"a","count":1}'
    const of = (last: string): string => `[${Array.from({ length: 9 }, () => row).join(",")},${last}]`
    assert.isNotNull(columnar(of(row)))
    for (const last of [
      '{"name":"a"}',
      '{"count":1,"name":"a"}',
      "1",
      "null",
      "[]",
      '{"name":"a","count":12345678901234567890}',
      '{"name":"a","count":1.0}',
      '{"name":"a","count":1,"count":1}',
      '{"name":"a","count":1'
    ]) {
      assert.isNull(columnar(of(last)), last)
    }
    for (const text of ["", "[", "[]", "{}", "text", `[${row}]`]) assert.isNull(columnar(text))
  })
})

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
