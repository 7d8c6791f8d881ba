import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { holdsText, pageOf, readCursor, type RecordFilter } from "../../../src/observe/inspector/Filters.ts"
import { itemOf, recordOf } from "../../../src/contract/domain/TrafficRecord.ts"
import { Ring } from "../../../src/observe/inspector/Ring.ts"
import { aHead } from "../../support/TrafficRecords.ts"

const large = { maxEntries: 1_000, maxBytes: 10_000_000 }
const idsOf = (ring: Ring): ReadonlyArray<string> => [...ring.newest()].map(({ head }) => head.id)

describe("Ring", () => {
  it("rotates the oldest records out", () => {
    const ring = new Ring({ ...large, maxEntries: 2 })
    for (const id of ["a", "b", "c"]) ring.set(aHead({ id }))
    assert.deepStrictEqual(idsOf(ring), ["c", "b"])
    assert.isNull(ring.get("a"))
  })

  it("keeps a place for a record that comes later, unless it was rotated out meanwhile", () => {
    const ring = new Ring({ ...large, maxEntries: 2 })
    ring.reserve("a")
    ring.set(aHead({ id: "b" }))
    ring.set(aHead({ id: "a" }))
    assert.deepStrictEqual(idsOf(ring), ["b", "a"])
    ring.reserve("late")
    for (const id of ["c", "d", "e", "f"]) ring.set(aHead({ id }))
    ring.set(aHead({ id: "late" }))
    assert.deepStrictEqual(idsOf(ring), ["late", "f"])
  })

  it("updates a record in its place, with the bodies it had", () => {
    const ring = new Ring(large)
    ring.set(aHead({ id: "a", status: "in-flight" }), { requestBody: Buffer.from("ask"), responseBody: null })
    ring.set(aHead({ id: "b" }))
    ring.set(aHead({ id: "a", status: 200 }))
    assert.deepStrictEqual(idsOf(ring), ["b", "a"])
    const entry = ring.get("a")
    assert.strictEqual(entry?.head.status, 200)
    assert.strictEqual(entry?.bodies.requestBody?.toString(), "ask")
  })

  it("drops bodies before records, and says so", () => {
    const ring = new Ring({ maxEntries: 10, maxBytes: 12_000 })
    const bodies = { requestBody: Buffer.alloc(3_000), responseBody: null }
    for (const id of ["a", "b", "c", "d"]) ring.set(aHead({ id }), bodies)
    assert.strictEqual(ring.size, 4)
    assert.deepStrictEqual(
      [...ring.newest()].map(({ head }) => head.bodyEvicted),
      [false, false, true, true]
    )
    // A late body of an old record is the next to go.
    ring.set(aHead({ id: "a" }), { requestBody: Buffer.alloc(2_000), responseBody: null })
    assert.strictEqual(ring.get("a")?.head.bodyEvicted, true)
    assert.strictEqual(ring.get("c")?.head.bodyEvicted, false)
  })

  it("keeps nothing of a record that is larger than everything may be", () => {
    const ring = new Ring({ maxEntries: 10, maxBytes: 5_000 })
    assert.isNull(ring.set(aHead({ id: "a", path: `/${"x".repeat(9_000)}` })))
    assert.strictEqual(ring.bytes, 0)
  })
})

describe("the list of records", () => {
  const ring = new Ring(large)
  const told = { processName: "node", pid: 4_711, contextKey: "5f2a9c01b7de" }
  ring.set(aHead({ id: "1", status: 200, agent: "codex", sessionId: "s1", ...told }), {
    requestBody: Buffer.from(`{"text":"Grüße"}`),
    responseBody: null
  })
  ring.set(aHead({ id: "2", status: 404, host: "example.com", detectedKind: "app", source: "tproxy" }))
  ring.set(aHead({ id: "3", status: "error", source: "custom-host", detectedKind: "custom" }))
  ring.set(aHead({ id: "4", status: "in-flight", mappedModel: "gpt-Next", requestHeaders: { "x-team": "Blue" } }))
  const found = (filter: RecordFilter, q?: string): ReadonlyArray<string> =>
    pageOf(ring, filter, { limit: 10 }, q === undefined ? undefined : (entry) => holdsText(entry, q)).entries.map(
      ({ head }) => head.id
    )

  it("is filtered by each of its filters", () => {
    const cases: ReadonlyArray<readonly [RecordFilter, ReadonlyArray<string>]> = [
      [{}, ["4", "3", "2", "1"]],
      [{ profile: "all" }, ["4", "3", "2", "1"]],
      [{ profile: "llm" }, ["4", "1"]],
      [{ profile: "custom" }, ["3"]],
      [{ host: "EXAMPLE" }, ["2"]],
      [{ agent: "codex" }, ["1"]],
      [{ status: "2xx" }, ["1"]],
      [{ status: "4xx" }, ["2"]],
      [{ status: "5xx" }, []],
      [{ status: "error" }, ["3"]],
      [{ status: "in-flight" }, ["4"]],
      [{ source: "tproxy" }, ["2"]],
      [{ sessionId: "s1" }, ["1"]],
      [{ process: "NOD" }, ["1"]],
      [{ process: "ruby" }, []],
      [{ pid: 4_711 }, ["1"]],
      [{ pid: 1 }, []],
      [{ contextKey: "5f2a9c01b7de" }, ["1"]],
      [{ contextKey: "5f2a" }, []],
      [{ model: "gpt-next" }, ["4"]],
      [{ profile: "llm", status: "2xx" }, ["1"]]
    ]
    for (const [filter, ids] of cases) assert.deepStrictEqual(found(filter), ids, JSON.stringify(filter))
  })

  it("finds text in bodies, headers and addresses", () => {
    assert.deepStrictEqual(found({}, "grüße"), ["1"])
    assert.deepStrictEqual(found({}, "blue"), ["4"])
    assert.deepStrictEqual(found({}, "https://example.com/v1"), ["2"])
    assert.deepStrictEqual(found({}, "nowhere"), [])
  })

  it("comes in pages, each record once, with the total of all", () => {
    const seen: Array<string> = []
    let before: number | undefined
    for (let page = 0; page < 9; page += 1) {
      const { entries, nextCursor, total } = pageOf(ring, {}, { limit: 3, ...(before === undefined ? {} : { before }) })
      assert.strictEqual(total, 4)
      seen.push(...entries.map(({ head }) => head.id))
      if (nextCursor === null) break
      before = Either.getOrThrow(readCursor(nextCursor))
    }
    assert.deepStrictEqual(seen, ["4", "3", "2", "1"])
  })

  it("refuses a cursor that is none", () => {
    for (const cursor of ["", "-1", "1.5", "é", "x".repeat(20)])
      assert.isTrue(Either.isLeft(readCursor(cursor)), cursor)
  })
})

describe("a record", () => {
  it("shows bytes as base64, and an item has neither headers nor bodies nor decision", () => {
    const head = aHead({ responseEncoding: "base64" })
    const record = recordOf(head, { requestBody: Buffer.from("ö"), responseBody: Buffer.from([0, 255]) })
    assert.strictEqual(record.requestBody, "ö")
    assert.strictEqual(record.responseBody, "AP8=")
    for (const key of ["requestHeaders", "responseHeaders", "requestBody", "responseBody", "decision"]) {
      assert.notProperty(itemOf(head), key)
    }
  })
})
