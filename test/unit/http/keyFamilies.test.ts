/** The metrics of API keys on the Prometheus page. */
import { assert, describe, it } from "@effect/vitest"
import { keyFamilies } from "../../../src/entry/metrics/KeyFamilies.ts"
import { renderPrometheus } from "../../../src/entry/metrics/Metrics.ts"
import { count, KeyMetrics, maxKeys } from "../../../src/observe/usage/telemetry/KeyMetrics.ts"
import { problems } from "../../support/prometheus.ts"
import { usageRow } from "../../support/usageRow.ts"

const names: Readonly<Record<string, string>> = { a: 'an "odd"\nname\\', b: "same", c: "same" }

const standing = (limit: number, used: number) => ({
  spec: {
    id: "budget",
    unit: "usd" as const,
    rule: { interval: "daily" as const, resetTime: "00:00", timeZone: "UTC" },
    limit,
    warningThreshold: 0.8,
    scope: null
  },
  window: { startMs: 0, endMs: 1, used, reserved: 0, notified: null }
})

const pageOf = (asked: ReadonlyArray<string | null>, budgeted: ReadonlyArray<string> = []): string => {
  const metrics = new KeyMetrics()
  for (const id of asked) count(metrics.of(id), usageRow())
  return renderPrometheus(
    keyFamilies({
      counts: metrics.list(),
      nameOf: (id) => names[id] ?? (id.startsWith("key-") ? id : null),
      budgeted,
      standings: (id) => [standing(2_000_000_000, id === "c" ? 1_500_000_000 : 500_000_000)]
    })
  )
}

describe("keyFamilies", () => {
  it("counts by the key's name, with its characters escaped", () => {
    const page = pageOf(["a", "a", null])
    assert.deepStrictEqual(problems(page), [])
    assert.include(page, 'gateway_key_requests_total{key="an \\"odd\\"name\\\\"} 2\n')
    assert.include(page, 'gateway_key_requests_total{key="none"} 1\n')
    assert.include(page, 'gateway_key_tokens_total{key="none",type="input"} 10\n')
    assert.include(page, 'gateway_key_cost_usd_total{key="none"} 0.0015\n')
  })

  it("adds up keys that share a name, and says the least of what is left of their budgets", () => {
    const page = pageOf(["b", "c"], ["b", "c"])
    assert.deepStrictEqual(problems(page), [])
    assert.include(page, 'gateway_key_requests_total{key="same"} 2\n')
    assert.include(page, 'gateway_key_budget_remaining_usd{key="same",window="daily"} 0.5\n')
  })

  it("counts keys beyond the limit together, and shows as many budgets", () => {
    const ids = Array.from({ length: maxKeys + 10 }, (_, n) => `key-${n}`)
    const page = pageOf(ids, ids)
    assert.include(page, 'gateway_key_requests_total{key="other"} 10\n')
    assert.lengthOf(page.match(/^gateway_key_requests_total/gm) ?? [], maxKeys + 1)
    assert.lengthOf(page.match(/^gateway_key_budget_remaining_usd/gm) ?? [], maxKeys)
  })
})
