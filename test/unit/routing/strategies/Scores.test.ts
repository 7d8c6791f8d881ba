import { assert, describe, it } from "@effect/vitest"
import { reasonText } from "../../../../src/plane/routing/candidate/Reason.ts"
import { makeSeededRandom } from "../../../../src/kernel/SeededRandom.ts"
import type { Candidate } from "../../../../src/plane/routing/candidate/Candidate.ts"
import { blankMemory } from "../../../../src/plane/routing/candidate/Strategy.ts"
import { p2cScore } from "../../../../src/plane/routing/strategies/P2c.ts"
import type { OrderingStrategy } from "../../../../src/plane/routing/strategies/index.ts"
import { candidate, candidates, firsts, hourMs, ids, performance, quota, run } from "./support.ts"

const dayMs = 24 * hourMs

const scoreOf = (strategy: OrderingStrategy, given: Candidate, config = {}) =>
  run(strategy, { candidates: [given], config }).scores?.get(given.key)?.score

const steady = (ms: number) => ({ p50Ms: ms, p95Ms: ms })

describe("p2c", () => {
  const cases: ReadonlyArray<readonly [string, Partial<Candidate>, number]> = [
    ["unknown", {}, 0.75],
    ["unknown without samples", { performance: performance({ samples: 0, errorRate: 1 }) }, 0.75],
    ["100 ms in all, no failure", { performance: performance({ ...steady(90) }) }, 1.5],
    [
      "1,000 ms in all, one of four fails",
      { performance: performance({ ...steady(990), errorRate: 0.25 }) },
      0.75 + 1 / 3
    ],
    ["at once", { performance: performance({ ...steady(0) }) }, 2],
    ["half open", { breaker: "HALF_OPEN" }, 0.5],
    ["degraded", { breaker: "DEGRADED" }, 0.75]
  ]
  for (const [name, given, expected] of cases) {
    it(`scores: ${name}`, () => assert.closeTo(p2cScore(candidate("a", given)).score, expected, 1e-12))
  }

  it("notices who has become slow, long before half of the calls were", () => {
    const slower = p2cScore(candidate("a", { performance: performance({ p50Ms: 1, p95Ms: 60 }) }))
    const steadily = p2cScore(candidate("b", { performance: performance(steady(3)) }))
    assert.isBelow(slower.score, steadily.score)
    assert.closeTo(slower.factors["speed"] ?? 0, 1 / Math.log10(40.5), 1e-12)
  })

  it("takes the better of two, whatever the draw", () => {
    const pool = [candidate("a", { breaker: "HALF_OPEN" }), candidate("b")]
    for (let seed = 0; seed < 50; seed++) {
      assert.strictEqual(ids(run("p2c", { candidates: pool, random: makeSeededRandom(seed) })), "ba")
    }
  })

  it("asks the requests under way when the scores are equal", () => {
    const pool = [candidate("a", { inFlight: 3 }), candidate("b", { inFlight: 2 })]
    for (let seed = 0; seed < 50; seed++) {
      assert.strictEqual(ids(run("p2c", { candidates: pool, random: makeSeededRandom(seed) })), "ba")
    }
  })

  it("reckons with a latency for each request under way, so that a burst is spread", () => {
    const busy = candidate("a", { performance: performance({ ...steady(100) }), inFlight: 3 })
    assert.closeTo(p2cScore(busy).score, 1 + 1 / Math.log10(410), 1e-12)
    const sent: Record<string, number> = { a: 0, b: 0, c: 0 }
    for (let seed = 0; seed < 90; seed++) {
      const pool = [..."abc"].map((id, index) =>
        candidate(id, { performance: performance({ ...steady(100 + index) }), inFlight: sent[id] ?? 0 })
      )
      const first = ids(run("p2c", { candidates: pool, random: makeSeededRandom(seed) }))[0] ?? ""
      sent[first] = (sent[first] ?? 0) + 1
    }
    for (const count of Object.values(sent)) assert.isAtLeast(count, 25)
  })

  it("lets the best of n win as often as it is drawn, the worst never, and follows by score", () => {
    const pool = [..."abcd"].map((id, index) => candidate(id, { performance: performance({ errorRate: index / 4 }) }))
    const seen = firsts("p2c", 12_000, { candidates: pool })
    const share = (id: string) => [...seen].filter((each) => each === id).length / seen.length
    // Of the 6 pairs the best is in 3, the second is the better one of 2, the third of 1.
    assert.closeTo(share("a"), 3 / 6, 0.02)
    assert.closeTo(share("b"), 2 / 6, 0.02)
    assert.closeTo(share("c"), 1 / 6, 0.02)
    assert.strictEqual(share("d"), 0)
    const orders = new Set(
      Array.from({ length: 100 }, (_, seed) => ids(run("p2c", { candidates: pool, random: makeSeededRandom(seed) })))
    )
    assert.deepStrictEqual([...orders].sort(), ["abcd", "bacd", "cabd"])
  })
})

describe("cost-optimized", () => {
  const priced = (id: string, inputUsd: number, outputUsd: number) => candidate(id, { price: { inputUsd, outputUsd } })
  const pool = [
    candidate("a"),
    priced("b", 3, 15), // 7.8
    priced("c", 5, 10), // 7.0
    priced("d", 0, 0),
    priced("e", 0.1, 0.4), // .22
    candidate("f"),
    priced("g", 5, 10)
  ]

  it("orders by the blended price: free first, unknown last", () => {
    const ordering = run("cost-optimized", { candidates: pool })
    assert.strictEqual(ids(ordering), "decgbaf")
    assert.strictEqual(reasonText(ordering.reason), "free")
    assert.closeTo(scoreOf("cost-optimized", pool[1]!) ?? 0, -7.8, 1e-12)
    assert.isUndefined(scoreOf("cost-optimized", pool[0]!))
  })

  it("tells what it knew", () => {
    assert.strictEqual(reasonText(run("cost-optimized", { candidates: pool.slice(1, 3) }).reason), "lowest price")
    assert.strictEqual(reasonText(run("cost-optimized", { candidates: candidates("ab") }).reason), "no price is known")
  })
})

describe("headroom", () => {
  it("goes by the scarcest window, an unknown quota counting as whole", () => {
    const pool = [
      candidate("a", { quotas: [quota("5h", 0.9), quota("weekly", 0.2)] }),
      candidate("b", { quotas: [quota("5h", 0.4)] }),
      candidate("c"),
      candidate("d", { quotas: [quota("weekly", 0, hourMs)] }),
      candidate("e", { quotas: [quota("weekly", 1)] }),
      candidate("f", { quotas: [quota("5h", 0, -1)] })
    ]
    assert.strictEqual(ids(run("headroom", { candidates: pool })), "cefbad")
    assert.strictEqual(scoreOf("headroom", pool[0]!), 0.2)
  })
})

describe("reset-aware", () => {
  const score = (quotas: Candidate["quotas"], config = {}) => scoreOf("reset-aware", candidate("a", { quotas }), config)
  const cases: ReadonlyArray<readonly [string, Candidate["quotas"], number]> = [
    ["nothing known", [], 0.5],
    // S = .45·.4 + .55·.8·.6 = .444; W = .25·.5 + .75·(6/7)·.5 = .446428…
    ["both windows", [quota("5h", 0.4, hourMs), quota("weekly", 0.5, dayMs)], 0.35 * 0.444 + 0.65 * (0.125 + 2.25 / 7)],
    ["full", [quota("5h", 1, hourMs), quota("weekly", 1, dayMs)], 0.35 * 0.45 + 0.65 * 0.25],
    ["weekly only", [quota("weekly", 0.2, 3.5 * dayMs)], 0.35 * 0.5 + 0.65 * (0.05 + 0.75 * 0.5 * 0.8)],
    ["no reset known", [quota("5h", 0.4)], 0.35 * (0.18 + 0.55 * 0.5 * 0.6) + 0.65 * 0.5],
    ["hourly stands in", [quota("hourly", 0.4, hourMs / 4)], 0.35 * (0.18 + 0.55 * 0.75 * 0.6) + 0.65 * 0.5],
    ["half the guard left", [quota("5h", 0.05)], 0.5 * (0.35 * (0.0225 + 0.55 * 0.5 * 0.95) + 0.65 * 0.5)],
    ["next to nothing left", [quota("5h", 0.001)], 0.05 * (0.35 * (0.00045 + 0.55 * 0.5 * 0.999) + 0.65 * 0.5)],
    ["used up", [quota("5h", 0.5), quota("weekly", 0, hourMs)], 0],
    ["reset since", [quota("5h", 0, -1)], 0.35 * 0.45 + 0.65 * 0.5]
  ]
  for (const [name, quotas, expected] of cases) {
    it(`scores: ${name}`, () => assert.closeTo(score(quotas) ?? Number.NaN, expected, 1e-9))
  }

  it("reads its weights and its guard", () => {
    const quotas = [quota("5h", 0.4), quota("weekly", 1)]
    assert.closeTo(score(quotas, { resetAwareSessionWeight: 1, resetAwareWeeklyWeight: 1 }) ?? 0, 0.2975, 1e-9)
    assert.closeTo(score(quotas, { resetAwareWeeklyWeight: 0 }) ?? 0, 0.345, 1e-9)
    assert.closeTo(score(quotas, { resetAwareWeeklyWeight: "much", resetAwareSessionWeight: null }) ?? 0, 0.28325, 1e-9)
    assert.closeTo(score(quotas, { resetAwareExhaustionGuardPercent: 80 }) ?? 0, 0.28325 / 2, 1e-9)
    assert.closeTo(score(quotas, { resetAwareExhaustionGuardPercent: 0 }) ?? 0, 0.28325, 1e-9)
  })

  it("prefers what is renewed soon, and leaves the used-up ones for the end", () => {
    const pool = [
      candidate("a", { quotas: [quota("weekly", 0, hourMs)] }),
      candidate("b", { quotas: [quota("weekly", 0.3, 6 * dayMs)] }),
      candidate("c", { quotas: [quota("weekly", 0.3, hourMs)] }),
      candidate("d", { quotas: [quota("weekly", 0.3, 3 * dayMs)] })
    ]
    const ordering = run("reset-aware", { candidates: pool })
    assert.strictEqual(ids(ordering), "cdba")
    assert.strictEqual(reasonText(ordering.reason), "best use of quota")
    assert.strictEqual(ordering.memory, blankMemory)
  })

  it("lets the soonest reset lead where the scores are equal", () => {
    const pool = [
      candidate("a", { quotas: [quota("daily", 1, 20 * hourMs)] }),
      candidate("b", { quotas: [quota("daily", 1, hourMs)] }),
      candidate("c")
    ]
    assert.strictEqual(firsts("reset-aware", 4, { candidates: pool }), "bbbb")
  })

  it("lets equals take turns in the combo's order", () => {
    const pool = [
      candidate("a", { quotas: [quota("weekly", 0.6)] }),
      candidate("b", { quotas: [quota("weekly", 0.1)] }),
      candidate("c", { quotas: [quota("weekly", 0.11)] }),
      candidate("d", { quotas: [quota("weekly", 0.1)] })
    ]
    assert.strictEqual(firsts("reset-aware", 6, { candidates: pool }), "bcdbcd")
    assert.strictEqual(ids(run("reset-aware", { candidates: pool, memory: { ...blankMemory, turns: 1 } })), "cdba")
    const exact = { candidates: pool, config: { resetAwareTieBandPercent: 0 } }
    assert.strictEqual(firsts("reset-aware", 4, exact), "bdbd")
  })
})

describe("reset-window", () => {
  const pool = [
    candidate("a", { quotas: [quota("weekly", 0.5, 3 * dayMs), quota("5h", 0.5, 4 * hourMs)] }),
    candidate("b", { quotas: [quota("weekly", 0.5, dayMs), quota("5h", 0.5, 3 * hourMs)] }),
    candidate("c"),
    candidate("d", { quotas: [quota("monthly", 0.5, 2 * dayMs), quota("5h", 0.5, 2 * dayMs)] }),
    candidate("e", { quotas: [quota("weekly", 0, 1)] })
  ]
  const order = (config = {}) => ids(run("reset-window", { candidates: pool, config }))

  it("goes by the weekly reset, or the soonest other one; unknown and used-up ones last", () =>
    assert.strictEqual(order(), "bdace"))

  it("goes by the windows that are named, and no others", () => {
    assert.strictEqual(order({ resetWindowWindows: "session" }), "badce")
    assert.strictEqual(order({ resetWindowWindows: ["5h"] }), "badce")
    assert.strictEqual(order({ resetWindowWindows: ["monthly"] }), "dabce")
    assert.strictEqual(order({ resetWindowWindows: ["session", "weekly"] }), "badce")
    assert.strictEqual(order({ resetWindowWindows: [3, null] }), "bdace")
    assert.strictEqual(order({ resetWindowWindows: {} }), "bdace")
  })

  it("lets those within a minute of the soonest take turns", () => {
    const near = [
      candidate("a", { quotas: [quota("weekly", 0.5, hourMs + 60_001)] }),
      candidate("b", { quotas: [quota("weekly", 0.5, hourMs + 60_000)] }),
      candidate("c", { quotas: [quota("weekly", 0.5, hourMs)] })
    ]
    assert.strictEqual(firsts("reset-window", 5, { candidates: near }), "bcbcb")
    assert.strictEqual(ids(run("reset-window", { candidates: near })), "bca")
    assert.strictEqual(firsts("reset-window", 3, { candidates: near, config: { resetWindowTieBandMs: 0 } }), "ccc")
    assert.strictEqual(
      firsts("reset-window", 4, { candidates: near, config: { resetWindowTieBandMs: 60_001 } }),
      "abca"
    )
  })

  it("keeps the combo's order when nothing is known", () => {
    const ordering = run("reset-window", { candidates: candidates("abc") })
    assert.strictEqual(ids(ordering), "abc")
    assert.strictEqual(reasonText(ordering.reason), "no reset is known")
    assert.strictEqual(ordering.memory, blankMemory)
  })
})
