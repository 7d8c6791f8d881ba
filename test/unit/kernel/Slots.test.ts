import { assert, describe, it } from "@effect/vitest"
import { Slots } from "../../../src/kernel/collections/Slots.ts"

const valuesOf = <A extends object>(slots: Slots<A>): ReadonlyArray<A> => {
  const values: Array<A> = []
  slots.forEach((value) => values.push(value))
  return values
}

describe("Slots", () => {
  it("uses the places of removed values again", () => {
    const slots = new Slots<{ readonly name: string }>()
    const a = { name: "a" }
    const b = { name: "b" }
    const c = { name: "c" }
    const d = { name: "d" }
    const places = [slots.add(a), slots.add(b), slots.add(c)]
    assert.deepStrictEqual(places, [0, 1, 2])
    assert.isTrue(slots.remove(1, b))
    assert.strictEqual(slots.add(d), 1)
    assert.deepStrictEqual(valuesOf(slots), [a, d, c])
  })

  it("removes a value once, and never another one that has its place", () => {
    const slots = new Slots<{ readonly name: string }>()
    const old = { name: "old" }
    const later = { name: "later" }
    const place = slots.add(old)
    assert.isTrue(slots.remove(place, old))
    assert.isFalse(slots.remove(place, old))
    assert.strictEqual(slots.add(later), place)
    assert.isFalse(slots.remove(place, old))
    assert.deepStrictEqual(valuesOf(slots), [later])
    assert.isFalse(slots.remove(99, later))
  })

  it("skips values that are removed while they are visited", () => {
    const slots = new Slots<{ readonly name: string }>()
    const values = ["a", "b", "c"].map((name) => ({ name }))
    const places = values.map((value) => slots.add(value))
    const seen: Array<string> = []
    slots.forEach(({ name }) => {
      seen.push(name)
      for (const [at, value] of values.entries()) slots.remove(places[at] ?? -1, value)
    })
    assert.deepStrictEqual(seen, ["a"])
  })
})
