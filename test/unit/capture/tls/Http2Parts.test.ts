/** The pure parts of HTTP/2. */
import { assert, describe, it } from "@effect/vitest"
import { bytesOf, headersOf, recordedHeaders } from "../../../../src/observe/capture/tls/Http2Headers.ts"
import { ResetBudget, resetLimits } from "../../../../src/observe/capture/tls/ResetBudget.ts"

describe("the budget of requests that are taken back", () => {
  it("has some at once, and some more with the time, never more than at once", () => {
    const budget = new ResetBudget(0)
    const takenAt = (nowMs: number): number => {
      let count = 0
      while (budget.take(nowMs)) count += 1
      return count
    }
    assert.strictEqual(takenAt(0), resetLimits.burst)
    // One more than there was has been asked for, and is owed.
    assert.strictEqual(takenAt(1_000), resetLimits.perSecond - 1)
    assert.strictEqual(takenAt(3_600_000), resetLimits.burst)
  })

  it("gains nothing from a clock that stands still or goes back", () => {
    const budget = new ResetBudget(5_000)
    for (let count = 0; count < resetLimits.burst; count += 1) assert.isTrue(budget.take(5_000 - count))
    assert.isFalse(budget.take(4_000))
  })
})

describe("headers of HTTP/2", () => {
  const raw = [
    ":status",
    "200",
    "set-cookie",
    "a=1",
    "x",
    "1",
    "set-cookie",
    "b=2",
    "set-cookie",
    "c=3",
    "__proto__",
    "p"
  ]

  it("go to the other side in their order, values of one name together", () => {
    assert.deepStrictEqual(Object.entries(headersOf(raw)), [
      [":status", "200"],
      ["set-cookie", ["a=1", "b=2", "c=3"]],
      ["x", "1"],
      ["__proto__", "p"]
    ])
  })

  it("are recorded without those of the first line, a cookie as one", () => {
    assert.deepStrictEqual(recordedHeaders([":path", "/", "cookie", "a=1", "x", "1", "cookie", "b=2"]), [
      "cookie",
      "a=1; b=2",
      "x",
      "1"
    ])
    assert.deepStrictEqual(recordedHeaders(raw), raw.slice(2))
  })

  it("are counted as the protocol counts them", () => {
    assert.strictEqual(bytesOf(["ab", "cde"]), 37)
    assert.strictEqual(bytesOf([]), 0)
  })
})
