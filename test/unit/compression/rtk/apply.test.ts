import { assert, describe, it } from "@effect/vitest"
import { apply, type Limits, usualLimits } from "../../../../src/compression/rtk/Apply.ts"
import { compile, compileBuiltIn } from "../../../../src/compression/rtk/Compiled.ts"
import type { Filter } from "../../../../src/compression/rtk/Filter.ts"
import { foreign } from "../../../../src/compression/rtk/Pattern.ts"

const filterOf = (rules: Filter["rules"], preserve: NonNullable<Filter["preserve"]> = {}) =>
  compileBuiltIn({
    id: "t",
    label: "t",
    description: "t",
    category: "t",
    priority: 1,
    match: { commands: ["^t"] },
    rules,
    preserve
  })

const linesOf = (count: number, at: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => at(index)).join("\n")

const applied = (rules: Filter["rules"], text: string, limits: Partial<Limits> = {}) =>
  apply(filterOf(rules), text, { ...usualLimits, ...limits })

describe("apply", () => {
  it("keeps head, tail and what failed between them, and says how much is missing", () => {
    const text = linesOf(1_000, (index) => (index === 500 ? "src/a.ts:3:4 broken" : `step ${index}`))
    const { left, text: short } = applied({ headLines: 3, tailLines: 2, maxLines: 5 }, text)
    assert.strictEqual(
      short,
      "step 0\nstep 1\nstep 2\n… 497 lines …\nsrc/a.ts:3:4 broken\n… 497 lines …\nstep 998\nstep 999"
    )
    assert.strictEqual(left, 994)
  })

  it("shortens nothing at the level minimal, and half as much remains at aggressive", () => {
    const text = linesOf(1_000, (index) => `step ${index}`)
    assert.strictEqual(applied({}, text, { level: "minimal" }).text, text)
    const standard = applied({}, text).text.split("\n").length
    const aggressive = applied({}, text, { level: "aggressive" }).text.split("\n").length
    assert.strictEqual(standard, 121)
    assert.strictEqual(aggressive, 61)
  })

  it("has no more characters than the limit besides what must stay", () => {
    const text = linesOf(100, (index) => `${index} ${"word ".repeat(100)}`)
    assert.isAtMost(applied({}, text).text.length, 12_000 + 40)
    const failing = linesOf(100, (index) => `${index} error ${"word ".repeat(100)}`)
    assert.isAbove(applied({}, failing).text.length, 50_000)
  })

  it("removes lines of success with words of failure, but not where its filter keeps them", () => {
    const text = "✓ handles errors\n✓ error kept\n✗ fails"
    const filter = filterOf({ passPatterns: ["^✓ "] }, { summaryPatterns: ["kept$"] })
    assert.strictEqual(apply(filter, text, usualLimits).text, "✓ error kept\n✗ fails")
    assert.strictEqual(applied({ dropPatterns: ["^✓ "] }, "✓ handles errors\n✓ adds\nx").text, "✓ handles errors\nx")
  })

  it("keeps what matches and what failed with includePatterns", () => {
    assert.strictEqual(applied({ includePatterns: ["^a"] }, "a1\nb\nfatal: x\na2").text, "a1\nfatal: x\na2")
  })

  it("replaces the whole by a message with what was found, unless something failed", () => {
    const rules = { matchOutput: [{ pattern: "^built in ([0-9]+) ms$", message: "ok ($1 ms)" }] }
    assert.strictEqual(applied(rules, "a\nb\nbuilt in 12 ms").text, "ok (12 ms)")
    assert.strictEqual(applied(rules, "a failed\nbuilt in 12 ms").text, "a failed\nbuilt in 12 ms")
  })

  it("shows what a terminal would, and counts equal lines from three on", () => {
    assert.strictEqual(
      applied({}, "\u001b[32mgreen\u001b[0m\r\n 10%\r 50%\r100%\nx\nx\ny\ny\ny").text,
      "green\n100%\nx\nx\ny (×3)"
    )
    assert.strictEqual(
      applied({ stripAnsi: false, deduplicate: false }, "\u001b[32mx\n\n\n\ny ").text,
      "\u001b[32mx\n\n\n\ny "
    )
  })

  it("cuts long lines between their characters", () => {
    const { text } = applied({ truncateLineAt: 100 }, "😀".repeat(300))
    assert.isTrue(text.length < 200)
    assert.strictEqual(Buffer.from(text, "utf8").toString("utf8"), text)
    assert.include(text, "characters …")
  })

  it("gives what stands for nothing", () => {
    assert.strictEqual(applied({ dropPatterns: ["."], onEmpty: "ok" }, "a\nb").text, "ok")
    assert.strictEqual(applied({ onEmpty: "ok" }, "").text, "ok")
  })

  it("does the same with the engine for patterns of operators", () => {
    const filter: Filter = {
      id: "t",
      label: "t",
      description: "t",
      category: "t",
      priority: 1,
      match: {},
      rules: {
        dropPatterns: ["^drop"],
        replace: [{ pattern: "a([0-9])", replacement: "<$1>" }],
        collapsePatterns: ["^z"]
      }
    }
    const own = compile(filter, foreign)
    assert.isTrue("filter" in own)
    if (!("filter" in own)) return
    const text = "drop me\na1 a2\nz1\nz2\nz3\nz4\nz5"
    assert.deepStrictEqual(apply(own, text, usualLimits), apply(compileBuiltIn(filter), text, usualLimits))
    assert.strictEqual(apply(own, text, usualLimits).text, "<1> <2>\nz1\n… 3 lines like these\nz5")
  })
})
