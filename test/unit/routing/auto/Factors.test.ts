import { assert, describe, it } from "@effect/vitest"
import { factors } from "../../../../src/plane/routing/auto/Factors.ts"
import { staticFitness } from "../../../../src/plane/routing/auto/Fitness.ts"
import { errorRateOf, p95Of, poolOf } from "../../../../src/plane/routing/auto/Pool.ts"
import type { FactorName } from "../../../../src/subjects/combos/entity/AutoWeights.ts"
import type { Candidate, Features, QuotaWindow } from "../../../../src/plane/routing/candidate/Candidate.ts"
import { nowMs, performanceOf } from "../../../support/Candidates.ts"
import { candidate, features } from "./support.ts"

const values = (name: FactorName, pool: ReadonlyArray<Candidate>, asked: Features = features()) =>
  pool.map((each) => Number(factors[name](each, poolOf(pool, staticFitness), asked, nowMs).toFixed(6)))
const hour = 3_600_000
const left = (remaining: number, window: QuotaWindow["window"] = "5h", inMs: number | null = hour): QuotaWindow => ({
  window,
  remaining,
  resetAtMs: inMs === null ? null : nowMs + inMs
})

describe("Factors", () => {
  it("health follows the breaker", () => {
    const pool = (["CLOSED", "DEGRADED", "HALF_OPEN", "OPEN"] as const).map((breaker) =>
      candidate(breaker, { breaker })
    )
    assert.deepStrictEqual(values("health", pool), [1, 0.75, 0.5, 0])
  })

  it("quota is the worst window; unknown is neutral; a window that was reset is full", () => {
    assert.deepStrictEqual(
      values("quota", [
        candidate("a", { quotas: [left(0.9), left(0.3, "weekly")] }),
        candidate("b"),
        candidate("c", { quotas: [left(0, "5h", -1), left(0.8, "weekly", null)] }),
        candidate("d", { quotas: [left(-3)] })
      ]),
      [0.3, 0.5, 0.8, 0]
    )
  })

  it("costInv blends 60/40 against the dearest", () => {
    const pool = [
      candidate("dear", { price: { inputUsd: 10, outputUsd: 30 } }),
      candidate("fair", { price: { inputUsd: 5, outputUsd: 5 } }),
      candidate("free", { price: { inputUsd: 0, outputUsd: 0 } }),
      candidate("unknown")
    ]
    // 18, 5, 0 and unknown.
    assert.deepStrictEqual(values("costInv", pool), [0, Number((1 - 5 / 18).toFixed(6)), 1, 0.5])
    assert.deepStrictEqual(values("costInv", pool.slice(2, 3)), [1])
  })

  it("latencyInv takes the unknown for the median and trusts few samples little", () => {
    assert.deepStrictEqual(
      values("latencyInv", [
        candidate("a", { performance: performanceOf(200) }),
        candidate("b", { performance: performanceOf(400) }),
        candidate("c", { performance: performanceOf(1_000) }),
        candidate("d")
      ]),
      [0.8, 0.6, 0, 0.6]
    )
    assert.deepStrictEqual(values("latencyInv", [candidate("a"), candidate("b")]), [0.5, 0.5])
    const pool = [
      candidate("a", { performance: performanceOf(1_000) }),
      candidate("b", { performance: performanceOf(2_000) }),
      candidate("c", { performance: performanceOf(100, { samples: 1 }) })
    ]
    assert.strictEqual(p95Of(pool[2]!, poolOf(pool, staticFitness)), 0.2 * 100 + 0.8 * 1_000)
    // A candidate is not preferred only because it was never called.
    assert.deepStrictEqual(
      values("latencyInv", [candidate("a", { performance: performanceOf(100) }), candidate("b")]),
      [0, 0]
    )
  })

  it("stability falls with deviation and with errors", () => {
    assert.deepStrictEqual(
      values("stability", [
        candidate("a", { performance: performanceOf(1, { deviationMs: 0, errorRate: 0 }) }),
        candidate("b", { performance: performanceOf(1, { deviationMs: 50, errorRate: 0 }) }),
        candidate("c", { performance: performanceOf(1, { deviationMs: 25, errorRate: 0.5 }) }),
        candidate("d", { performance: performanceOf(1, { deviationMs: 0, errorRate: 1 }) })
      ]),
      [1, 0, 0.25, 0]
    )
    assert.deepStrictEqual(values("stability", [candidate("a")]), [0.475])
    assert.closeTo(
      errorRateOf(candidate("a", { performance: performanceOf(1, { samples: 1, errorRate: 1 }) })),
      0.24,
      1e-12
    )
  })

  it("tierPriority is the account's tier", () => {
    const tiers = ["ultra", "pro", "standard", "free", null] as const
    assert.deepStrictEqual(
      values(
        "tierPriority",
        tiers.map((tier) => candidate(`${tier}`, { tier }))
      ),
      [1, 0.67, 0.33, 0, 0.33]
    )
  })

  it("tierAffinity and specificityMatch set the model's tier against the request", () => {
    const pool = [
      candidate("free", { price: { inputUsd: 0, outputUsd: 0 } }),
      candidate("cheap", { price: { inputUsd: 1, outputUsd: 9 } }),
      candidate("premium", { price: { inputUsd: 3, outputUsd: 15 } }),
      candidate("unknown")
    ]
    assert.deepStrictEqual(values("tierAffinity", pool), [1, 0.7, 0.3, 0.5])
    assert.deepStrictEqual(values("tierAffinity", pool, features({ hasTools: true })), [0.7, 1, 0.7, 0.5])
    assert.deepStrictEqual(values("tierAffinity", pool, features({ specificity: 70 })), [0.3, 0.7, 1, 0.5])
    assert.deepStrictEqual(values("specificityMatch", pool), [0.9, 0.4, 0.3, 0.5])
    assert.deepStrictEqual(values("specificityMatch", pool, features({ specificity: 30 })), [0.2, 0.9, 0.3, 0.5])
    assert.deepStrictEqual(values("specificityMatch", pool, features({ specificity: 51 })), [0.2, 0.4, 0.9, 0.5])
  })

  it("contextAffinity sets the need against the window", () => {
    const pool = [null, 4_000, 6_000, 8_000, 1_000_000, 3_999].map((contextLength, index) =>
      candidate(`${index}`, { facts: { contextLength } })
    )
    assert.deepStrictEqual(values("contextAffinity", pool, features({ promptTokens: 3_000, maxOutputTokens: 1_000 })), [
      0.5,
      0.5,
      Number((1.5 - 4 / 6).toFixed(6)),
      1,
      1,
      0
    ])
    assert.deepStrictEqual(values("contextAffinity", pool.slice(1, 2), features({ promptTokens: 2_976 })), [0.5])
  })

  it("connectionDensity is the part of the provider's load", () => {
    assert.deepStrictEqual(
      values("connectionDensity", [
        candidate("p#1", { used: 30, inFlight: 0 }),
        candidate("p#2", { used: 10, inFlight: 0 }),
        candidate("p#3", { used: 0, inFlight: 2 }),
        candidate("alone", { used: 1_000, inFlight: 50 }),
        candidate("fresh#1"),
        candidate("fresh#2")
      ]),
      // p: fair part 1/3. #1 has 3/4 of the used (0) and none under way (1); #3 none used (1) and all under way (0).
      [0.5, 0.8125, 0.5, 0.5, 0.5, 0.5]
    )
    assert.deepStrictEqual(
      values("connectionDensity", [
        candidate("p#1", { model: "x", used: 5 }),
        candidate("p#1", { model: "y", used: 5 }),
        candidate("p#2", { model: "x", used: 0 })
      ]),
      [0.25, 0.25, 0.75]
    )
  })

  it("resetWindowAffinity is the nearness of the next reset in parts of its window", () => {
    assert.deepStrictEqual(
      values("resetWindowAffinity", [
        candidate("a", { quotas: [left(0.5, "5h", hour), left(0.5, "weekly", 7 * 24 * hour)] }),
        candidate("b", { quotas: [left(0.5, "hourly", hour / 4)] }),
        candidate("c", { quotas: [left(0.5, "daily", null), left(0.5, "daily", -5)] }),
        candidate("d"),
        candidate("e", { quotas: [left(0.5, "monthly", 60 * 24 * hour)] })
      ]),
      [0.8, 0.75, 0.5, 0.5, 0]
    )
  })

  it("taskFit asks the fitness table", () => {
    const pool = [candidate("a", { model: "claude-sonnet-4" }), candidate("b", { model: "something" })]
    assert.deepStrictEqual(values("taskFit", pool, features({ taskType: "coding" })), [0.95, 0.5])
  })
})
