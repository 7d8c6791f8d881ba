/** Two edits of one object, merged. */
import { assert, describe, it } from "vitest"
import * as fc from "effect/FastCheck"
import { differencesOf, isSame, mergedOf, sideOf } from "../../src/dashboard/ui/merge/merge.ts"

const by = (base: object, mine: object, theirs: object) =>
  differencesOf(base, mine, theirs).map(({ by: who, path }) => `${path.join(".")} ${who}`)

describe("two edits of one version", () => {
  it("differ where either has changed a field, and by whom", () => {
    const base = { name: "a", retry: { delayMs: 1, maxRetries: 2 }, targets: ["x", "y"] }
    assert.deepStrictEqual(by(base, base, { ...base }), [])
    assert.deepStrictEqual(
      by(
        base,
        { ...base, name: "mine", retry: { delayMs: 1, maxRetries: 5 }, targets: ["y", "x"] },
        { name: "theirs", retry: { maxRetries: 2, delayMs: 9 }, targets: ["x", "y"] }
      ),
      ["name both", "retry.maxRetries me", "retry.delayMs others", "targets me"]
    )
  })

  it("do not differ by the order of members, and do by that of a list", () => {
    assert.isTrue(isSame({ a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 }))
    assert.isFalse(isSame([1, 2], [2, 1]))
    assert.isFalse(isSame({ a: undefined }, { a: null }))
    assert.isTrue(isSame({ a: undefined }, {}))
  })

  it("know a field that one of both has taken away", () => {
    const base = { config: { a: 1, b: 2 } }
    const differences = differencesOf(base, { config: { b: 2 } }, { config: { a: 1, b: 3 } })
    assert.deepStrictEqual(
      differences.map(({ by: who, path }) => [path.join("."), who]),
      [
        ["config.a", "me"],
        ["config.b", "others"]
      ]
    )
    assert.deepStrictEqual(
      mergedOf<object>({ config: { a: 1, b: 3 } }, differences, (difference) => sideOf(difference) ?? "theirs"),
      { config: { b: 3 } }
    )
  })

  it("merge to mine when all of mine is chosen, to theirs when all of theirs is, and lose nothing that one alone has changed", () => {
    const members = fc.dictionary(
      fc.constantFrom("a", "b", "c"),
      fc.oneof(fc.integer({ max: 3, min: 0 }), fc.dictionary(fc.constantFrom("x", "y"), fc.integer({ max: 2, min: 0 })))
    )
    fc.assert(
      fc.property(members, members, members, (base, mine, theirs) => {
        const differences = differencesOf(base, mine, theirs)
        assert.isTrue(
          isSame(
            mergedOf(theirs, differences, () => "mine"),
            mine
          )
        )
        assert.isTrue(
          isSame(
            mergedOf(theirs, differences, () => "theirs"),
            theirs
          )
        )
        for (const difference of differences) {
          if (difference.by === "me") assert.isTrue(isSame(difference.theirs, difference.base))
          if (difference.by === "others") assert.isTrue(isSame(difference.mine, difference.base))
        }
      }),
      { seed: 45, numRuns: 300 }
    )
  })
})
