import { assert, describe, it } from "@effect/vitest"
import {
  allocationOf,
  closedUntilMs,
  notAllocated,
  type Part,
  standing
} from "../../../../src/plane/routing/quota/Allocations.ts"

const nowMs = 1_000
const pool = (...parts: ReadonlyArray<Part>) => ({ window: "daily", unit: "requests", parts }) as const
const part = (limit: number, used: number, own: number, resetAtMs = 9_000): Part => ({ limit, used, own, resetAtMs })
const claim = (weight: number, weights: number, ownUnderWay = 0, allUnderWay = ownUnderWay) => ({
  weight,
  weights,
  ownUnderWay,
  allUnderWay
})

describe("closedUntilMs", () => {
  const cases: ReadonlyArray<
    readonly [name: string, until: number | null, ReadonlyArray<Part>, ReturnType<typeof claim>]
  > = [
    ["nothing was used", null, [part(10, 0, 0)], claim(1, 4)],
    ["beyond the share, but less than half is used: it borrows", null, [part(10, 4, 4)], claim(1, 4)],
    ["half is used, and its share is", 9_000, [part(10, 5, 3)], claim(1, 4)],
    ["half is used, and its share is not", null, [part(10, 9, 2)], claim(1, 4)],
    ["exactly its share", 9_000, [part(10, 8, 5)], claim(1, 2)],
    ["the shares of two members add up", null, [part(10, 10, 5), part(10, 0, 0)], claim(1, 2)],
    [
      "both are used up; after the first reset less than half is used",
      5_000,
      [part(10, 9, 5, 9_000), part(10, 9, 6, 5_000)],
      claim(1, 2)
    ],
    ["the first reset is not enough", 9_000, [part(90, 90, 60, 9_000), part(10, 9, 9, 5_000)], claim(1, 2)],
    ["those under way count", 2_000, [part(10, 4, 4)], claim(1, 2, 1)],
    ["others under way make shares strict", 2_000, [part(10, 4, 4)], claim(2, 5, 0, 1)],
    ["a key alone has all of it", null, [part(10, 9, 9)], claim(3, 3)]
  ]
  for (const [name, until, parts, claimed] of cases) {
    it(`${name}`, () => assert.strictEqual(closedUntilMs(pool(...parts), claimed, nowMs), until))
  }

  it("what is shown of a share", () => {
    assert.deepStrictEqual(standing(pool(part(10, 9, 2), part(20, 1, 1)), { weight: 1, weights: 3 }), {
      used: 3,
      limit: 10
    })
  })
})

describe("who may use a group", () => {
  const group = { name: "team", allocations: [{ apiKeyId: "k1", weight: 2 }], restricted: true }

  it("without a restriction all callers", () => {
    assert.isNull(notAllocated("m", { name: "open", allocations: [], restricted: false }, null))
  })

  it("with one only keys with an allocation", () => {
    assert.isNull(notAllocated("m", group, "k1"))
    assert.deepInclude(notAllocated("m", group, "k2"), { group: "team", hasKey: true })
    assert.deepInclude(notAllocated("m", group, null), { group: "team", hasKey: false })
    assert.strictEqual(allocationOf(group, "k1")?.weight, 2)
  })

  it("no caller once the last of these keys is deleted", () => {
    assert.isNotNull(notAllocated("m", { ...group, allocations: [] }, "k1"))
  })
})
