import { assert, describe, it } from "@effect/vitest"
import type { AttemptRecord } from "../../../src/subjects/routing/entity.ts"
import * as AttemptMetrics from "../../../src/observe/usage/telemetry/AttemptMetrics.ts"

const attempt = (provider: string, given: Partial<AttemptRecord> = {}): AttemptRecord => ({
  provider,
  connectionId: "c",
  model: "m",
  status: 200,
  outcome: "completed",
  reason: "ok",
  startedMs: 0,
  latencyMs: 1,
  ...given
})

const samplesOf = ({ snapshot }: AttemptMetrics.AttemptMetrics) => {
  const [family] = snapshot()
  return family?.type === "counter" ? family.samples : assert.fail("no counter")
}

describe("gateway_upstream_attempts_total", () => {
  it("counts a provider that fails behind a fallback", () => {
    const metrics = AttemptMetrics.make()
    const broken = attempt("broken", { outcome: "failed", status: 503 })
    metrics.observe([broken, attempt("good")])
    metrics.observe([broken, attempt("silent", { outcome: "failed", status: null }), attempt("good")])
    assert.sameDeepMembers(
      [...samplesOf(metrics)],
      [
        { labels: { provider: "broken", outcome: "failed", status_class: "5xx" }, value: 2 },
        { labels: { provider: "silent", outcome: "failed", status_class: "none" }, value: 1 },
        { labels: { provider: "good", outcome: "completed", status_class: "2xx" }, value: 2 }
      ]
    )
  })

  it("tells the outcomes of one provider apart when they take turns", () => {
    const metrics = AttemptMetrics.make()
    const failed = { outcome: "failed" as const, status: 500 }
    const turns = [
      {},
      failed,
      {},
      { ...failed, status: 503 },
      { ...failed, status: null },
      {},
      { ...failed, status: 429 }
    ]
    for (const turn of turns) metrics.observe([attempt("p", turn)])
    assert.sameDeepMembers(
      samplesOf(metrics).map(({ labels, value }) => [labels["outcome"], labels["status_class"], value]),
      [
        ["completed", "2xx", 3],
        ["failed", "5xx", 2],
        ["failed", "none", 1],
        ["failed", "4xx", 1]
      ]
    )
  })

  it("counts providers beyond its limit together", () => {
    const metrics = AttemptMetrics.make()
    const names = Array.from({ length: AttemptMetrics.maxProviders + 5 }, (_, index) => `p${index}`)
    metrics.observe(names.map((name) => attempt(name)))
    const samples = samplesOf(metrics)
    assert.lengthOf(samples, AttemptMetrics.maxProviders + 1)
    assert.strictEqual(samples.find(({ labels }) => labels["provider"] === "other")?.value, 5)
  })
})
