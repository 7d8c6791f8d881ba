import { assert, describe, it } from "@effect/vitest"
import { type PageRequest, pageOf } from "../../../src/kernel/Page.ts"

const idOf = (text: string): string => text
const list = ["a", "b.1", "ü", "d", "e"]
const page = (all: ReadonlyArray<string>, request: PageRequest) => {
  const found = pageOf(all, idOf, request)
  assert.isNotNull(found)
  return found!
}

describe("pages of a list", () => {
  it("are the whole list without a size", () => {
    assert.deepStrictEqual(page(list, {}), { items: list, nextCursor: null })
    assert.deepStrictEqual(page([], { limit: 1 }), { items: [], nextCursor: null })
  })

  for (const limit of [1, 2, 3, 4, 5, 6]) {
    it(`of ${limit} give every entry once, in order`, () => {
      const seen: Array<string> = []
      let cursor: string | null = null
      let pages = 0
      do {
        const { items, nextCursor } = page(list, { limit, ...(cursor === null ? {} : { cursor }) })
        assert.isAtMost(items.length, limit)
        seen.push(...items)
        cursor = nextCursor
        pages++
      } while (cursor !== null)
      assert.deepStrictEqual(seen, list)
      assert.strictEqual(pages, Math.ceil(list.length / limit))
    })
  }

  it("neither repeat nor leave out entries when others are added or removed in between", () => {
    const { nextCursor } = page(list, { limit: 3 })
    const cursor = nextCursor ?? ""
    assert.deepStrictEqual(page(["0", ...list], { cursor }).items, ["d", "e"])
    assert.deepStrictEqual(page(list.slice(1), { cursor }).items, ["d", "e"])
    assert.deepStrictEqual(page(["a", "b.1", "d", "e"], { cursor }).items, ["d", "e"], "its own last entry is gone")
    assert.deepStrictEqual(page(["a"], { cursor }).items, [])
  })

  it("are not made from a cursor of elsewhere", () => {
    for (const cursor of ["", "nonsense", "-1", Buffer.from("x.a").toString("base64url"), "MTIz"]) {
      assert.isNull(pageOf(list, idOf, { cursor }), cursor)
    }
  })
})
