/** Forecasts of quotas: the moment at which the pace of the window uses up what is left. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { exhaustionOf } from "../../../src/plane/routing/quota/Forecast.ts"
import type { QuotaView } from "../../../src/plane/routing/quota/QuotaState.ts"
import { lengthMs, type WindowName } from "../../../src/plane/routing/quota/Span.ts"

const nowMs = Date.UTC(2026, 10, 10)
const windows = Object.keys(lengthMs) as ReadonlyArray<WindowName>

const view = (window: WindowName, used: number, total: number, elapsedMs: number): QuotaView => ({
  window,
  unit: "requests",
  source: "declared",
  used,
  total,
  remaining: Math.max(0, total - used),
  resetAtMs: nowMs + lengthMs[window] - elapsedMs,
  untilMs: nowMs + lengthMs[window] - elapsedMs
})

describe("exhaustionOf", () => {
  it("is when the same pace has used up the rest, and only before the window is renewed", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.constantFrom(...windows),
        FastCheck.double({ min: 0.02, max: 0.99, noNaN: true }),
        FastCheck.integer({ min: 1, max: 1_000 }),
        FastCheck.integer({ min: 1, max: 1_000 }),
        (window, part, used, left) => {
          const elapsedMs = Math.max(5 * 60_000, part * lengthMs[window])
          const given = view(window, used, used + left, elapsedMs)
          const { atMs, basis } = exhaustionOf(given, nowMs)
          const expected = nowMs + (left / used) * elapsedMs
          if (expected < (given.resetAtMs ?? 0) - 1) {
            assert.strictEqual(basis, "forecast")
            assert.closeTo(atMs ?? Number.NaN, expected, 1)
          } else if (expected > (given.resetAtMs ?? 0) + 1)
            assert.deepStrictEqual({ atMs, basis }, { atMs: null, basis: "declared" })
        }
      )
    )
  })

  it("is now where nothing is left, and unknown where the pace says nothing", () => {
    const used = view("daily", 10, 10, 3_600_000)
    assert.deepStrictEqual(exhaustionOf(used, nowMs), { atMs: nowMs, basis: "declared" })
    const none = { atMs: null, basis: "declared" } as const
    assert.deepStrictEqual(exhaustionOf(view("daily", 0, 10, 3_600_000), nowMs), none)
    assert.deepStrictEqual(exhaustionOf(view("daily", 9, 10, 60_000), nowMs), none)
    assert.deepStrictEqual(exhaustionOf({ ...view("daily", 9, 10, 3_600_000), resetAtMs: null }, nowMs), none)
    assert.deepStrictEqual(exhaustionOf({ ...view("daily", 9, 10, 3_600_000), remaining: null }, nowMs), none)
  })
})
