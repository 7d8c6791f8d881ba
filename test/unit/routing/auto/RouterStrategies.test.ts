import { assert, describe, it } from "@effect/vitest"
import {
  builtInNames,
  builtInStrategy,
  choose,
  makeRegistry,
  slowRestMs,
  slowSelectMs,
  mostCustomStrategies,
  type PoolMember,
  type RouterStrategy,
  type RoutingContext,
  type Selection
} from "../../../../src/plane/routing/auto/RouterStrategies.ts"

const member = (id: string, over: Partial<PoolMember> = {}): PoolMember => ({
  provider: id.split("#")[0]!,
  connectionId: id,
  model: "m",
  score: 0.5,
  factors: { health: 1, stability: 1, costInv: 0.5 },
  breaker: "CLOSED",
  costPer1MTokens: null,
  p95LatencyMs: null,
  errorRate: 0,
  ...over
})
const context: RoutingContext = {
  taskType: "default",
  hasTools: false,
  hasImages: false,
  tokenEstimate: 0,
  sla: { targetP95Ms: null, maxErrorRate: null, maxCostPer1MTokens: null, hardConstraints: false },
  lkgpEnabled: true,
  lastKnownGood: null
}
const picked = (name: string, pool: ReadonlyArray<PoolMember>, over: Partial<RoutingContext> = {}) =>
  pool[choose(name, builtInStrategy, pool, { ...context, ...over }).index]!.connectionId

describe("RouterStrategies", () => {
  it("rules: the best score that is not OPEN, the first of equals, the best of all when all are OPEN", () => {
    const pool = [
      member("a", { score: 0.9, breaker: "OPEN" }),
      member("b", { score: 0.4 }),
      member("c", { score: 0.6 }),
      member("d", { score: 0.6, breaker: "HALF_OPEN" })
    ]
    assert.strictEqual(picked("rules", pool), "c")
    assert.strictEqual(picked("rules", pool.slice(0, 1)), "a")
    assert.deepInclude(builtInStrategy("rules")?.select(pool, context), {
      provider: "c",
      model: "m",
      strategy: "rules",
      candidatesConsidered: 3,
      finalScore: 0.6
    })
  })

  it("cost: the lowest price, unpriced last, the better score among equals", () => {
    const pool = [
      member("unpriced", { score: 1 }),
      member("two", { costPer1MTokens: 2 }),
      member("one", { costPer1MTokens: 1, score: 0.1 }),
      member("one-better", { costPer1MTokens: 1, score: 0.2 }),
      member("open", { costPer1MTokens: 0, breaker: "OPEN" })
    ]
    for (const name of ["cost", "eco"]) assert.strictEqual(picked(name, pool), "one-better")
    assert.strictEqual(picked("cost", pool.slice(0, 1)), "unpriced")
  })

  it("latency: p95 with errors counted as a second each", () => {
    const pool = [
      member("failing", { p95LatencyMs: 100, errorRate: 0.5 }),
      member("steady", { p95LatencyMs: 599 }),
      member("slow", { p95LatencyMs: 900 })
    ]
    for (const name of ["latency", "fast"]) assert.strictEqual(picked(name, pool), "steady")
  })

  it("sla-aware: orders by the composite score; hard constraints first", () => {
    const sla = { targetP95Ms: 1_000, maxErrorRate: 0.1, maxCostPer1MTokens: 2, hardConstraints: false }
    const pool = [
      // .35·(1000/500) + .35·(.1/.1) + .15 + .1·(2/10) + .05 = 1.27
      member("dear", { p95LatencyMs: 500, errorRate: 0.1, costPer1MTokens: 10 }),
      // .35·(1000/1250) + .35·(.1/.05) + .15 + .1·(2/1) + .05 = 1.38
      member("slow", { p95LatencyMs: 1_250, errorRate: 0.05, costPer1MTokens: 1 }),
      // Keeps all of it, in bad health: .35·(1000/800) + .35·(.1/.1) + 0 + .1·(2/2) + 0 = .8875
      member("sick", { p95LatencyMs: 800, errorRate: 0.1, costPer1MTokens: 2, factors: { health: 0, stability: 0 } })
    ]
    for (const name of ["sla", "sla-aware"]) assert.strictEqual(picked(name, pool, { sla }), "slow")
    assert.strictEqual(picked("sla", pool, { sla: { ...sla, hardConstraints: true } }), "sick")
    const told = pool.map((each) => builtInStrategy("sla")!.select([each], { ...context, sla }).reason)
    assert.deepStrictEqual(told, ["service level 1.270", "service level 1.380", "service level 0.887"])
    // What is far below its threshold counts for more than what only keeps it.
    const fast = [member("kept", { p95LatencyMs: 1_000 }), member("faster", { p95LatencyMs: 100 })]
    assert.strictEqual(picked("sla", fast, { sla }), "faster")
    // Violations: dear 4, slow .25.
    assert.strictEqual(picked("sla", pool.slice(0, 2), { sla: { ...sla, hardConstraints: true } }), "slow")
    // A ceiling of 0 is a wish for free models, not a division by zero.
    const free = { ...sla, maxErrorRate: 0, maxCostPer1MTokens: 0, hardConstraints: true }
    const costs = [5, 0, 1].map((costPer1MTokens) => member(`${costPer1MTokens}`, { costPer1MTokens }))
    assert.strictEqual(picked("sla", costs, { sla: free }), "0")
    assert.strictEqual(picked("sla", [costs[0]!, costs[2]!], { sla: free }), "1")
    const { finalScore } = builtInStrategy("sla")!.select(pool, { ...context, sla })
    assert.strictEqual(finalScore, 0.5)
  })

  it("lkgp: the same target, then its connection, then its provider, else rules", () => {
    const pool = [
      member("p#1", { model: "x", score: 0.1 }),
      member("p#1", { model: "y", score: 0.2 }),
      member("p#2", { model: "x", score: 0.3 }),
      member("q", { score: 0.9 })
    ]
    const at = (good: RoutingContext["lastKnownGood"], over: Partial<RoutingContext> = {}) =>
      choose("lkgp", builtInStrategy, pool, { ...context, ...over, lastKnownGood: good }).index
    assert.strictEqual(at({ provider: "p", connectionId: "p#1", model: "x" }), 0)
    assert.strictEqual(at({ provider: null, connectionId: "p#1", model: "gone" }), 1)
    assert.strictEqual(at({ provider: "p", connectionId: "gone", model: "x" }), 2)
    assert.strictEqual(at({ provider: null, connectionId: "gone", model: "x" }), 3)
    assert.strictEqual(at(null), 3)
    assert.strictEqual(at({ provider: "p", connectionId: "p#1", model: "x" }, { lkgpEnabled: false }), 3)
    const open = [0, 1, 2].map((index) => Object.assign({}, pool[index], { breaker: "OPEN" as const }))
    const good = { provider: "p", connectionId: "p#1", model: "x" }
    assert.strictEqual(
      choose("lkgp", builtInStrategy, [...open, pool[3]!], { ...context, lastKnownGood: good }).index,
      3
    )
  })
})

describe("custom strategies", () => {
  const custom = (select: RouterStrategy["select"], name = "mine"): RouterStrategy => ({
    name,
    description: "x",
    select
  })
  const worst: RouterStrategy["select"] = (pool) => {
    const last = pool[pool.length - 1]!
    return {
      provider: last.provider,
      model: last.model,
      strategy: "mine",
      reason: "last is best",
      candidatesConsidered: pool.length,
      finalScore: last.score
    }
  }
  const pool = [member("a", { score: 0.9 }), member("b", { score: 0.1 }), member("b#2", { score: 0.2 })]

  it("registers by name, bounded, never over a name that is taken", () => {
    const registry = makeRegistry()
    assert.strictEqual(registry.register(custom(worst)), "registered")
    assert.strictEqual(registry.register(custom(worst)), "name-taken")
    for (const name of builtInNames) assert.strictEqual(registry.register(custom(worst, name)), "name-taken")
    for (const name of ["", "No", "a b", "x;y", "x".repeat(65)]) {
      assert.strictEqual(registry.register(custom(worst, name)), "invalid", name)
    }
    for (let i = 1; i < mostCustomStrategies; i++) registry.register(custom(worst, `s${i}`))
    assert.strictEqual(registry.register(custom(worst, "one-more")), "full")
    assert.strictEqual(registry.unregister("rules"), false)
    assert.strictEqual(registry.unregister("mine"), true)
    assert.strictEqual(registry.lookup("mine"), null)
    assert.strictEqual(registry.register(custom(worst, "one-more")), "registered")
    assert.strictEqual(registry.list().length, builtInNames.length + mostCustomStrategies)
  })

  it("follows a custom strategy; without a connection the best scored account is meant", () => {
    const registry = makeRegistry()
    registry.register(custom(worst))
    assert.deepStrictEqual(choose("mine", registry.lookup, pool, context), {
      index: 2,
      reason: "last is best",
      overruled: null
    })
  })

  it("falls back to rules when it throws or talks nonsense, and says so", () => {
    const nonsense: ReadonlyArray<(pool: ReadonlyArray<PoolMember>) => unknown> = [
      () => {
        throw new Error("no")
      },
      () => undefined,
      () => null,
      () => "a",
      () => Promise.resolve({ provider: "b", model: "m" }),
      () => ({ provider: "nobody", model: "m" }),
      () => ({ provider: "b", model: "m", connectionId: "nobody" }),
      (given) => {
        ;(given as Array<PoolMember>).pop()
        return { provider: "b", model: "m" }
      },
      (given) => {
        ;(given[0]!.factors as Record<string, number>)["health"] = 9
        return { provider: "b", model: "m" }
      },
      () => ({
        get provider() {
          throw new Error("trap")
        }
      })
    ]
    for (const select of nonsense) {
      const chosen = choose("mine", () => custom(select as RouterStrategy["select"]), pool, context)
      assert.strictEqual(chosen.index, 0)
      assert.match(chosen.overruled ?? "", /^router strategy mine /)
    }
    assert.match(choose("gone", builtInStrategy, pool, context).overruled ?? "", /unknown/)
  })

  it("may not name an OPEN one while others are not", () => {
    const open = [member("a"), member("b", { breaker: "OPEN" })]
    assert.strictEqual(choose("mine", () => custom(worst), open, context).index, 0)
    assert.strictEqual(choose("mine", () => custom(worst), open.slice(1), context).overruled, null)
  })

  it("gives a reason of its own where a custom one gives none", () => {
    const silent = custom(() => ({ provider: "b", model: "m" }) as Selection)
    assert.strictEqual(choose("mine", () => silent, pool, context).reason, "chosen by mine")
  })

  it("a custom strategy that is slow rests for a while, one that is not synchronous is not waited for; rules decides", async () => {
    let nowMs = 1_000
    let tookMs = slowSelectMs + 1
    const registry = makeRegistry(() => nowMs)
    const pool = [member("a", { score: 0.4 }), member("b", { score: 0.6 })]
    const naming = (provider: string): Selection => ({
      provider,
      model: "m",
      strategy: "mine",
      reason: "mine",
      candidatesConsidered: 2,
      finalScore: 1
    })
    registry.register({
      name: "mine",
      description: "",
      select: () => {
        nowMs += tookMs
        return naming("a")
      }
    })
    const ask = (name = "mine") => choose(name, registry.lookup, pool, context)
    assert.deepStrictEqual([ask().index, ask().index], [0, 1])
    assert.include(ask().overruled!, "rests")
    nowMs += slowRestMs
    tookMs = slowSelectMs
    for (let n = 0; n < 3; n += 1) assert.deepStrictEqual([ask().index, ask().overruled], [0, null])
    registry.register({
      name: "later",
      description: "",
      select: (() => Promise.reject(new Error("nobody hears this"))) as unknown as RouterStrategy["select"]
    })
    const later = ask("later")
    assert.strictEqual(later.index, 1)
    assert.include(later.overruled!, "not synchronous")
    // An unheard rejection would end the run here.
    await new Promise((resolve) => setImmediate(resolve))
  })
})
