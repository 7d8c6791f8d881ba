import { assert, describe, it } from "@effect/vitest"
import { readQuotas } from "../../../../src/plane/routing/quota/HeaderQuotas.ts"

const nowMs = Date.parse("2026-03-10T12:00:00Z")
const epoch = (plusMs: number): string => String((nowMs + plusMs) / 1000)
const minute = 60_000
const hour = 60 * minute

const read = (headers: Readonly<Record<string, string>>) => readQuotas((name) => headers[name] ?? null, nowMs)

describe("readQuotas", () => {
  it("tells nothing from headers that tell nothing, and looks only a few times", () => {
    let looks = 0
    const quotas = readQuotas((name) => {
      looks += 1
      return name === "content-type" ? "application/json" : null
    }, nowMs)
    assert.isNull(quotas)
    assert.isAtMost(looks, 8)
  })

  it("OpenAI: limits whose window is not named are rates", () => {
    assert.deepStrictEqual(
      read({
        "x-ratelimit-limit-requests": "500",
        "x-ratelimit-remaining-requests": "499",
        "x-ratelimit-reset-requests": "120ms",
        "x-ratelimit-limit-tokens": "30000",
        "x-ratelimit-remaining-tokens": "7500",
        "x-ratelimit-reset-tokens": "1m30s"
      }),
      {
        plan: null,
        windows: [],
        rates: [
          { name: "requests", left: 499, total: 500, resetAtMs: nowMs + 120 },
          { name: "tokens", left: 7_500, total: 30_000, resetAtMs: nowMs + 90_000 }
        ]
      }
    )
  })

  it("Cerebras: a named day is a quota window, a named minute a rate", () => {
    assert.deepStrictEqual(
      read({
        "x-ratelimit-limit-requests-day": "14400",
        "x-ratelimit-remaining-requests-day": "3600",
        "x-ratelimit-reset-requests-day": "33011.38",
        "x-ratelimit-limit-tokens-minute": "60000",
        "x-ratelimit-remaining-tokens-minute": "60000",
        "x-ratelimit-reset-tokens-minute": "11.4"
      }),
      {
        plan: null,
        windows: [{ window: "daily", unit: "requests", used: 10_800, total: 14_400, resetAtMs: nowMs + 33_011_380 }],
        rates: [{ name: "tokens", left: 60_000, total: 60_000, resetAtMs: nowMs + 11_400 }]
      }
    )
    assert.deepStrictEqual(
      read({
        "x-ratelimit-limit-requests-hour": "100",
        "x-ratelimit-remaining-requests-hour": "25",
        "x-ratelimit-remaining-requests-day": "no number",
        "x-ratelimit-remaining-tokens": "-3"
      })?.rates,
      [{ name: "tokens", left: 0, total: null, resetAtMs: null }]
    )
  })

  it("OpenRouter: one limit for all, reset as epoch milliseconds", () => {
    assert.deepStrictEqual(
      read({
        "x-ratelimit-limit": "20",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": String(nowMs + 30_000)
      })?.rates,
      [{ name: "requests", left: 0, total: 20, resetAtMs: nowMs + 30_000 }]
    )
  })

  it("Anthropic keys: rates per minute, reset as a time", () => {
    assert.deepStrictEqual(
      read({
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "49",
        "anthropic-ratelimit-requests-reset": "2026-03-10T12:00:02Z",
        "anthropic-ratelimit-input-tokens-limit": "40000",
        "anthropic-ratelimit-input-tokens-remaining": "10000",
        "anthropic-ratelimit-input-tokens-reset": "2026-03-10T12:00:45Z"
      }),
      {
        plan: null,
        windows: [],
        rates: [
          { name: "requests", left: 49, total: 50, resetAtMs: nowMs + 2_000 },
          { name: "input-tokens", left: 10_000, total: 40_000, resetAtMs: nowMs + 45_000 }
        ]
      }
    )
  })

  it("Anthropic subscriptions: 5 hours and 7 days, used as shares of one", () => {
    assert.deepStrictEqual(
      read({
        "anthropic-ratelimit-unified-status": "allowed",
        "anthropic-ratelimit-unified-5h-status": "allowed",
        "anthropic-ratelimit-unified-5h-utilization": "0.25",
        "anthropic-ratelimit-unified-5h-reset": epoch(2 * hour),
        "anthropic-ratelimit-unified-7d-status": "allowed_warning",
        "anthropic-ratelimit-unified-7d-utilization": "0.875",
        "anthropic-ratelimit-unified-7d-reset": epoch(50 * hour)
      })?.windows,
      [
        { window: "5h", unit: "percent", used: 25, total: 100, resetAtMs: nowMs + 2 * hour },
        { window: "weekly", unit: "percent", used: 87.5, total: 100, resetAtMs: nowMs + 50 * hour }
      ]
    )
  })

  it("Anthropic subscriptions: a window that refused is used up, whatever its share says", () => {
    assert.deepStrictEqual(
      read({
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-representative-claim": "seven_day",
        "anthropic-ratelimit-unified-reset": epoch(3 * hour),
        "anthropic-ratelimit-unified-5h-utilization": "0.5"
      })?.windows,
      [
        { window: "5h", unit: "percent", used: 50, total: 100, resetAtMs: null },
        { window: "weekly", unit: "percent", used: 100, total: 100, resetAtMs: nowMs + 3 * hour }
      ]
    )
    const refusing = read({
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-5h-status": "rejected",
      "anthropic-ratelimit-unified-5h-utilization": "0.99",
      "anthropic-ratelimit-unified-5h-reset": epoch(hour)
    })
    assert.deepStrictEqual(refusing?.windows, [
      { window: "5h", unit: "percent", used: 100, total: 100, resetAtMs: nowMs + hour }
    ])
  })

  it("Codex: windows by their minutes, the plan by its name", () => {
    assert.deepStrictEqual(
      read({
        "x-codex-plan-type": "plus",
        "x-codex-primary-used-percent": "34",
        "x-codex-primary-window-minutes": "299",
        "x-codex-primary-reset-after-seconds": "7200",
        "x-codex-secondary-used-percent": "120",
        "x-codex-secondary-window-minutes": "10080",
        "x-codex-secondary-reset-at": epoch(30 * hour)
      }),
      {
        plan: "plus",
        windows: [
          { window: "5h", unit: "percent", used: 34, total: 100, resetAtMs: nowMs + 2 * hour },
          { window: "weekly", unit: "percent", used: 100, total: 100, resetAtMs: nowMs + 30 * hour }
        ],
        rates: []
      }
    )
  })

  it("Codex: a window of a length without a name is a rate", () => {
    const shown = read({ "x-codex-primary-used-percent": "40", "x-codex-primary-window-minutes": "180" })
    assert.deepStrictEqual(shown?.windows, [])
    assert.deepStrictEqual(shown?.rates, [{ name: "180 minutes", left: 60, total: 100, resetAtMs: null }])
  })

  it("reads absolute times against the upstream's own clock", () => {
    const shown = read({
      date: "Tue, 10 Mar 2026 11:30:00 GMT",
      "anthropic-ratelimit-unified-5h-utilization": "0.1",
      "anthropic-ratelimit-unified-5h-reset": epoch(-15 * minute)
    })
    assert.strictEqual(shown?.windows[0]?.resetAtMs, nowMs + 15 * minute)
  })

  it("is not led astray by nonsense", () => {
    for (const text of ["", "NaN", "1e400", "-", "0x10", "\u0000", "9".repeat(400)]) {
      const shown = read({
        "anthropic-ratelimit-unified-status": text,
        "anthropic-ratelimit-unified-5h-utilization": text,
        "anthropic-ratelimit-unified-5h-reset": text,
        "anthropic-ratelimit-requests-remaining": text,
        "anthropic-ratelimit-requests-limit": text,
        "x-codex-primary-used-percent": text,
        "x-codex-primary-window-minutes": text,
        "x-ratelimit-remaining-requests": text,
        "x-ratelimit-limit-requests": text
      })
      for (const { total, used } of shown?.windows ?? []) assert.isTrue(used >= 0 && used <= total, text)
      for (const { left } of shown?.rates ?? []) assert.isTrue(Number.isFinite(left) && left >= 0, text)
    }
  })
})
