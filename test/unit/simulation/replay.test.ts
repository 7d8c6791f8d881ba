import { assert, describe, it } from "@effect/vitest"
import type { UsageRow } from "../../../src/contract/domain/Usage.ts"
import { builtInStrategy } from "../../../src/plane/routing/auto/RouterStrategies.ts"
import type { Candidate } from "../../../src/plane/routing/candidate/Candidate.ts"
import { makeReplay, type ReplayReport } from "../../../src/observe/simulation/Replay.ts"
import { RecordedRows } from "../../../src/observe/simulation/Recorded.ts"
import { candidateOf, performanceOf } from "../../support/Candidates.ts"
import { resolutionOf, row } from "./support.ts"

const replayed = (
  strategy: string,
  rows: ReadonlyArray<UsageRow>,
  known: Partial<Record<string, Partial<Candidate>>> = {}
): ReplayReport => {
  const resolution = resolutionOf(strategy, [1, 1])
  const recorded = new RecordedRows()
  recorded.add(rows.toReversed())
  const run = makeReplay({
    model: "new",
    resolution,
    candidates: resolution.targets.map((target) => candidateOf(target, known[target.account.connection.id])),
    rows: recorded,
    seed: 1,
    price: (provider) => (provider === "groq" ? { input: 1, output: 2 } : null),
    policy: { routerStrategies: builtInStrategy, freeTierStrict: false }
  })
  while (run.run(3));
  return run.report()
}

const ten = Array.from({ length: 10 }, (_, index) => row(index))

describe("a replay", () => {
  it("says who would have served how much, and what it would have cost", () => {
    const report = replayed("round-robin", ten)
    assert.deepStrictEqual(report.providers, [
      { provider: "groq", before: 0, after: 5, shareBefore: 0, shareAfter: 0.5 },
      { provider: "openai", before: 10, after: 5, shareBefore: 1, shareAfter: 0.5 }
    ])
    assert.deepStrictEqual([report.replayed, report.moved], [10, 5])
    assert.closeTo(report.cost.beforeUsd, 0.04, 1e-12)
    // Five at groq for 0.002 each; the five at openai have no price now.
    assert.closeTo(report.cost.afterUsd, 0.01, 1e-12)
    assert.closeTo(report.cost.differenceUsd, -0.03, 1e-12)
    assert.deepStrictEqual([report.cost.unpricedBefore, report.cost.unpricedAfter], [0, 5])
  })

  it("expects latencies by what is measured, else by the record of the target, else by the request's own", () => {
    const live = replayed("round-robin", ten, { two: { performance: performanceOf(600) } })
    assert.deepStrictEqual(live.latency.basis, { live: 5, recorded: 5, unknown: 0 })
    assert.deepStrictEqual([live.latency.meanBeforeMs, live.latency.meanAfterMs], [100, 200])
    const unknown = replayed("round-robin", ten)
    assert.deepStrictEqual(unknown.latency.basis, { live: 0, recorded: 5, unknown: 5 })
    assert.strictEqual(unknown.latency.meanAfterMs, 100)
    const record = replayed("round-robin", [
      ...ten,
      row(10, { provider: "groq", connectionId: "two", latencyMs: 700 }),
      row(11)
    ])
    assert.deepStrictEqual(record.latency.basis, { live: 0, recorded: 12, unknown: 0 })
    assert.strictEqual(record.latency.meanAfterMs, 400)
  })

  it("leaves out failed requests, counts used targets, and reports what it cannot know", () => {
    const report = replayed("least-used", [
      ...ten,
      row(10, { outcome: "failed" }),
      row(11, { outcome: "aborted" }),
      row(12, { outcome: "failed", provider: null })
    ])
    assert.deepStrictEqual([report.replayed, report.leftOut], [10, 3])
    assert.deepStrictEqual(
      report.providers.map(({ after }) => after),
      [5, 5]
    )
    assert.include(report.notes.join(" "), "tools, images")
    assert.deepStrictEqual(replayed("random", ten), replayed("random", ten))
    assert.strictEqual(replayed("priority", []).latency.meanAfterMs, null)
  })
})
