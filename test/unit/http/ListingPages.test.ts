import { assert, describe, it } from "@effect/vitest"
import { InvalidRequest } from "../../../src/contract/domain/Errors.ts"
import { largestPage, pageById, pageByToken, queryOf } from "../../../src/entry/files/ListingPages.ts"

const entries = ["a", "b/1", "c", "d", "e"].map((id) => ({ id }))
const ids = (items: ReadonlyArray<{ readonly id: string }>) => items.map(({ id }) => id).join(" ")

const byId = (query: string) => {
  const page = pageById(entries, new URLSearchParams(query))
  return page instanceof InvalidRequest ? page : `${ids(page.items)}${page.hasMore ? " …" : ""}`
}

const refused = (page: unknown): string =>
  page instanceof InvalidRequest ? (page.param ?? "") : assert.fail("was not refused")

describe("ListingPages", () => {
  it("gives the whole list to a client that requests no page", () => {
    const page = pageById(entries, new URLSearchParams())
    assert.deepStrictEqual(page, { items: entries, hasMore: false })
  })

  it("pages forward and backward by id", () => {
    assert.strictEqual(byId("limit=2"), "a b/1 …")
    assert.strictEqual(byId("limit=2&after_id=b%2F1"), "c d …")
    assert.strictEqual(byId("limit=2&after_id=d"), "e")
    assert.strictEqual(byId("after_id=e"), "")
    assert.strictEqual(byId("limit=2&before_id=d"), "b/1 c …")
    assert.strictEqual(byId("limit=9&before_id=c"), "a b/1")
    assert.strictEqual(byId("limit=5"), "a b/1 c d e")
  })

  it("refuses what it cannot understand, by the field's name", () => {
    for (const size of ["0", "-1", "2.5", "many", "1e3"]) assert.strictEqual(refused(byId(`limit=${size}`)), "limit")
    assert.strictEqual(refused(byId("after_id=zz")), "after_id")
    assert.strictEqual(refused(byId("before_id=zz")), "before_id")
    assert.strictEqual(refused(byId("before_id=a&after_id=b%2F1")), "before_id")
  })

  it("cuts a size to the largest", () => {
    const many = Array.from({ length: largestPage + 1 }, (_, index) => ({ id: String(index) }))
    const page = pageById(many, new URLSearchParams("limit=99999"))
    if (page instanceof InvalidRequest) return assert.fail(page.message)
    assert.strictEqual(page.items.length, largestPage)
    assert.isTrue(page.hasMore)
  })

  it("walks the whole list by tokens", () => {
    const seen: Array<string> = []
    let token: string | null = ""
    while (token !== null) {
      const query: Record<string, string> = { pageSize: "2", pageToken: token }
      const page: ReturnType<typeof pageByToken<{ readonly id: string }>> = pageByToken(
        entries,
        new URLSearchParams(query)
      )
      if (page instanceof InvalidRequest) return assert.fail(page.message)
      seen.push(ids(page.items))
      token = page.nextToken
    }
    assert.deepStrictEqual(seen, ["a b/1", "c d", "e"])
    assert.strictEqual(refused(pageByToken(entries, new URLSearchParams("pageToken=%21%21"))), "pageToken")
    assert.strictEqual(refused(pageByToken(entries, new URLSearchParams("pageSize=x"))), "pageSize")
  })

  it("reads the query of a request target", () => {
    assert.strictEqual(queryOf("/v1/models?limit=2").get("limit"), "2")
    assert.isNull(queryOf("/v1/models").get("limit"))
  })
})
