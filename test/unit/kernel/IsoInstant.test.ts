import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { instantMs, isDay } from "../../../src/kernel/time/IsoInstant.ts"

describe("isDay", () => {
  it("takes what JavaScript writes, and no neighbour of a month's end", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer({ min: -50_000, max: 2_000_000 }), (day) => {
        assert.isTrue(isDay(new Date(day * 86_400_000).toISOString().slice(0, 10)))
      }),
      { seed: 41, numRuns: 2_000 }
    )
    for (const none of [
      "2026-02-29",
      "2026-02-30",
      "2100-02-29",
      "2026-04-31",
      "2026-00-10",
      "2026-13-01",
      "2026-01-00",
      "2026-01-32",
      "2026-1-1",
      "26-01-01",
      "0026-01-01",
      "2026-01-01Z",
      " 2026-01-01"
    ]) {
      assert.isFalse(isDay(none), none)
    }
    assert.isTrue(isDay("2028-02-29") && isDay("2000-02-29"))
  })
})

describe("instantMs", () => {
  it("reads a time with its zone", () => {
    const expected = Date.UTC(2026, 1, 28, 12, 30)
    for (const text of [
      "2026-02-28T12:30Z",
      "2026-02-28T12:30:00Z",
      "2026-02-28t12:30:00.000z",
      "2026-02-28T14:30:00+02:00",
      "2026-02-28T14:30:00+0200",
      "2026-02-28T07:00:00.000000000-05:30"
    ]) {
      assert.strictEqual(instantMs(text), expected, text)
    }
  })

  it("takes no day that is none, no time without a zone, and nothing else that Date.parse guesses", () => {
    for (const text of [
      "2026-02-30T00:00:00Z",
      "2027-02-29T00:00:00Z",
      "2026-06-31T10:00:00+02:00",
      "2026-02-28",
      "2026-02-28T12:30:00",
      "2026-02-28 12:30:00Z",
      "2026-02-28T24:00:00Z",
      "2026-02-28T12:60:00Z",
      "2026-02-28T12:30:60Z",
      "2026-02-28T12:30:00+25:00",
      "2026-02-28T12:30:00 UTC",
      "2026-02-28T12:30:00ZZ",
      "2026-02-28 (tomorrow)",
      "tomorrow",
      "1772281800",
      ""
    ]) {
      assert.isNull(instantMs(text), text)
    }
  })
})
