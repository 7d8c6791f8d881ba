/** What the settings change in a decision. */
import { assert, describe, it } from "@effect/vitest"
import { reasonText } from "../../../../src/plane/routing/candidate/Reason.ts"
import { decodeStored, noPolicy } from "../../../../src/subjects/combos/entity/ComboPolicy.ts"
import { builtInStrategy } from "../../../../src/plane/routing/auto/RouterStrategies.ts"
import { makeFitness } from "../../../../src/plane/routing/auto/Fitness.ts"
import { healed } from "../../../../src/plane/routing/auto/SelfHealing.ts"
import { decide, type DecideInput } from "../../../../src/plane/routing/decide/Decide.ts"
import { memoryKey } from "../../../../src/plane/routing/decide/Engine.ts"
import { blankMemory } from "../../../../src/plane/routing/candidate/Strategy.ts"
import type { Unready } from "../../../../src/plane/routing/health/TargetHealth.ts"
import { nowMs, performanceOf } from "../../../support/Candidates.ts"
import { candidate, features, spec } from "../auto/support.ts"

const pool = [candidate("a", { model: "one" }), candidate("b", { model: "two" }), candidate("c", { model: "three" })]

const resolutionOf = (strategy: string) => ({
  combo: null,
  strategy,
  targets: pool.map(({ target }) => target),
  weights: pool.map(() => 1),
  steps: pool.map(() => 0),
  auto: strategy === "auto" ? spec("auto/coding") : null,
  quotaGroup: null,
  policy: decodeStored({ explorationRate: 0, ...(strategy === "auto" ? { routerStrategy: "rules" } : {}) })
})

const decided = (strategy: string, more: Partial<DecideInput> = {}) =>
  decide({
    resolution: resolutionOf(strategy),
    candidates: pool,
    features: features({ taskType: "coding" }),
    memory: { ...blankMemory, lastKnownGood: { connectionId: "b", model: "two" } },
    healing: healed,
    affinity: null,
    modeHeader: null,
    budgetHeader: null,
    routerStrategies: builtInStrategy,
    freeTierStrict: false,
    seed: 1,
    nowMs,
    ...more
  })

const first = (strategy: string, more: Partial<DecideInput> = {}): string =>
  decided(strategy, more).order[0]?.account.connection.id ?? "nobody"

const cooling: Unready = {
  rule: "cooldown",
  untilMs: nowMs + 1_000,
  terminal: null,
  kind: null,
  detail: "cooling down",
  status: 429,
  code: "rate_limit_exceeded"
}

describe("decide", () => {
  const withConfig = (strategy: string, config: Record<string, unknown>, candidates = pool) => {
    const targets = candidates.map(({ target }) => target)
    const same = targets.map(() => 1)
    return decided(strategy, {
      candidates,
      resolution: {
        combo: null,
        strategy,
        targets,
        weights: same,
        steps: same,
        auto: null,
        quotaGroup: null,
        policy: decodeStored(config)
      }
    })
  }

  it("lets a combo do without going back to who answered last", () => {
    const firstOf = (config: Record<string, unknown>) => withConfig("lkgp", config).order[0]?.account.connection.id
    assert.deepStrictEqual([firstOf({}), firstOf({ lkgpEnabled: true })], ["b", "b"])
    assert.deepStrictEqual([firstOf({ lkgpEnabled: false }), firstOf({ auto: { lkgpEnabled: false } })], ["a", "a"])
  })

  it("puts who is usually slower to begin than a combo wants after the others, and says so", () => {
    const timed = (id: string, ttftMs: number | null, samples = 5) =>
      candidate(id, { performance: performanceOf(1_000, { ttftMs, samples }) })
    const ids = (candidates: ReturnType<typeof timed>[], predictiveTtftMs = 500) => {
      const decision = withConfig("priority", { predictiveTtftMs }, candidates)
      return {
        order: decision.order.map(({ account }) => account.connection.id),
        slow: [...decision.exclusions.keys()].map(({ account }) => account.connection.id),
        rules: [...decision.exclusions.values()].map(({ rule }) => rule),
        relaxed: decision.relaxedFilters
      }
    }
    const quick = { slow: [], rules: [], relaxed: [] }
    assert.deepStrictEqual(ids([timed("a", 501), timed("b", null), timed("c", 500)]), {
      order: ["b", "c", "a"],
      slow: ["a"],
      rules: ["predictive_ttft"],
      relaxed: []
    })
    assert.deepStrictEqual(ids([timed("a", 9_000, 4), timed("b", 1)]), { ...quick, order: ["a", "b"] })
    assert.deepStrictEqual(ids([timed("a", 9_000), timed("b", 1)], 0), { ...quick, order: ["a", "b"] })
    assert.deepStrictEqual(ids([timed("a", 9_000), timed("b", 800)]), {
      ...quick,
      order: ["a", "b"],
      relaxed: ["predictiveTtftMs"]
    })
  })

  it("puts those first who did best in evaluations, and shows the scores", () => {
    const hour = 3_600_000
    const score = (provider: string, model: string, suiteId: string, passed: number, latencyMs: number, ageMs = 0) => ({
      provider,
      model,
      suiteId,
      cases: 10,
      passed,
      latencyMs,
      atMs: nowMs - ageMs
    })
    const all = [
      score("a", "one", "s", 5, 1_000),
      score("b", "two", "s", 9, 2_000),
      score("b", "two", "t", 0, 2_000),
      score("c", "three", "s", 10, 1_000, 721 * hour)
    ]
    const order = (config: object, strategy = "priority", affinity: DecideInput["affinity"] = null) => {
      const resolution = { ...resolutionOf(strategy), policy: decodeStored({ explorationRate: 0, ...config }) }
      const decision = decided(strategy, {
        resolution,
        affinity,
        evals: (provider, model) => all.filter((each) => each.provider === provider && each.model === model)
      })
      return { ids: decision.order.map(({ account }) => account.connection.id).join(""), decision }
    }
    const on = { enabled: true, suiteIds: ["s"] }
    assert.strictEqual(order({}).ids, "abc")
    assert.strictEqual(order({ evalRouting: { enabled: false } }).ids, "abc")
    const { decision, ids } = order({ evalRouting: on })
    assert.strictEqual(ids, "bac")
    assert.strictEqual(reasonText(decision.reason), "best in evaluations")
    assert.deepStrictEqual(decision.weights, { quality: 0.85, latency: 0.15 })
    const [, two] = pool
    assert.deepStrictEqual(two && decision.scores.get(two.target), {
      score: 0.85 * 0.9 + 0.15 * 0.5,
      factors: { quality: 0.9, latency: 0.5 }
    })
    // Over all suites the second has half of its cases; a run of 30 days and an hour ago does not count unless it may.
    assert.strictEqual(order({ evalRouting: { enabled: true } }).ids, "abc")
    assert.strictEqual(order({ evalRouting: { ...on, maxAgeHours: 1_000 } }).ids, "cba")
    assert.strictEqual(order({ evalRouting: { ...on, minCases: 11 } }).ids, "abc")
    assert.strictEqual(order({ evalRouting: { ...on, qualityWeight: 0, latencyWeight: 1 } }).ids, "abc")
    assert.strictEqual(order({ evalRouting: on }, "auto").ids.slice(0, 2), "ba")
    assert.strictEqual(order({ evalRouting: on }, "fusion").ids, "abc")
    assert.strictEqual(order({ evalRouting: on }, "priority", { connectionId: "c", model: "three" }).ids, "cba")
  })

  it("orders lkgp as priority when going back to who answered last is off", () => {
    assert.strictEqual(first("lkgp"), "b")
    assert.strictEqual(first("lkgp", { lkgpEnabled: true }), "b")
    assert.strictEqual(first("lkgp", { lkgpEnabled: false }), "a")
  })

  it("measures task fitness by the table it is given", () => {
    const only = (model: string) =>
      makeFitness(
        pool.map(({ target }) => ({ pattern: target.model, task: null, fitness: target.model === model ? 1 : 0 }))
      )
    assert.strictEqual(first("auto", { fitness: only("three") }), "c")
    assert.strictEqual(first("auto", { fitness: only("two") }), "b")
  })

  it("asks who is only doubted when all others have failed, and who rests not at all", () => {
    const candidates = [
      { ...candidate("a", { model: "one" }), unready: { ...cooling, lastResort: "doubt" as const } },
      candidate("b", { model: "two" }),
      { ...candidate("c", { model: "three" }), unready: cooling }
    ]
    for (const strategy of ["round-robin", "auto"]) {
      const { exclusions, order } = decided(strategy, {
        candidates,
        resolution: { ...resolutionOf(strategy), targets: candidates.map(({ target }) => target) }
      })
      assert.deepStrictEqual(
        order.map(({ account }) => account.connection.id),
        ["b", "a"]
      )
      assert.strictEqual(exclusions.size, 2)
    }
  })

  it("scores an automatic choice also when no target can be called", () => {
    const resting = pool.map((each) => ({ ...each, unready: cooling }))
    const { exclusions, order, scores, weights } = decided("auto", { candidates: resting })
    assert.deepStrictEqual(
      order,
      pool.map(({ target }) => target)
    )
    for (const { target } of pool) {
      const scored = scores.get(target)
      const sum = Object.entries(weights ?? {}).reduce(
        (all, [name, weight]) => all + weight * scored!.factors[name]!,
        0
      )
      assert.closeTo(scored!.score, sum, 1e-9)
      assert.strictEqual(exclusions.get(target)?.rule, "cooldown")
    }
  })

  it("a strict :free has only free targets in its order, however many others there are", () => {
    const priced = (usd: number) => ({ price: { inputUsd: usd, outputUsd: usd } })
    const paid = candidate("paid", priced(1))
    const free = candidate("free", priced(0))
    const ask = (candidates: DecideInput["candidates"], freeTierStrict: boolean) => {
      const resolution = {
        combo: null,
        strategy: "auto",
        targets: candidates.map(({ target }) => target),
        weights: candidates.map(() => 1),
        steps: candidates.map(() => 0),
        auto: spec("auto/chat:free"),
        quotaGroup: null,
        policy: noPolicy
      }
      const { order, reason } = decided("auto", { resolution, candidates, freeTierStrict })
      return [...order.map(({ account }) => account.connection.id), reasonText(reason)]
    }
    const resting = { unready: cooling }
    const none = "no free target is available"
    assert.deepStrictEqual(ask([paid, free], true).slice(0, -1), ["free"])
    assert.deepStrictEqual(ask([paid, { ...free, ...resting }], true), ["free", none])
    assert.deepStrictEqual(
      ask(
        [
          { ...paid, ...resting },
          { ...free, ...resting }
        ],
        true
      ),
      ["free", "no target is available"]
    )
    assert.deepStrictEqual(ask([paid], true), [none])
    assert.deepStrictEqual(ask([{ ...paid, ...resting }], true), [none])
    assert.deepStrictEqual(ask([paid], false).slice(0, -1), ["paid"])
  })

  it("auto and auto/lkgp are the same choice, and remember the same", () => {
    const key = (model: string, id: string | null) =>
      memoryKey({ model, resolution: { combo: null, auto: id === null ? null : spec(id) } })
    assert.strictEqual(key("auto", "auto"), key("auto/lkgp", "auto/lkgp"))
    assert.strictEqual(key("my-alias", "auto"), "auto/lkgp")
    assert.strictEqual(key("auto/fast", "auto/fast"), "auto/fast")
    assert.strictEqual(key("p/m", null), "p/m")
  })

  it("gives the reason for the first target when others cannot be called", () => {
    const [a, b, c] = pool
    const resting = [a, b].flatMap((each) => (each === undefined ? [] : [{ ...each, unready: cooling }]))
    const one = [...resting, ...(c === undefined ? [] : [c])]
    assert.strictEqual(
      reasonText(decided("fill-first", { candidates: one }).reason),
      "only target that could be called"
    )
    assert.strictEqual(reasonText(decided("fill-first", { candidates: pool.slice(0, 1) }).reason), "only target")
    assert.strictEqual(
      reasonText(decided("priority", { candidates: [...resting.slice(0, 1), ...pool.slice(1)] }).reason),
      "first in order that could be called"
    )
    assert.strictEqual(reasonText(decided("fusion").reason), "all are asked at once")
  })
})
