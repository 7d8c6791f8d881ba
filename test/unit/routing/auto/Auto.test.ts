import { assert, describe, it } from "@effect/vitest"
import { reasonText } from "../../../../src/plane/routing/candidate/Reason.ts"
import { noPolicy } from "../../../../src/subjects/combos/entity/ComboPolicy.ts"
import { factorNames } from "../../../../src/subjects/combos/entity/AutoWeights.ts"
import { orderAuto } from "../../../../src/plane/routing/auto/Auto.ts"
import { callEnded } from "../../../../src/plane/routing/auto/SelfHealing.ts"
import { defaultWeights, packs } from "../../../../src/plane/routing/auto/Weights.ts"
import { blankMemory } from "../../../../src/plane/routing/candidate/Strategy.ts"
import { nowMs, performanceOf } from "../../../support/Candidates.ts"
import { candidate, features, firstOf, ids, inputOf, ordered } from "./support.ts"

const priced = (id: string, usd: number, over: Parameters<typeof candidate>[1] = {}) =>
  candidate(id, { price: { inputUsd: usd, outputUsd: usd }, ...over })
const minute = 60_000

describe("orderAuto", () => {
  it("computes a score by hand", () => {
    const one = priced("a", 2, {
      model: "claude-sonnet-4",
      tier: "pro",
      performance: performanceOf(1_000, { deviationMs: 50, errorRate: 0.1 }),
      quotas: [{ window: "5h", remaining: 0.4, resetAtMs: null }],
      facts: { contextLength: 100_000 }
    })
    const two = priced("b", 8, { performance: performanceOf(4_000, { deviationMs: 200 }) })
    const { scores } = ordered([one, two], {
      id: "auto/chat",
      features: features({ taskType: "coding", specificity: 60 })
    })
    const expected =
      0.2 * 1 +
      0.15 * 0.4 +
      0.15 * (1 - 2 / 8) +
      0.12 * (1 - 1_000 / 4_000) +
      0.08 * 0.95 +
      0.05 * ((1 - 50 / 200) * 0.9) +
      0.05 * 0.67 +
      // Premium, where cheap is recommended for a complex request.
      0.05 * 0.7 +
      0.05 * 0.9 +
      0.05 * 1 +
      0.05 * 0.5
    assert.closeTo(scores.get(one.key)!.score, expected, 1e-12)
  })

  it("records all twelve factors and weights for every candidate, also under lkgp and for the unavailable", () => {
    const pool = [candidate("a"), candidate("b", { facts: { vision: true } })]
    const result = ordered(pool, {
      id: "auto/vision",
      unavailable: [candidate("c", { breaker: "OPEN" })],
      config: { routerStrategy: "lkgp" }
    })
    assert.strictEqual(result.scores.size, 3)
    for (const { factors, score } of result.scores.values()) {
      assert.deepStrictEqual(Object.keys(factors).toSorted(), factorNames.toSorted())
      const sum = factorNames.reduce((total, name) => total + result.weights[name] * factors[name]!, 0)
      assert.closeTo(score, sum, 1e-12)
    }
    assert.deepStrictEqual(ids(result.order), ["b"])
    assert.deepStrictEqual(result.weights, defaultWeights)
  })

  it("variants prefer what they promise", () => {
    const pool = [
      priced("cheap", 0.1, { model: "tiny", performance: performanceOf(3_000) }),
      priced("quick", 9, { model: "small", performance: performanceOf(100) }),
      priced("good", 9, { model: "claude-opus-4", performance: performanceOf(2_500) }),
      priced("full", 9, {
        model: "tiny",
        performance: performanceOf(3_000),
        quotas: [{ window: "5h", remaining: 1, resetAtMs: null }]
      })
    ]
    const asked = features({ taskType: "coding" })
    assert.strictEqual(firstOf(pool, { id: "auto/cheap", features: asked }), "cheap")
    assert.strictEqual(firstOf(pool, { id: "auto/coding:floor", features: asked }), "cheap")
    assert.strictEqual(firstOf(pool, { id: "auto/fast", features: asked }), "quick")
    assert.strictEqual(firstOf(pool, { id: "auto/coding", features: asked }), "good")
    assert.strictEqual(firstOf(pool, { id: "auto/offline", features: asked }), "full")
  })

  it("auto keeps to the last known good, and goes by score without one", () => {
    const pool = [candidate("a"), candidate("b"), candidate("c", { tier: "ultra" })]
    const memory = { ...blankMemory, lastKnownGood: { connectionId: "b", model: "m" } }
    assert.deepStrictEqual(ids(ordered(pool, { id: "auto", memory }).order), ["b", "c", "a"])
    assert.strictEqual(reasonText(ordered(pool, { id: "auto", memory }).reason), "last known good")
    assert.deepStrictEqual(ids(ordered(pool, { id: "auto" }).order), ["c", "a", "b"])
    assert.strictEqual(firstOf(pool, { id: "auto", memory, lkgpEnabled: false }), "c")
  })

  it("the mode header changes the weights, an unknown one nothing", () => {
    const pool = [candidate("a"), candidate("b")]
    const weights = (modeHeader: string | null, config = {}) => ordered(pool, { modeHeader, config }).weights
    assert.deepStrictEqual(weights("fast"), packs["ship-fast"])
    assert.deepStrictEqual(weights("turbo"), packs["quality-first"])
    assert.deepStrictEqual(weights("balanced", { auto: { weights: { health: 1 } } }), defaultWeights)
    assert.strictEqual(weights(null, { auto: { weights: { health: 2, quota: 2 } } }).quota, 0.5)
  })

  it("the budget header goes before the combo's cap", () => {
    const pool = [priced("three", 3, { tier: "ultra" }), priced("one", 1)]
    const asked = features({ promptTokens: 500_000, maxOutputTokens: 500_000 })
    assert.strictEqual(firstOf(pool, { features: asked }), "three")
    assert.deepStrictEqual(ids(ordered(pool, { features: asked, budgetHeader: "2" }).order), ["one"])
    assert.deepStrictEqual(ids(ordered(pool, { features: asked, config: { budgetCap: 2 } }).order), ["one"])
    assert.strictEqual(ordered(pool, { features: asked, budgetHeader: "5", config: { budgetCap: 2 } }).order.length, 2)
    assert.strictEqual(ordered(pool, { features: asked, budgetHeader: "-5" }).order.length, 2)
    const relaxed = ordered(pool, { features: asked, budgetHeader: "0.1" })
    assert.deepStrictEqual(ids(relaxed.order), ["one"])
    assert.deepStrictEqual(relaxed.relaxedFilters, ["budget"])
  })

  it("a strict free tier is an error value", () => {
    const result = orderAuto(inputOf([priced("a", 3)], { id: "auto/chat:free", freeTierStrict: true }))
    assert.strictEqual(result._tag, "NoFreeCandidate")
    assert.strictEqual(ordered([priced("a", 3)], { id: "auto/chat:free" }).relaxedFilters[0], "free")
  })

  it("explores at the rate of the config or the id, uniformly among the others that are not OPEN", () => {
    const pool = [
      candidate("best", { tier: "ultra" }),
      candidate("b"),
      candidate("c"),
      candidate("open", { breaker: "OPEN" })
    ]
    const seen = new Map<string, number>()
    const runs = 4_000
    for (let seed = 0; seed < runs; seed++) {
      const { detour, order, reason } = ordered(pool, { seed, config: { explorationRate: 0.2 } })
      assert.strictEqual(order.length, 4)
      assert.strictEqual(detour === "exploration", reasonText(reason) === "exploration")
      const id = ids(order)[0]!
      assert.strictEqual(id !== "best", detour === "exploration")
      seen.set(id, (seen.get(id) ?? 0) + 1)
    }
    assert.strictEqual(seen.get("open"), undefined)
    for (const id of ["b", "c"]) assert.closeTo((seen.get(id) ?? 0) / runs, 0.1, 0.02)

    const rateOf = (id: string) => {
      let explored = 0
      for (let seed = 0; seed < runs; seed++) {
        const result = orderAuto({ ...inputOf(pool, { id, seed }), policy: noPolicy })
        if (result._tag === "Ordered" && result.detour !== null) explored += 1
      }
      return explored / runs
    }
    assert.closeTo(rateOf("auto/fast"), 0.05, 0.012)
    assert.closeTo(rateOf("auto/smart"), 0.1, 0.016)
  })

  it("incident mode: no exploration, stability counts most, and who has recovered is probed", () => {
    const pool = [
      candidate("shaky", { tier: "ultra", performance: performanceOf(100, { deviationMs: 500, errorRate: 0.3 }) }),
      candidate("steady", { performance: performanceOf(1_000, { deviationMs: 10 }) })
    ]
    const open = ["x", "y", "z"].map((id) => candidate(id, { breaker: "OPEN" }))
    const config = { explorationRate: 1 }
    assert.strictEqual(firstOf(pool, { id: "auto/fast" }), "shaky")
    const incident = ordered(pool, { id: "auto/fast", unavailable: open, config })
    assert.deepStrictEqual(ids(incident.order), ["steady", "shaky"])
    assert.strictEqual(incident.incident, true)
    assert.strictEqual(incident.detour, null)
    assert.match(reasonText(incident.reason), /incident mode/)
    assert.strictEqual(ordered(pool, { unavailable: open.slice(1), config }).incident, false)
    const poor = {
      breaker: "HALF_OPEN",
      performance: performanceOf(1_000, { deviationMs: 200, errorRate: 0.1 })
    } as const
    const recovered = [...pool, candidate("recovered", poor)]
    const probed = ordered(recovered, {
      id: "auto/fast",
      unavailable: [...open, candidate("w", { breaker: "OPEN" })],
      config
    })
    assert.deepStrictEqual([probed.incident, probed.detour, ids(probed.order)[0]], [true, "probe", "recovered"])
  })

  it("leaves out a bad score until a probe answers well", () => {
    const config = { explorationRate: 0.000001, auto: { weights: { costInv: 1 } } }
    const pool = [priced("dear", 10), priced("cheap", 1), priced("fair", 5)]
    const one = ordered(pool, { config })
    assert.deepStrictEqual(ids(one.order), ["cheap", "fair", "dear"])
    assert.deepStrictEqual(
      one.exclusions.map(({ candidate: { key }, rule, untilMs }) => [key, rule, untilMs]),
      [["dear m", "score", nowMs + 5 * minute]]
    )
    const two = ordered(pool, { config, healing: one.healing, nowMs: nowMs + 5 * minute })
    assert.deepStrictEqual(ids(two.order), ["dear", "cheap", "fair"])
    assert.strictEqual(two.detour, "probe")
    assert.deepStrictEqual([...two.probes], ["dear m"])
    // The probe is running: no other request is sent there.
    const three = ordered(pool, { config, healing: two.healing, nowMs: nowMs + 5 * minute + 1 })
    assert.deepStrictEqual(ids(three.order), ["cheap", "fair", "dear"])
    const failed = callEnded(two.healing, "dear m", false, nowMs + 6 * minute)
    const four = ordered(pool, { config, healing: failed, nowMs: nowMs + 6 * minute })
    assert.strictEqual(four.exclusions[0]?.untilMs, nowMs + 16 * minute)
    // Exploration off is not probing off.
    const zero = ordered(pool, {
      config: { ...config, explorationRate: 0 },
      healing: one.healing,
      nowMs: nowMs + 5 * minute
    })
    assert.deepStrictEqual(ids(zero.order), ["dear", "cheap", "fair"])
    assert.deepStrictEqual([zero.detour, [...zero.probes]], ["probe", ["dear m"]])
  })

  it("leaves out none when all would be left out", () => {
    const { exclusions, healing, order, relaxedFilters } = ordered([priced("a", 5), priced("b", 5)], {
      config: { auto: { weights: { costInv: 1 } } }
    })
    assert.deepStrictEqual(ids(order), ["a", "b"])
    assert.deepStrictEqual([exclusions.length, healing.size], [0, 0])
    assert.deepStrictEqual(relaxedFilters, ["score"])
  })

  it("sends a probe to a half-open provider", () => {
    const pool = [candidate("best"), candidate("healing", { breaker: "HALF_OPEN" })]
    // With exploration, and without.
    for (const explorationRate of [0.000001, 0]) {
      const result = ordered(pool, { config: { explorationRate } })
      assert.deepStrictEqual(ids(result.order), ["healing", "best"])
      assert.strictEqual(reasonText(result.reason), "probe of a half-open provider")
    }
  })

  it("asks a custom strategy, keeps the rest in order of score, and tells a reason fit for a header", () => {
    const pool = [candidate("a"), candidate("b", { tier: "ultra" }), candidate("c", { tier: "pro" })]
    const strategies = () => ({
      name: "mine",
      description: "",
      select: () => ({
        provider: "a",
        model: "m",
        strategy: "mine",
        reason: "because;\r\nX-Evil: 1 ☃",
        candidatesConsidered: 3,
        finalScore: 1
      })
    })
    const result = ordered(pool, { strategies, config: { routerStrategy: "mine" } })
    assert.deepStrictEqual(ids(result.order), ["a", "b", "c"])
    assert.strictEqual(reasonText(result.reason), "because X-Evil: 1")
    const unknown = ordered(pool, { config: { routerStrategy: "gone" } })
    assert.deepStrictEqual(ids(unknown.order), ["b", "c", "a"])
    assert.match(reasonText(unknown.reason), /^router strategy gone is unknown, best score/)
  })

  it("works without a candidate to call", () => {
    const result = ordered([], { unavailable: [candidate("a", { breaker: "OPEN" })] })
    assert.deepStrictEqual([result.order.length, result.scores.size], [0, 1])
  })
})
