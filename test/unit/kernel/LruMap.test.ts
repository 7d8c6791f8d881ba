import { assert, describe, it } from "@effect/vitest"
import { LruMap, type LruOptions } from "../../../src/kernel/collections/LruMap.ts"

const filled = (options: Partial<LruOptions<number, string>> = {}): LruMap<number, string> => {
  const map = new LruMap<number, string>({ capacity: 3, ...options })
  for (const key of [1, 2, 3]) map.set(key, String(key), 1_000)
  return map
}

describe("LruMap", () => {
  it("evicts the entry used longest ago: get and set count as a use, peek does not", () => {
    const map = filled()
    map.get(1)
    map.peek(2)
    map.set(4, "4")
    assert.deepStrictEqual(
      Array.from(map, ([key]) => key),
      [3, 1, 4]
    )
    map.set(3, "three")
    map.set(5, "5")
    assert.deepStrictEqual(
      [...map],
      [
        [4, "4"],
        [3, "three"],
        [5, "5"]
      ]
    )
    assert.isTrue(map.isFull)
  })

  it("keeps the order of use when the key used last is deleted and set again", () => {
    const map = filled()
    assert.isTrue(map.delete(3))
    assert.isFalse(map.delete(3))
    map.get(1)
    map.set(3, "three")
    assert.deepStrictEqual(
      Array.from(map, ([key]) => key),
      [2, 1, 3]
    )
  })

  it("keeps the sum of weights below its limit, also when a value is replaced", () => {
    const map = filled({ maxWeight: 6, weightOf: (value) => value.length })
    assert.strictEqual(map.weight, 3)
    map.set(2, "four")
    assert.deepStrictEqual([Array.from(map, ([key]) => key), map.weight], [[1, 3, 2], 6])
    map.set(2, "seven_!")
    assert.deepStrictEqual([Array.from(map, ([key]) => key), map.weight], [[], 0])
  })

  it("an entry expires after its time, whatever use was made of it", () => {
    const map = filled({ ttlMs: 500 })
    assert.strictEqual(map.get(1, 1_499), "1")
    assert.isUndefined(map.get(1, 1_500))
    assert.isUndefined(map.peek(2, 1_500))
    map.set(3, "three", 1_500)
    assert.strictEqual(map.peek(3, 1_999), "three")
    assert.strictEqual(map.size, 1)
  })

  it("deletes what has expired from the oldest on", () => {
    const map = filled({ ttlMs: 500 })
    map.set(1, "one", 1_200)
    map.deleteExpired(1_500)
    assert.deepStrictEqual(
      Array.from(map, ([key]) => key),
      [1]
    )
    map.deleteExpired(1_700)
    assert.strictEqual(map.size, 0)
  })

  it("tells of every entry that leaves, once, and not of a replaced value", () => {
    const gone: Array<readonly [number, string]> = []
    const map = filled({ ttlMs: 500, onRemove: (key, value) => void gone.push([key, value]) })
    map.set(3, "three", 1_000)
    assert.deepStrictEqual(gone, [])
    map.set(4, "4", 1_000)
    map.prune((value) => value === "three")
    map.peek(2, 1_500)
    map.delete(4)
    map.set(5, "5", 1_000)
    map.deleteOldest()
    map.deleteOldest()
    map.set(6, "6", 1_000)
    map.clear()
    assert.deepStrictEqual(gone, [
      [1, "1"],
      [3, "three"],
      [2, "2"],
      [4, "4"],
      [5, "5"],
      [6, "6"]
    ])
  })
})
