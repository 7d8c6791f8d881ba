import { assert, describe, it } from "@effect/vitest"
import { problemOf } from "../../../../src/subjects/aliases/rules.ts"
import { endOf, maxAliasHops } from "../../../../src/plane/routing/resolve/Aliases.ts"
import { noThinkingPrefix } from "../../../../src/plane/routing/resolve/ModelIds.ts"

const taken = {
  isCombo: (name: string) => name === "pair",
  isProvider: (id: string) => ["openai", "mine"].includes(id)
}
const none = new Map<string, string>()

/** a0 → a1 → … → a`hops`. */
const chain = (hops: number) =>
  new Map(Array.from({ length: hops }, (_, index) => [`a${index}`, `a${index + 1}`] as const))

describe("Aliases", () => {
  it("are followed to their end", () => {
    assert.strictEqual(endOf(chain(3), "a0"), "a3")
    assert.strictEqual(endOf(chain(3), "other"), "other")
    assert.strictEqual(endOf(new Map([["a", `${noThinkingPrefix}b`]]), `${noThinkingPrefix}a`), "b")
    assert.strictEqual(endOf(chain(maxAliasHops), "a0"), `a${maxAliasHops}`)
    assert.isNull(endOf(chain(maxAliasHops + 1), "a0"))
    assert.isNull(endOf(new Map([["a", "a"]]), "a"))
  })

  it("may be anything that means nothing yet", () => {
    for (const alias of ["best", "gpt-4o", "team/fast", "autopilot", "combined"]) {
      assert.isNull(problemOf({ alias, model: "openai/gpt" }, none, taken), alias)
    }
    assert.isNull(problemOf({ alias: "best", model: "openai/other" }, new Map([["best", "openai/gpt"]]), taken))
  })

  it("take no name from others", () => {
    for (const alias of ["auto", "Auto/x", "combo:x", "combo/x", "qtSd/a/b/c", `${noThinkingPrefix}x`]) {
      assert.deepStrictEqual(problemOf({ alias, model: "openai/gpt" }, none, taken), { _tag: "Reserved" }, alias)
    }
    assert.deepStrictEqual(problemOf({ alias: "pair", model: "openai/gpt" }, none, taken), { _tag: "IsCombo" })
    for (const alias of ["openai", "openai/gpt", "mine/a/b"]) {
      assert.strictEqual(problemOf({ alias, model: "x" }, none, taken)?._tag, "IsProvider", alias)
    }
  })

  it("make no circles and no endless chains", () => {
    assert.deepStrictEqual(problemOf({ alias: "a", model: "a" }, none, taken), { _tag: "Cycle" })
    assert.deepStrictEqual(problemOf({ alias: "a3", model: "a0" }, chain(3), taken), { _tag: "Cycle" })
    assert.deepStrictEqual(problemOf({ alias: "a3", model: `${noThinkingPrefix}a0` }, chain(3), taken), {
      _tag: "Cycle"
    })
    assert.isNull(problemOf({ alias: "top", model: "a0" }, chain(maxAliasHops - 1), taken))
    assert.deepStrictEqual(problemOf({ alias: "top", model: "a0" }, chain(maxAliasHops), taken), { _tag: "TooLong" })
    // What would grow too long may lie above the new one.
    assert.deepStrictEqual(problemOf({ alias: `a${maxAliasHops}`, model: "x" }, chain(maxAliasHops), taken), {
      _tag: "TooLong"
    })
  })
})
