import { assert, describe, it } from "@effect/vitest"
import { spanAt, windowOfMinutes, type WindowName } from "../../../../src/plane/routing/quota/Span.ts"

const at = (iso: string): number => Date.parse(iso)

describe("spanAt", () => {
  for (const [window, anchor, now, start, end] of [
    ["hourly", null, "2026-03-10T14:35:10Z", "2026-03-10T14:00:00Z", "2026-03-10T15:00:00Z"],
    ["daily", null, "2026-03-10T23:59:59.999Z", "2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z"],
    ["weekly", null, "2026-03-09T00:00:00Z", "2026-03-09T00:00:00Z", "2026-03-16T00:00:00Z"],
    ["weekly", null, "2026-03-15T23:59:59Z", "2026-03-09T00:00:00Z", "2026-03-16T00:00:00Z"],
    ["monthly", null, "2026-02-28T12:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"],
    ["monthly", null, "2025-12-31T23:59:59Z", "2025-12-01T00:00:00Z", "2026-01-01T00:00:00Z"],
    ["5h", "2026-03-10T10:00:00Z", "2026-03-10T09:59:59Z", "2026-03-10T05:00:00Z", "2026-03-10T10:00:00Z"],
    ["5h", "2026-03-10T10:00:00Z", "2026-03-10T10:00:00Z", "2026-03-10T10:00:00Z", "2026-03-10T15:00:00Z"],
    ["daily", "2020-01-01T08:30:00Z", "2026-03-10T08:00:00Z", "2026-03-09T08:30:00Z", "2026-03-10T08:30:00Z"],
    ["weekly", "2026-03-12T06:00:00Z", "2026-03-30T00:00:00Z", "2026-03-26T06:00:00Z", "2026-04-02T06:00:00Z"],
    ["monthly", "2026-01-31T06:00:00Z", "2026-02-28T05:00:00Z", "2026-01-31T06:00:00Z", "2026-02-28T06:00:00Z"],
    ["monthly", "2026-01-31T06:00:00Z", "2026-03-01T00:00:00Z", "2026-02-28T06:00:00Z", "2026-03-31T06:00:00Z"],
    ["monthly", "2027-05-15T00:00:00Z", "2026-05-14T00:00:00Z", "2026-04-15T00:00:00Z", "2026-05-15T00:00:00Z"]
  ] as const satisfies ReadonlyArray<readonly [WindowName, string | null, string, string, string]>) {
    it(`${window} from ${anchor ?? "the calendar"} at ${now}`, () => {
      assert.deepStrictEqual(spanAt(window, anchor === null ? null : at(anchor), at(now)), {
        startMs: at(start),
        endMs: at(end)
      })
    })
  }

  it("five hours are of no calendar", () => assert.isNull(spanAt("5h", null, 1)))
})

describe("windowOfMinutes", () => {
  for (const [minutes, window] of [
    [60, "hourly"],
    [299, "5h"],
    [300, "5h"],
    [1440, "daily"],
    [10_079, "weekly"],
    [10_080, "weekly"],
    [40_320, "monthly"],
    [44_640, "monthly"],
    [1, null],
    [180, null],
    [0, null]
  ] as const) {
    it(`${minutes} minutes`, () => assert.strictEqual(windowOfMinutes(minutes), window))
  }
})
