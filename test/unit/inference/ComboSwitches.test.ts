import { assert, describe, it } from "@effect/vitest"
import { ComboSwitches, type Place } from "../../../src/plane/settle/ComboSwitches.ts"

const place = (name: string): Place => ({ key: name, name })

/** Answers of one combo: `<first> <served> <missed…>`; what was told of each. */
const told = (isOrdered: boolean, answers: ReadonlyArray<string>): ReadonlyArray<string> => {
  const switches = new ComboSwitches()
  return answers.map((answer) => {
    const [first = "", served = "", ...missed] = answer.split(" ")
    const given = { combo: "c", isOrdered, first: place(first), served: place(served) }
    return switches
      .note({ ...given, wasMissed: (key) => missed.includes(key) })
      .map(({ from, isReturn, to }) => `${from}>${to}${isReturn ? " back" : ""}`)
      .join(", ")
  })
}

describe("a switch of a combo", () => {
  it("is told once, and once more when the first target serves again", () => {
    assert.deepStrictEqual(told(true, ["a a", "a b a", "a b a", "a b a", "a a", "a a", "a b a"]), [
      "",
      "a>b",
      "",
      "",
      "b>a back",
      "",
      "a>b"
    ])
  })

  it("is none for a request that prefers another target", () => {
    assert.deepStrictEqual(told(true, ["a b", "a a", "a b a", "a c", "a b a", "a a"]), [
      "",
      "",
      "a>b",
      "",
      "",
      "b>a back"
    ])
  })

  it("goes on when the one that stood in fails too", () => {
    assert.deepStrictEqual(told(true, ["a b a", "a c a b", "a c a b", "a a"]), ["a>b", "b>c", "", "c>a back"])
  })

  it("of a rotating combo is one for each target that fails, whoever stands in", () => {
    assert.deepStrictEqual(told(false, ["a b a", "b b", "c c", "a c a", "a b a", "a a", "b c b"]), [
      "a>b",
      "",
      "",
      "",
      "",
      "b>a back",
      "b>c"
    ])
  })

  it("keeps combos apart", () => {
    const switches = new ComboSwitches()
    const given = { isOrdered: true, first: place("a"), served: place("b"), wasMissed: () => true }
    assert.lengthOf(switches.note({ ...given, combo: "x" }), 1)
    assert.lengthOf(switches.note({ ...given, combo: "y" }), 1)
    assert.lengthOf(switches.note({ ...given, combo: "x" }), 0)
  })
})
