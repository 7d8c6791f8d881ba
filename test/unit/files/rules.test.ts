import { assert, describe, it } from "@effect/vitest"
import { expiryOf, listQueryOf, purposeProblem, rangeOf, safeName } from "../../../src/subjects/files/rules.ts"

describe("the rules of files", () => {
  it("names have no folders and no control characters, and are bounded", () => {
    for (const [given, name] of [
      ["a.txt", "a.txt"],
      ["../../etc/passwd", "passwd"],
      ["C:\\temp\\x.bin", "x.bin"],
      ["a\u0000b\r\nc\u202e", "abc"],
      ["..", "file"],
      ["", "file"],
      ["x/", "file"]
    ] as const) {
      assert.strictEqual(safeName(given), name)
    }
    assert.lengthOf(safeName("n".repeat(100_000)), 255)
  })

  it("a range is one part, the whole, or cannot be met", () => {
    assert.deepStrictEqual(rangeOf("bytes=0-0", 10), { first: 0, last: 0 })
    assert.deepStrictEqual(rangeOf("bytes=4-", 10), { first: 4, last: 9 })
    assert.deepStrictEqual(rangeOf("bytes=4-400", 10), { first: 4, last: 9 })
    assert.deepStrictEqual(rangeOf("bytes=-400", 10), { first: 0, last: 9 })
    for (const header of [undefined, "bytes=", "bytes=-", "lines=1-2", "bytes=1-2,4-5", "bytes=5-4"]) {
      assert.isNull(rangeOf(header, 10))
    }
    for (const header of ["bytes=10-", "bytes=-0"]) assert.strictEqual(rangeOf(header, 10), "unsatisfiable")
    assert.strictEqual(rangeOf("bytes=0-", 0), "unsatisfiable")
  })

  it("purposes, expiry and pages are as documented", () => {
    assert.isNull(purposeProblem("batch"))
    assert.isNotNull(purposeProblem("batch_output"))
    assert.isNotNull(purposeProblem(undefined))
    assert.isNull(expiryOf(undefined, undefined))
    assert.strictEqual(expiryOf("created_at", "3600"), 3_600_000)
    for (const [anchor, seconds] of [
      ["created_at", "3599"],
      ["created_at", "2592001"],
      ["created_at", undefined],
      [undefined, "3600"],
      ["created_at", "1e4"]
    ] as const) {
      assert.property(expiryOf(anchor, seconds), "param")
    }
    assert.property(listQueryOf(new URLSearchParams("limit=0")), "param")
    assert.property(listQueryOf(new URLSearchParams("order=up")), "param")
  })
})
