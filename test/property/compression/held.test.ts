/** C3 over outputs of real programs and over mixtures of lines: what engines for outputs leave in a text, and what they may take out. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { readFileSync } from "node:fs"
import { shortened, usualShortening } from "../../../src/plane/compression/engines/Shortened.ts"
import { protectedIn } from "../../../src/plane/compression/ProtectedParts.ts"
import { usualLimits } from "../../../src/plane/compression/rtk/Apply.ts"
import { type Compiled, compileBuiltIn } from "../../../src/plane/compression/rtk/Compiled.ts"
import { filterFor, ordered } from "../../../src/plane/compression/rtk/Detect.ts"
import { builtInFilters } from "../../../src/plane/compression/rtk/filters/index.ts"
import { isFailure, isKept, isTelling } from "../../../src/plane/compression/rtk/Kept.ts"
import { type Output, reduce } from "../../../src/plane/compression/rtk/Rtk.ts"
import { shown, shownWhole } from "../../../src/plane/compression/rtk/Terminal.ts"
import { rtkLevels } from "../../../src/subjects/rtk/entity.ts"

const corpus: ReadonlyArray<Output> = JSON.parse(
  readFileSync(new URL("../../compression/corpus/outputs.json", import.meta.url), "utf8")
)
const filters = ordered(builtInFilters.map(compileBuiltIn))
const id = "4f1c0e2a9b7d4c3e8f6a5b1d"

/** What an engine writes itself. */
const ownWords = /\n\[(?:rtk|ccr)[^\n]*\]|^… \d+ lines (?:…|like these)$| … \d+ characters … | \(×\d+\)$/gm
const withoutOwn = (text: string): string => text.replaceAll(ownWords, "")

/** Columns may stand closer together. */
const plain = (line: string): string => shown(line).replaceAll(/\s+/g, " ").trim()

const matches = (patterns: Compiled["drop"], line: string): boolean =>
  patterns.some((pattern) => pattern.test(line.slice(0, 1_000)))

const assertWhole = (before: string, after: string): void => {
  const all = new Set(protectedIn(before.split("\n").map(shownWhole).join("\n")))
  for (const word of protectedIn(withoutOwn(after))) assert.isTrue(all.has(word), `${word} was made`)
}

const check = (output: Output, level: (typeof rtkLevels)[number]): boolean => {
  const limits = { ...usualLimits, level }
  const reduced = reduce(filters, output, limits, () => id)
  const filter = filterFor(filters, output.command, output.text)
  if (reduced === null || filter === null) return false
  assertWhole(output.text, reduced.text)
  const left = new Set(withoutOwn(reduced.text).split("\n").map(plain))
  const said = reduced.text.split("\n").length === 2 && filter.filter.rules.matchOutput !== undefined
  for (const raw of output.text.split("\n")) {
    const line = shown(raw).trimEnd()
    const isPassed = matches(filter.pass, line) && !matches(filter.keep, line)
    if (isFailure(line) && !isPassed && line.length < 400) assert.isTrue(left.has(plain(line)), `failed: ${line}`)
    const isNamed = isPassed || matches(filter.drop, line) || matches(filter.collapse, line)
    if (isTelling(line) && !isNamed && !said && line.length < 400) {
      assert.isTrue(left.has(plain(line)) || filter.replace.length > 0, `told: ${line}`)
    }
  }
  const whole = reduce(filters, output, limits, () => null)
  if (whole !== null) {
    assertWhole(output.text, whole.text)
    assert.notInclude(whole.text, "raw-output/")
    const words = new Set(protectedIn(whole.text))
    for (const word of protectedIn(output.text.split("\n").map(shownWhole).join("\n"))) {
      assert.isTrue(words.has(word), `${word} is lost`)
    }
  }
  return true
}

const known = builtInFilters.flatMap(({ tests = [] }) => tests.flatMap(({ input }) => input.split("\n")))
const commands = builtInFilters.flatMap(({ tests = [] }) => tests.flatMap(({ command }) => command ?? []))
const line = FastCheck.oneof(
  { weight: 8, arbitrary: FastCheck.constantFrom(...known) },
  {
    weight: 2,
    arbitrary: FastCheck.constantFrom(
      "do not delete /var/lib/data",
      "see https://example.com/a?b=1&c=2 for more",
      " 10%\r 55%\r100% of 3 files",
      `${"long words of little weight ".repeat(30)} /srv/a/b.txt 17`,
      `${"x".repeat(700)} ${"/srv/part".repeat(60)} 4711`
    )
  },
  { weight: 1, arbitrary: FastCheck.string({ unit: "binary", maxLength: 60 }) }
)
const text = FastCheck.array(line, { minLength: 20, maxLength: 200, size: "max" }).map((lines) => lines.join("\n"))

describe("numbers, paths, addresses and negations in outputs", () => {
  for (const level of rtkLevels) {
    it(`rtk, ${level}: on outputs of real programs`, () => {
      assert.isAbove(corpus.filter((output) => check(output, level)).length, 100)
    })

    it(`rtk, ${level}: on mixtures of lines`, () => {
      let changed = 0
      FastCheck.assert(
        FastCheck.property(
          text,
          FastCheck.option(FastCheck.constantFrom(...commands), { freq: 9 }),
          (each, command) => {
            if (check({ text: each, command }, level)) changed += 1
          }
        ),
        { numRuns: 120, seed: 11 }
      )
      assert.isAbove(changed, 5)
    })
  }

  it("ccr: each line stands as it was, and those that have to be kept all stand", () => {
    let changed = 0
    for (const output of corpus) {
      const result = shortened(output.text, usualShortening, () => id)
      if (result === null) continue
      changed += 1
      const before = output.text.split("\n")
      const after = new Set(result.split("\n"))
      const all = new Set(before)
      for (const each of result.replace(/\n\[ccr: [^\n]*\]\n/, "\n").split("\n")) assert.isTrue(all.has(each), each)
      for (const each of before) if (isKept(each) || isTelling(each)) assert.isTrue(after.has(each), each)
    }
    assert.isAbove(changed, 20)
  })
})
