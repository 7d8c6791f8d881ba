/** Local times against an oracle that looks at every minute around. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { instantOf, isTimeZone, localTimeAt } from "../../../src/kernel/time/TimeZones.ts"

const zones = [
  "UTC",
  "Europe/Zurich",
  "America/New_York",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "America/St_Johns",
  "Africa/Casablanca",
  "Pacific/Apia",
  "Asia/Tehran"
]
const minuteMs = 60_000
const from = Date.UTC(2010, 0, 1)
const until = Date.UTC(2035, 0, 1)

const minutesOf = (zone: string, atMs: number): number => {
  const { day, hour, minute, month, year } = localTimeAt(zone, atMs)
  return Date.UTC(year, month - 1, day, hour, minute) / minuteMs
}

describe("TimeZones", () => {
  it("finds the first minute at which the clocks show a time or, where it is left out, have passed it", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.constantFrom(...zones),
        FastCheck.integer({ min: from / minuteMs, max: until / minuteMs }),
        (zone, minutes) => {
          const asked = new Date(minutes * minuteMs)
          const found = instantOf(zone, {
            year: asked.getUTCFullYear(),
            month: asked.getUTCMonth() + 1,
            day: asked.getUTCDate(),
            hour: asked.getUTCHours(),
            minute: asked.getUTCMinutes()
          })
          assert.isAtLeast(minutesOf(zone, found), minutes)
          assert.isBelow(minutesOf(zone, found - minuteMs), minutes)
          // No earlier instant shows it: the clocks are set back by two hours at most, and Samoa left out a day.
          for (let back = 1; back <= 150; back += 1) {
            assert.notStrictEqual(minutesOf(zone, found - back * minuteMs), minutes)
          }
        }
      ),
      { numRuns: 120 }
    )
  })

  it("finds the times around every change of the clocks", () => {
    const cases: ReadonlyArray<readonly [string, string, string]> = [
      ["Europe/Zurich", "2026-03-29T02:30", "2026-03-29T01:00:00.000Z"],
      ["Europe/Zurich", "2026-10-25T02:30", "2026-10-25T00:30:00.000Z"],
      ["America/New_York", "2026-03-08T02:15", "2026-03-08T07:00:00.000Z"],
      ["America/New_York", "2026-11-01T01:15", "2026-11-01T05:15:00.000Z"],
      ["Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:30:00.000Z"],
      ["Pacific/Apia", "2011-12-30T12:00", "2011-12-30T10:00:00.000Z"],
      ["UTC", "2026-02-29T00:00", "2026-03-01T00:00:00.000Z"]
    ]
    for (const [zone, local, expected] of cases) {
      const [date = "", time = ""] = local.split("T")
      const [year = 0, month = 0, day = 0] = date.split("-").map(Number)
      const [hour = 0, minute = 0] = time.split(":").map(Number)
      assert.strictEqual(new Date(instantOf(zone, { year, month, day, hour, minute })).toISOString(), expected)
    }
  })

  it("knows zones by their names only", () => {
    for (const zone of zones) assert.isTrue(isTimeZone(zone))
    for (const text of ["", "Mars/Base", "+02:00", "UTC+2", "x".repeat(1_000), "Europe/ Zurich"]) {
      assert.isFalse(isTimeZone(text), text)
    }
  })
})
