/** Windows of limits: they follow one another without a gap, and begin at the reset time. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { resetIntervals } from "../../../src/subjects/limits/entity.ts"
import { localTimeAt } from "../../../src/kernel/time/TimeZones.ts"
import { windowAt } from "../../../src/plane/ledger/Windows.ts"

const zones = ["UTC", "Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"]
const two = (value: number): string => String(value).padStart(2, "0")

const rules = FastCheck.record({
  interval: FastCheck.constantFrom(...resetIntervals),
  timeZone: FastCheck.constantFrom(...zones),
  hour: FastCheck.nat(23),
  minute: FastCheck.nat(59)
}).map(({ hour, interval, minute, timeZone }) => ({ interval, timeZone, resetTime: `${two(hour)}:${two(minute)}` }))

describe("windowAt", () => {
  it("has the instant in it, and the next window begins where it ends", () => {
    FastCheck.assert(
      FastCheck.property(
        rules,
        FastCheck.integer({ min: Date.UTC(2010, 0, 1), max: Date.UTC(2035, 0, 1) }),
        (rule, atMs) => {
          const window = windowAt(rule, atMs)
          assert.isAtMost(window.startMs, atMs)
          assert.isAbove(window.endMs, atMs)
          assert.deepStrictEqual(windowAt(rule, window.startMs), window)
          assert.deepStrictEqual(windowAt(rule, window.endMs - 1), window)
          assert.strictEqual(windowAt(rule, window.endMs).startMs, window.endMs)
          const start = localTimeAt(rule.timeZone, window.startMs)
          const shown = `${two(start.hour)}:${two(start.minute)}`
          // Where the clocks leave the time out, the window begins at the change.
          if (shown !== rule.resetTime) {
            const before = localTimeAt(rule.timeZone, window.startMs - 1_000)
            assert.notStrictEqual(start.hour * 60 + start.minute - (before.hour * 60 + before.minute), 1)
          } else if (rule.interval === "weekly") assert.strictEqual(start.weekday, 0)
          else if (rule.interval === "monthly") assert.strictEqual(start.day, 1)
        }
      ),
      { numRuns: 300, seed: 20261126 }
    )
  })

  it("begins with the change of the clocks that leaves its reset time out", () => {
    const rule = { interval: "daily", resetTime: "02:00", timeZone: "America/New_York" } as const
    assert.strictEqual(windowAt(rule, Date.UTC(2019, 2, 10, 12)).startMs, Date.UTC(2019, 2, 10, 7))
  })

  it("keeps its length over a change of the clocks in local time, not in hours", () => {
    const rule = { interval: "daily", resetTime: "04:00", timeZone: "Europe/Zurich" } as const
    const spring = windowAt(rule, Date.UTC(2026, 2, 28, 12))
    assert.strictEqual((spring.endMs - spring.startMs) / 3_600_000, 23)
    const autumn = windowAt(rule, Date.UTC(2026, 9, 24, 12))
    assert.strictEqual((autumn.endMs - autumn.startMs) / 3_600_000, 25)
  })
})
