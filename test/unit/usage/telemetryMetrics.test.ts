import { assert, describe, it } from "@effect/vitest"
import type { UsageRow } from "../../../src/contract/domain/Usage.ts"
import { renderPrometheus } from "../../../src/entry/metrics/Metrics.ts"
import type { HistogramFamily, MetricFamily, MetricsSnapshot } from "../../../src/observe/usage/telemetry/Families.ts"
import * as RequestMetrics from "../../../src/observe/usage/telemetry/RequestMetrics.ts"
import { problems } from "../../support/prometheus.ts"
import { usageRow } from "../../support/usageRow.ts"

const recorded = (...rows: ReadonlyArray<Partial<UsageRow>>): MetricsSnapshot => {
  const metrics = RequestMetrics.make()
  for (const row of rows) metrics.observe(usageRow(row))
  return metrics.snapshot()
}

const named = (snapshot: MetricsSnapshot, name: string): MetricFamily => {
  const found = snapshot.find((family) => family.name === name)
  assert.isDefined(found)
  return found
}

const histogram = (snapshot: MetricsSnapshot, name: string): HistogramFamily => {
  const found = named(snapshot, name)
  assert.strictEqual(found.type, "histogram")
  return found as HistogramFamily
}

describe("request metrics", () => {
  it("counts requests by their labels", () => {
    const { samples } = named(recorded({}, {}, { outcome: "failed", status: 502 }), "gateway_requests_total")
    const labels = { provider: "openai", model: "gpt-4.1", wire: "chat", outcome: "completed", status_class: "2xx" }
    assert.deepStrictEqual(samples, [
      { labels, value: 2 },
      { labels: { ...labels, outcome: "failed", status_class: "5xx" }, value: 1 }
    ])
  })

  it("puts a value on a bound into the bucket of that bound and a large one into the last", () => {
    const { bounds, samples } = histogram(
      recorded({ latencyMs: 10 }, { latencyMs: 10.1 }, { latencyMs: 1e9 }),
      "gateway_request_duration_seconds"
    )
    const counts = Array.from(samples[0]?.counts ?? [])
    assert.lengthOf(counts, bounds.length + 1)
    assert.deepStrictEqual([counts[0], counts[1], counts.at(-1)], [1, 1, 1])
    assert.closeTo(samples[0]?.sum ?? 0, 1_000_000.0201, 1e-6)
  })

  it("leaves out what is not known: no first token, no tokens, no price", () => {
    const snapshot = recorded({
      ttftMs: null,
      tokens: { in: 0, out: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
      priced: false
    })
    for (const name of ["gateway_time_to_first_token_seconds", "gateway_request_tokens", "gateway_request_cost_usd"])
      assert.lengthOf(named(snapshot, name).samples, 0, name)
  })

  it("is bounded, and what does not fit keeps its wire, outcome and status class", () => {
    const rows = Array.from({ length: 2000 }, (_, index) => ({
      provider: "other",
      model: `made-up-${index}`,
      outcome: index % 2 === 0 ? ("completed" as const) : ("failed" as const)
    }))
    const snapshot = recorded(...rows)
    const family = named(snapshot, "gateway_requests_total")
    assert.isAtMost(family.samples.length, RequestMetrics.maxSeries)
    assert.deepStrictEqual(problems(renderPrometheus(snapshot)), [])
    const rest = family.samples.filter(({ labels }) => labels["model"] === "other")
    assert.sameMembers(
      rest.map(({ labels }) => labels["outcome"]),
      ["completed", "failed"]
    )
    const total = recordedRequests(family)
    assert.strictEqual(total, 2000)
  })

  it("a model that is in no catalogue is counted as other, under its provider", () => {
    const metrics = RequestMetrics.make()
    for (let index = 0; index < 10_000; index += 1) {
      metrics.observe(usageRow({ model: `made-up-${index}` }), () => false)
      metrics.observe(usageRow({ model: "gpt-4.1" }), () => true)
    }
    const { samples } = named(metrics.snapshot(), "gateway_requests_total")
    assert.deepStrictEqual(
      samples.map(({ labels, ...sample }) => [labels["provider"], labels["model"], "value" in sample && sample.value]),
      [
        ["openai", "other", 10_000],
        ["openai", "gpt-4.1", 10_000]
      ]
    )
    assert.isBelow(renderPrometheus(metrics.snapshot()).length, 30_000)
  })

  it("counts a model by its name once it is listed", () => {
    const metrics = RequestMetrics.make()
    const listed = [false, false, true, false]
    for (const isListed of listed) metrics.observe(usageRow({ model: "new" }), () => isListed)
    const { samples } = named(metrics.snapshot(), "gateway_requests_total")
    assert.deepStrictEqual(
      samples.map(({ labels, ...sample }) => [labels["model"], "value" in sample && sample.value]),
      [
        ["other", 2],
        ["new", 2]
      ]
    )
  })

  it("gives a snapshot that later requests do not change", () => {
    const metrics = RequestMetrics.make()
    metrics.observe(usageRow())
    const before = metrics.snapshot()
    const text = renderPrometheus(before)
    metrics.observe(usageRow())
    assert.strictEqual(renderPrometheus(before), text)
    assert.notStrictEqual(renderPrometheus(metrics.snapshot()), text)
  })
})

const recordedRequests = (family: MetricFamily): number => {
  assert.strictEqual(family.type, "counter")
  return family.type === "counter" ? family.samples.reduce((total, { value }) => total + value, 0) : 0
}
