import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { compile, compileBuiltIn } from "../../../../src/plane/compression/rtk/Compiled.ts"
import { ordered } from "../../../../src/plane/compression/rtk/Detect.ts"
import { Filter } from "../../../../src/plane/compression/rtk/Filter.ts"
import { builtInFilters } from "../../../../src/plane/compression/rtk/filters/index.ts"
import { foreign, isNested } from "../../../../src/plane/compression/rtk/Pattern.ts"
import { selfTests } from "../../../../src/plane/compression/rtk/SelfTests.ts"

const compiled = ordered(builtInFilters.map(compileBuiltIn))

describe("built-in filters", () => {
  it("are for 49 families of commands at least, each with tests of its own", () => {
    const families = builtInFilters.filter(({ match }) => (match.commands?.length ?? 0) > 0)
    assert.isAtLeast(families.length, 49)
    assert.strictEqual(new Set(builtInFilters.map(({ id }) => id)).size, builtInFilters.length)
    for (const { id, tests } of builtInFilters) assert.isAtLeast(tests?.length ?? 0, 2, id)
  })

  it("have the shape that filters of operators must have", () => {
    for (const filter of builtInFilters) Schema.decodeUnknownSync(Filter, { onExcessProperty: "error" })(filter)
  })

  for (const { filter, name, passed, reason } of selfTests(compiled)) {
    it(`${filter} ${name}`, () => {
      assert.isTrue(passed, reason ?? "")
    })
  }

  it("have no pattern that could take more than linear time by its form", () => {
    for (const filter of builtInFilters) assert.notProperty(compile(filter, foreign), "field", filter.id)
  })
})

describe("isNested", () => {
  it("finds repetitions inside repetitions", () => {
    for (const source of ["(a+)+", "(?:a*b)*", "((a|b)+c){2,}", "(x[)]+)*", "(a{2,})+", "(?:(?:a+)b)*"]) {
      assert.isTrue(isNested(source), source)
    }
    for (const source of ["a+b+", "(?:a|b)+", "(a+)?", "[(a+)]+", "\\(a+\\)+", "(a+){0,1}", "a{3}(b{2})+", ")("]) {
      assert.isFalse(isNested(source), source)
    }
  })
})
