/** Steps of time against an oracle that asks `Intl` what the clocks show. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { placeOf, stepMs, timeSteps } from "../../../src/kernel/time/TimeSteps.ts"
import { localTimeAt } from "../../../src/kernel/time/TimeZones.ts"

const zones = [
  "UTC",
  "Europe/Zurich",
  "America/New_York",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "Asia/Kolkata",
  "America/St_Johns",
  "America/Santiago",
  "Africa/Cairo",
  "Asia/Beirut",
  "Atlantic/Azores",
  "America/Scoresbysund",
  "Pacific/Chatham",
  "Pacific/Apia"
]
const from = Date.UTC(2010, 0, 1)
const until = Date.UTC(2030, 0, 1)
const zone = FastCheck.constantFrom(...zones)
const time = FastCheck.integer({ min: from, max: until })

const dateAt = (timeZone: string, atMs: number): string => {
  const { day, month, year } = localTimeAt(timeZone, atMs)
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10)
}

describe("timeSteps", () => {
  it("makes days of a zone: each date once, from its first instant on, whatever the clocks do", () => {
    FastCheck.assert(
      FastCheck.property(
        zone,
        time,
        FastCheck.integer({ min: 1, max: 60 * stepMs.day }),
        (timeZone, fromMs, lengthMs) => {
          const { endMs, starts } = timeSteps(timeZone, "day", fromMs, fromMs + lengthMs)
          const dates = starts.map((atMs) => dateAt(timeZone, atMs))
          assert.deepStrictEqual(dates, [...new Set(dates)].toSorted())
          assert.isAtMost(starts[0] ?? Infinity, fromMs)
          assert.isAtLeast(endMs, fromMs + lengthMs)
          for (const [place, atMs] of [...starts, endMs].entries()) {
            assert.notStrictEqual(dateAt(timeZone, atMs - 1), dateAt(timeZone, atMs))
            const nextMs = [...starts, endMs][place + 1]
            if (nextMs !== undefined) assert.isAtMost(nextMs - atMs, 26 * stepMs.hour)
          }
        }
      ),
      { numRuns: 200 }
    )
  })

  it("makes hours that begin where the clocks show a whole hour, or where they were changed", () => {
    FastCheck.assert(
      FastCheck.property(
        zone,
        time,
        FastCheck.integer({ min: 1, max: 30 * stepMs.hour }),
        (timeZone, fromMs, lengthMs) => {
          const { endMs, offsets, starts } = timeSteps(timeZone, "hour", fromMs, fromMs + lengthMs)
          const changes = new Set(offsets.map((offset) => offset.fromMs))
          assert.isAtMost(starts[0] ?? Infinity, fromMs)
          assert.isAtLeast(endMs, fromMs + lengthMs)
          for (const [place, atMs] of starts.entries()) {
            const { minute, second } = localTimeAt(timeZone, atMs)
            assert.isTrue((minute === 0 && second === 0) || changes.has(atMs))
            const lengthMs = (starts[place + 1] ?? endMs) - atMs
            assert.isAbove(lengthMs, 0)
            // An hour goes on where the clocks are set back or forth within it by a part of one.
            assert.isAtMost(lengthMs, 1.5 * stepMs.hour)
          }
        }
      ),
      { numRuns: 300 }
    )
  })

  it("finds the place of an instant", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.uniqueArray(FastCheck.integer({ min: 0, max: 1_000 }), { maxLength: 30 }),
        FastCheck.integer({ min: -1, max: 1_001 }),
        (some, atMs) => {
          const starts = some.toSorted((one, other) => one - other)
          assert.strictEqual(
            placeOf(starts, atMs),
            starts.findLastIndex((start) => start <= atMs)
          )
        }
      )
    )
  })
})
