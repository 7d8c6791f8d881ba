import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { usualLimits } from "../../../src/plane/compression/rtk/Apply.ts"
import { compileBuiltIn } from "../../../src/plane/compression/rtk/Compiled.ts"
import { ordered } from "../../../src/plane/compression/rtk/Detect.ts"
import { builtInFilters } from "../../../src/plane/compression/rtk/filters/index.ts"
import { isFailure } from "../../../src/plane/compression/rtk/Kept.ts"
import { rtkLevels } from "../../../src/subjects/rtk/entity.ts"
import { isReduced, rawIdChars, reduce } from "../../../src/plane/compression/rtk/Rtk.ts"

const filters = ordered(builtInFilters.map(compileBuiltIn))

/** Lines of the filters' own tests, mixed: they meet the patterns that arbitrary text does not. */
const known = builtInFilters.flatMap(({ tests = [] }) => tests.flatMap(({ input }) => input.split("\n")))
const commands = builtInFilters.flatMap(({ tests = [] }) => tests.flatMap(({ command }) => command ?? []))

const line = FastCheck.oneof(
  { weight: 6, arbitrary: FastCheck.constantFrom(...known) },
  { weight: 2, arbitrary: FastCheck.string({ maxLength: 200 }) },
  { weight: 1, arbitrary: FastCheck.string({ unit: "binary", maxLength: 100 }) },
  { weight: 1, arbitrary: FastCheck.constantFrom("", " ", "\r", "\u001b[31m", "\ud800", "\u0000", "x".repeat(3_000)) }
)
const text = FastCheck.array(FastCheck.tuple(line, FastCheck.integer({ min: 1, max: 30 })), { maxLength: 60 }).map(
  (runs) => runs.flatMap(([each, times]) => Array.from({ length: times }, () => each)).join("\n")
)
const command = FastCheck.option(FastCheck.constantFrom(...commands))
const level = FastCheck.constantFrom(...rtkLevels)
const id = "0123456789abcdefghijklmn"

const given = FastCheck.tuple(text, command, level)

describe("rtk", () => {
  it("never grows, says the same twice, and does nothing to its own results", () => {
    FastCheck.assert(
      FastCheck.property(given, ([raw, asked, own]) => {
        const limits = { ...usualLimits, level: own }
        const run = (input: string) => reduce(filters, { text: input, command: asked }, limits, () => id)
        const reduced = run(raw)
        if (reduced === null) return
        assert.isBelow(reduced.text.length, raw.length)
        assert.deepStrictEqual(run(raw), reduced)
        assert.isNull(run(reduced.text))
        assert.strictEqual(isReduced(reduced.text), reduced.isMarked)
        assert.strictEqual(reduced.text.includes(id), reduced.isMarked)
      }),
      { numRuns: 300 }
    )
  })

  it("keeps every line that says that something failed, unless its filter calls it success", () => {
    const failing = FastCheck.constantFrom(
      "Error: boom 17",
      "npm error code 1",
      "src/a.ts:3:4: fatal error: x",
      "exit code 3"
    )
    FastCheck.assert(
      FastCheck.property(given, failing, FastCheck.nat(), ([raw, asked, own], failed, at) => {
        const lines = raw.split("\n")
        lines.splice(at % (lines.length + 1), 0, failed)
        assert.isTrue(isFailure(failed))
        const input = lines.join("\n")
        const reduced = reduce(filters, { text: input, command: asked }, { ...usualLimits, level: own }, () => id)
        if (reduced !== null) assert.include(reduced.text, failed)
      }),
      { numRuns: 300 }
    )
  })

  it("stores nothing for what it leaves as it is", () => {
    FastCheck.assert(
      FastCheck.property(given, ([raw, asked, own]) => {
        const kept: Array<string> = []
        const keep = (whole: string): string => {
          kept.push(whole)
          return id
        }
        const reduced = reduce(filters, { text: raw, command: asked }, { ...usualLimits, level: own }, keep)
        assert.deepStrictEqual(kept, reduced?.isMarked === true ? [raw] : [])
      }),
      { numRuns: 100 }
    )
    assert.strictEqual(id.length, rawIdChars)
  })
})
