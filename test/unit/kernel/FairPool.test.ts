/** What owners share: nobody's entry makes room for one who has as much, and nobody takes all places. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { makeFairPlaces } from "../../../src/kernel/collections/FairPlaces.ts"
import { FairPool } from "../../../src/kernel/collections/FairPool.ts"
import { mayTakePlace, shareOf } from "../../../src/kernel/collections/FairShare.ts"

interface Value {
  readonly owner: string
  readonly weight: number
  busy: boolean
}

const value = (owner: string, busy = false, weight = 1): Value => ({ owner, weight, busy })

const poolOf = (capacity: number, more: { readonly share?: number; readonly maxWeight?: number } = {}) => {
  const removed: Array<number> = []
  const pool = new FairPool<number, Value>({
    capacity,
    ownerOf: ({ owner }) => owner,
    weightOf: ({ weight }) => weight,
    isBusy: ({ busy }) => busy,
    onRemove: (key) => void removed.push(key),
    ...more
  })
  return { pool, removed }
}

describe("a fair pool", () => {
  it("takes room from the owner that has the most, the entry used longest ago first", () => {
    const { pool, removed } = poolOf(4)
    pool.set(1, value("a"))
    pool.set(2, value("b"))
    for (const key of [3, 4]) pool.set(key, value("a"))
    pool.get(1)
    pool.set(5, value("c"))
    assert.deepStrictEqual(removed, [3])
    // Of two owners with as much the one that asks loses its own.
    pool.set(6, value("b"))
    assert.deepStrictEqual(removed, [3, 2])
    pool.set(7, value("a"))
    assert.deepStrictEqual(removed, [3, 2, 4])
    assert.deepStrictEqual(
      ["a", "b", "c"].map((owner) => pool.sizeOf(owner)),
      [2, 1, 1]
    )
  })

  it("removes nothing that is under way, and says so where nothing else is left", () => {
    const { pool, removed } = poolOf(3)
    for (const key of [1, 2, 3]) pool.set(key, value("a", key !== 2))
    assert.isTrue(pool.set(4, value("b", true)))
    assert.deepStrictEqual(removed, [2])
    assert.isFalse(pool.set(5, value("b")))
    assert.isFalse(pool.set(6, value("a")))
    assert.isFalse(pool.set(7, value("c")))
    assert.deepStrictEqual(removed, [2])
  })

  it("holds an owner to its share, whatever room there is", () => {
    const { pool, removed } = poolOf(10, { share: 2 })
    for (const key of [1, 2, 3]) assert.isTrue(pool.set(key, value("a")))
    assert.deepStrictEqual(removed, [1])
    for (const key of [4, 5]) assert.isTrue(pool.set(key, value("b", true)))
    assert.isFalse(pool.set(6, value("b", true)))
  })

  it("counts weight too: who keeps little of much weight has the most", () => {
    const { pool, removed } = poolOf(100, { maxWeight: 100 })
    pool.set(1, value("a", false, 45))
    pool.set(2, value("a", false, 45))
    for (let key = 3; key < 13; key += 1) pool.set(key, value("b"))
    pool.set(13, value("b", false, 1))
    assert.deepStrictEqual(removed, [1])
    assert.isFalse(pool.set(14, value("b", false, 101)))
    assert.strictEqual(pool.weight, 56)
  })

  it("forgets what has expired, and tells a removal but not a replacement", () => {
    const removed: Array<string> = []
    const pool = new FairPool<string, string>({
      capacity: 4,
      ttlMs: 10,
      ownerOf: (text) => text,
      onRemove: (key) => void removed.push(key)
    })
    pool.set("x", "a", 0)
    pool.set("x", "b", 5)
    assert.deepStrictEqual([pool.sizeOf("a"), pool.sizeOf("b")], [0, 1])
    pool.set("y", "a", 6)
    assert.strictEqual(pool.get("x", 14), "b")
    assert.isUndefined(pool.peek("x", 15))
    pool.deleteExpired(16)
    assert.deepStrictEqual([removed, pool.size], [["x", "y"], 0])
  })

  it("never takes from one who has no more than the asker, whatever is done", () => {
    const step = FastCheck.record({
      owner: FastCheck.constantFrom("a", "b", "c", "d"),
      key: FastCheck.integer({ min: 0, max: 30 }),
      weight: FastCheck.integer({ min: 0, max: 12 }),
      busy: FastCheck.boolean(),
      does: FastCheck.constantFrom("set", "set", "set", "get", "delete")
    })
    FastCheck.assert(
      FastCheck.property(FastCheck.array(step, { maxLength: 120 }), (steps) => {
        const entries = new Map<number, Value>()
        let asking: { readonly owner: string; readonly weight: number } | null = null
        const partOf = (owner: string): number => {
          const own = [...entries.values()].filter((one) => one.owner === owner)
          return Math.max(own.length / 8, own.reduce((sum, one) => sum + one.weight, 0) / 40)
        }
        const pool: FairPool<number, Value> = new FairPool<number, Value>({
          capacity: 8,
          share: 5,
          maxWeight: 40,
          ownerOf: ({ owner }) => owner,
          weightOf: ({ weight }) => weight,
          isBusy: ({ busy }) => busy,
          onRemove: (key, gone) => {
            if (asking !== null) {
              assert.isFalse(gone.busy)
              if (gone.owner !== asking.owner) assert.isAbove(partOf(gone.owner), partOf(asking.owner))
            }
            entries.delete(key)
          }
        })
        for (const { busy, does, key, owner, weight } of steps) {
          if (does === "get") pool.get(key)
          else if (does === "delete") pool.delete(key)
          else {
            // Replaced by the same owner only, as users of pools do.
            if (entries.has(key)) continue
            asking = { owner, weight }
            const made = value(owner, busy, weight)
            if (pool.set(key, made)) entries.set(key, made)
            asking = null
          }
          assert.strictEqual(pool.size, entries.size)
          assert.isAtMost(pool.size, 8)
          assert.isAtMost(pool.weight, 40)
          for (const one of ["a", "b", "c", "d"]) assert.isAtMost(pool.sizeOf(one), 5)
        }
      }),
      { numRuns: 500, seed: 40 }
    )
  })
})

describe("fair places", () => {
  it("leave something for whoever comes next", () => {
    const { enter, taken, takenBy } = makeFairPlaces(() => 64)
    const all = (owner: string): number => {
      let count = 0
      while (enter(owner) !== null) count += 1
      return count
    }
    assert.deepStrictEqual(["a", "b", "c", "d", "e", "f"].map(all), [32, 16, 8, 4, 2, 1])
    assert.deepStrictEqual([taken(), takenBy("a")], [63, 32])
  })

  it("come back once each, and follow a bound that is changed", () => {
    let capacity = 1
    const { enter, taken } = makeFairPlaces(() => capacity)
    const leave = enter("a")
    assert.isNotNull(leave)
    assert.isNull(enter("b"))
    capacity = 3
    assert.isNotNull(enter("b"))
    leave?.()
    leave?.()
    assert.strictEqual(taken(), 1)
    assert.isNotNull(enter("a"))
  })

  it("are as many for one owner as it leaves free", () => {
    assert.isTrue(mayTakePlace({ capacity: 1, taken: 0, own: 0 }))
    assert.isFalse(mayTakePlace({ capacity: 2, taken: 1, own: 1 }))
    assert.isTrue(mayTakePlace({ capacity: 2, taken: 1, own: 0 }))
    assert.isFalse(mayTakePlace({ capacity: 2, taken: 2, own: 0 }))
    assert.deepStrictEqual([0, 1, 2, 3, 1_000].map(shareOf), [1, 1, 1, 2, 500])
  })
})
