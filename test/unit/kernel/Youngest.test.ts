import { assert, describe, it } from "@effect/vitest"
import { dropOldest, putYoungest } from "../../../src/kernel/Youngest.ts"

describe("maps in the order of last use", () => {
  const filled = () => new Map([1, 2, 3].map((n) => [n, String(n)]))

  it("the oldest go, and whoever wants to know hears of each", () => {
    const map = filled()
    const gone: Array<readonly [number, string]> = []
    dropOldest(map, 1, (key, value) => void gone.push([key, value]))
    assert.deepStrictEqual([...map.keys()], [3])
    assert.deepStrictEqual(gone, [
      [1, "1"],
      [2, "2"]
    ])
    dropOldest(map, 1)
    assert.strictEqual(map.size, 1)
  })

  it("what is put again is the youngest", () => {
    const map = filled()
    putYoungest(map, 1, "one", 3)
    putYoungest(map, 4, "four", 3)
    assert.deepStrictEqual(
      [...map],
      [
        [3, "3"],
        [1, "one"],
        [4, "four"]
      ]
    )
  })
})
