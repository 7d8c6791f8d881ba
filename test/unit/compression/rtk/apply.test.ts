import { assert, describe, it } from "@effect/vitest"
import { apply, type Limits, usualLimits } from "../../../../src/plane/compression/rtk/Apply.ts"
import { compile, compileBuiltIn } from "../../../../src/plane/compression/rtk/Compiled.ts"
import type { Filter } from "../../../../src/plane/compression/rtk/Filter.ts"
import { foreign } from "../../../../src/plane/compression/rtk/Pattern.ts"

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

  it("does not change numbers, paths, addresses and negations of a line, and takes none from a line of failure", () => {
    const shortening = (pattern: string, replacement = "") => ({ replace: [{ pattern, replacement }] })
    assert.strictEqual(applied(shortening("[0-9a-f]{4}$"), "commit 2e2761e3c0f3a7e3").text, "commit 2e2761e3c0f3a7e3")
    assert.strictEqual(applied(shortening("^src/"), "src/a.ts is new").text, "src/a.ts is new")
    assert.strictEqual(applied(shortening("not "), "not found yet, did not look").text, "not found yet, did not look")
    assert.strictEqual(applied(shortening("^[0-9:]+ "), "10:03:04 listening on 8080").text, "listening on 8080")
    assert.strictEqual(applied(shortening("^[0-9:]+ "), "10:03:04 failed with 8080").text, "10:03:04 failed with 8080")
  })

  it("cuts no path and no number of a long line, and nothing that has to be kept", () => {
    const path = `/srv/${"folder/".repeat(20)}file.ts`
    const { text } = applied({ truncateLineAt: 100 }, `from ${path} to ${path} in ${"words ".repeat(50)}`)
    assert.include(text, "characters …")
    for (const word of text.split(" ")) assert.isTrue(!word.includes("/") || word === path, word)
    const failing = `${"words ".repeat(200)}Error: no such file ${"words ".repeat(200)}`.trim()
    assert.strictEqual(applied({ truncateLineAt: 100 }, failing).text, failing)
  })

  it("keeps addresses and negations in the middle of what it shortens", () => {
    const text = linesOf(1_000, (index) =>
      index === 400 ? "see https://example.com/a" : index === 600 ? "do not push" : `step ${index}`
    )
    const { text: short } = applied({ headLines: 3, tailLines: 2, maxLines: 5 }, text)
    assert.include(short, "\nsee https://example.com/a\n")
    assert.include(short, "\ndo not push\n")
  })

  it("takes out nothing with a number, a path, an address or a negation where the whole cannot be had", () => {
    const rules = {
      dropPatterns: ["^drop"],
      passPatterns: ["^ok"],
      includePatterns: ["^in"],
      matchOutput: [{ pattern: "^in", message: "done" }],
      truncateLineAt: 20,
      replace: [{ pattern: "^in [0-9]+ ", replacement: "" }]
    }
    const lines = ["drop", "drop 1", "ok", "ok a/b", "in 17 a", "other", "never", `5 ${"word ".repeat(20)}7`]
    const kept = ["drop 1", "ok a/b", "in 17 a", "never", `5 ${"word ".repeat(20)}7`]
    const lost = apply(filterOf(rules), [...lines, "10%\r20%"].join("\n"), usualLimits, false)
    assert.strictEqual(lost.text, [...kept, "10%\r20%"].join("\n"))
    assert.strictEqual(applied(rules, "in x\nother").text, "done")
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
        replace: [{ pattern: "(a[0-9]) +x", replacement: "<$1>" }],
        collapsePatterns: ["^z"]
      }
    }
    const own = compile(filter, foreign)
    assert.isTrue("filter" in own)
    if (!("filter" in own)) return
    const text = "drop me\na1 x a2 x\nz1\nz2\nz3\nz4\nz5"
    assert.deepStrictEqual(apply(own, text, usualLimits), apply(compileBuiltIn(filter), text, usualLimits))
    assert.strictEqual(apply(own, text, usualLimits).text, "<a1> <a2>\nz1\n… 3 lines like these\nz5")
  })
})
