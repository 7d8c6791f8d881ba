import { assert, describe, it } from "@effect/vitest"
import { ComboStrategy } from "../../../src/subjects/combos/entity.ts"
import { noThinkingPrefix } from "../../../src/plane/routing/resolve/ModelIds.ts"
import { aliasesOf, haveCycle, maxNesting, problemOf, usersOf } from "../../../src/subjects/combos/rules.ts"

const combo = (name: string, ...models: ReadonlyArray<string>) => ({
  name,
  strategy: "priority" as const,
  targets: models.map((model) => ({ model }))
})

/** c1 → c2 → … → c`levels`. */
const chain = (levels: number) =>
  Array.from({ length: levels }, (_, index) =>
    combo(`c${index + 1}`, index + 1 === levels ? "openai/gpt" : `combo:c${index + 2}`)
  )

describe("ComboRules", () => {
  it("names the users of a combo", () =>
    assert.deepStrictEqual(usersOf("c", [combo("a", "combo:c"), combo("b", "x/y"), combo("d", "combo:c")]), ["a", "d"]))

  it("accepts every strategy", () => {
    for (const strategy of ComboStrategy.literals) {
      assert.isNull(problemOf({ ...combo("a", "openai/gpt"), strategy }, []))
    }
  })

  it("accepts plain targets", () => assert.isNull(problemOf(combo("a", "openai/gpt"), [])))

  it("names an unknown target", () =>
    assert.deepStrictEqual(problemOf(combo("a", "openai/gpt", "combo:nope"), []), {
      _tag: "UnknownCombo",
      index: 1,
      name: "nope"
    }))

  it("finds a combo that contains itself, at once or over others", () => {
    assert.deepStrictEqual(problemOf(combo("a", "combo:a"), []), { _tag: "Cycle" })
    assert.deepStrictEqual(problemOf(combo("c3", "combo:c1"), chain(3)), { _tag: "Cycle" })
    assert.deepStrictEqual(problemOf(combo("a", `${noThinkingPrefix}combo:a`), []), { _tag: "Cycle" })
  })

  it("lets ten levels nest and no more", () => {
    assert.isNull(problemOf(combo("top", "combo:c1"), chain(maxNesting - 1)))
    assert.deepStrictEqual(problemOf(combo("top", "combo:c1"), chain(maxNesting)), {
      _tag: "TooDeep",
      levels: 11,
      most: maxNesting,
      at: null
    })
  })

  it("counts the levels above a changed combo too", () => {
    const upper = chain(6).map((each) => (each.name === "c6" ? combo("c6", "combo:middle") : each))
    const lower = [1, 2, 3, 4, 5].map((level) => combo(`d${level}`, level === 5 ? "openai/gpt" : `combo:d${level + 1}`))
    const middle = combo("middle", "openai/gpt")
    assert.isNull(problemOf(middle, [...upper, ...lower]))
    assert.deepStrictEqual(problemOf(combo("middle", "combo:d1"), [...upper, ...lower]), {
      _tag: "TooDeep",
      levels: 12,
      most: maxNesting,
      at: null
    })
  })

  it("keeps to a combo's own maxComboDepth, also when something below it grows", () => {
    const shallow = (name: string, ...models: ReadonlyArray<string>) => ({
      ...combo(name, ...models),
      config: { maxComboDepth: 2 }
    })
    assert.isNull(problemOf(shallow("top", "combo:c1"), chain(1)))
    const refused = { _tag: "TooDeep" as const, levels: 3, most: 2, at: "top" }
    assert.deepStrictEqual(problemOf(shallow("top", "combo:c1"), chain(2)), refused)
    const others = [shallow("top", "combo:c1"), ...chain(1), combo("leaf", "openai/gpt")]
    assert.deepStrictEqual(problemOf(combo("c1", "combo:leaf"), others), refused)
    assert.isNull(problemOf(combo("beside", "combo:leaf"), others), "it is none of theirs")
  })

  it("counts a judge among the users", () => {
    const judged = { ...combo("panel", "openai/gpt"), config: { judgeModel: "combo:wise" } }
    assert.deepStrictEqual(usersOf("wise", [judged, combo("wise", "openai/gpt")]), ["panel"])
  })

  it("is not slowed down by diamonds", () => {
    const diamonds = Array.from({ length: 9 }, (_, index) =>
      combo(`c${index + 1}`, ...Array.from({ length: 50 }, () => (index === 8 ? "openai/gpt" : `combo:c${index + 2}`)))
    )
    assert.isNull(problemOf(combo("top", "combo:c1"), diamonds))
  })

  it("wants targets, except of auto, and some weight of a weighted choice", () => {
    assert.deepStrictEqual(problemOf(combo("a"), []), { _tag: "NoTargets" })
    const weighted = (...weights: ReadonlyArray<number | null>) => ({
      ...combo("a"),
      strategy: "weighted" as const,
      targets: weights.map((weight) => (weight === null ? { model: "openai/gpt" } : { model: "openai/gpt", weight }))
    })
    assert.deepStrictEqual(problemOf(weighted(0, 0), []), { _tag: "NoWeight" })
    assert.isNull(problemOf(weighted(0, 1), []))
    assert.isNull(problemOf(weighted(0, null), []))
    assert.isNull(problemOf({ ...weighted(), strategy: "auto" }, []))
  })

  it("knows combos also by their bare names and behind aliases", () => {
    const aliases = new Map([
      ["al", "combo:a"],
      ["deep", "al"]
    ])
    assert.deepStrictEqual(usersOf("a", [combo("b", "a"), combo("c", "combo/a"), combo("d", "deep")], aliases), [
      "b",
      "c",
      "d"
    ])
    assert.deepStrictEqual(aliasesOf("a", aliases), ["al"])
    assert.deepStrictEqual(problemOf(combo("a", "b"), [combo("b", "a")]), { _tag: "Cycle" })
    assert.deepStrictEqual(problemOf(combo("a", "deep"), [], aliases), { _tag: "Cycle" })
    assert.isNull(problemOf(combo("a", "deep"), [], new Map([["deep", "openai/gpt"]])))
    assert.deepStrictEqual(problemOf(combo("x", "lost"), [], new Map([["lost", "combo:nope"]])), {
      _tag: "UnknownCombo",
      index: 0,
      name: "nope"
    })
    assert.isTrue(haveCycle([combo("a", "al")], aliases))
    assert.isFalse(haveCycle([combo("a", "openai/gpt")], aliases))
  })
})
