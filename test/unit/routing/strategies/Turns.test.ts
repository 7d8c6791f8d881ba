import { assert, describe, it } from "@effect/vitest"
import { reasonText } from "../../../../src/plane/routing/candidate/Reason.ts"
import { decodeStored, noPolicy } from "../../../../src/subjects/combos/entity/ComboPolicy.ts"
import { blankMemory, type StrategyMemory } from "../../../../src/plane/routing/candidate/Strategy.ts"
import { type OrderingStrategy, strategies } from "../../../../src/plane/routing/strategies/index.ts"
import { candidate, candidates, countsOf, firsts, idOf, ids, run } from "./support.ts"

/** Requests one after the other, the first candidate answering each; who was first. */
const served = (
  strategy: OrderingStrategy,
  pools: ReadonlyArray<string>,
  config: Readonly<Record<string, unknown>>
): string => {
  let memory: StrategyMemory = blankMemory
  return pools
    .map((pool) => {
      const ordering = run(strategy, { candidates: candidates(pool), memory, config })
      const first = ordering.order[0]!
      memory = strategies[strategy].served?.(ordering.memory, first, decodeStored(config)) ?? ordering.memory
      return idOf(first)
    })
    .join("")
}

const times = (pool: string, count: number): ReadonlyArray<string> => Array.from({ length: count }, () => pool)

describe("round-robin", () => {
  it("gives every target the same number of turns", () => {
    assert.strictEqual(firsts("round-robin", 7, { candidates: candidates("abc") }), "abcabca")
    assert.deepStrictEqual(countsOf(firsts("round-robin", 3_000, { candidates: candidates("abc") })), {
      a: 1_000,
      b: 1_000,
      c: 1_000
    })
  })

  it("falls back on those whose turn is next", () =>
    assert.strictEqual(
      ids(run("round-robin", { candidates: candidates("abcd"), memory: { ...blankMemory, turns: 2 } })),
      "cdab"
    ))

  it("goes on behind the last one when targets come and go", () => {
    assert.strictEqual(served("round-robin", ["abc", "abc", "bc", "bc", "abc", "abc"], {}), "abcbca")
    assert.strictEqual(served("round-robin", ["ab", "abc", "abcd", "abcd", "abcd"], {}), "abcda")
    assert.strictEqual(served("round-robin", ["abc", "ab", "abc", "ab", "abc", "ab"], {}), "abcaba")
  })

  it("does not let the one before a fresh target take a second turn", () => {
    // c is away every other time: a and b share what it leaves.
    const seen = served(
      "round-robin",
      Array.from({ length: 120 }, (_, index) => (index % 2 === 0 ? "abc" : "ab")),
      {}
    )
    assert.notMatch(seen, /aa|bb|cc/)
  })

  it("stays for the successes asked for", () => {
    assert.strictEqual(served("round-robin", times("abc", 8), { stickyRoundRobinLimit: 2 }), "aabbccaa")
    assert.strictEqual(served("round-robin", times("abc", 4), { stickyRoundRobinLimit: 1 }), "abca")
  })

  it("moves on when the one it stays with may not be called", () =>
    assert.strictEqual(
      served("round-robin", ["abc", "abc", "bc", "abc", "abc"], { stickyRoundRobinLimit: 4 }),
      "aabbb"
    ))

  it("takes a limit that may not be saved as not given", () => {
    for (const limit of [null, "2", {}, [], -1, Number.NaN, true, 0.9, 2.5, 1e9]) {
      assert.strictEqual(served("round-robin", times("abc", 4), { stickyRoundRobinLimit: limit }), "abca")
    }
  })
})

describe("weighted", () => {
  const pool = [
    candidate("a", { weight: 1 }),
    candidate("b", { weight: 5 }),
    candidate("c", { weight: 0 }),
    candidate("d", { weight: 4 })
  ]

  it("draws by weight within the bounds of chance", () => {
    const draws = 20_000
    const counts = countsOf(firsts("weighted", draws, { candidates: pool }))
    for (const [id, share] of Object.entries({ a: 0.1, b: 0.5, d: 0.4 })) {
      // Five standard deviations.
      assert.closeTo((counts[id] ?? 0) / draws, share, 5 * Math.sqrt((share * (1 - share)) / draws))
    }
    assert.isUndefined(counts["c"])
  })

  it("falls back by weight", () => {
    const orders = new Set(
      Array.from({ length: 200 }, (_, seed) =>
        ids(run("weighted", { candidates: pool, random: { ...fixed, next: () => seed / 200 } }))
      )
    )
    assert.deepStrictEqual([...orders].sort(), ["abdc", "bdac", "dbac"])
  })

  it("draws evenly when all weights are 0, and bears any weight", () => {
    const draws = 20_000
    for (const weight of [0, -1, Number.NaN]) {
      const counts = countsOf(firsts("weighted", draws, { candidates: candidates("abcde", { weight }) }))
      for (const id of "abcde") assert.closeTo((counts[id] ?? 0) / draws, 0.2, 5 * Math.sqrt((0.2 * 0.8) / draws))
    }
    const huge = candidates("ab", { weight: Number.MAX_VALUE })
    assert.closeTo((countsOf(firsts("weighted", 2_000, { candidates: huge }))["a"] ?? 0) / 2_000, 0.5, 0.06)
  })

  it("keeps the drawn one for the successes asked for, and no longer", () => {
    const config = { stickyWeightedLimit: 3 }
    const drawn = run("weighted", { candidates: pool, config, random: { ...fixed, next: () => 0.99 } })
    assert.deepStrictEqual(drawn.memory.sticky, { key: "d m", left: 3 })
    const other = { ...fixed, next: () => 0 }
    let memory = drawn.memory
    for (let success = 0; success < 3; success++) {
      const ordering = run("weighted", { candidates: pool, config, memory, random: other })
      assert.strictEqual(ids(ordering), "dbac")
      assert.strictEqual(reasonText(ordering.reason), "drawn before and kept")
      memory = strategies.weighted.served?.(ordering.memory, ordering.order[0]!, decodeStored(config)) ?? memory
    }
    assert.isNull(memory.sticky)
    assert.strictEqual(ids(run("weighted", { candidates: pool, config, memory, random: other })), "abdc")
  })

  it("counts successes of the kept one only, and forgets it when the limit goes", () => {
    const memory = { ...blankMemory, sticky: { key: "d m", left: 2 } }
    const three = decodeStored({ stickyWeightedLimit: 3 })
    assert.strictEqual(strategies.weighted.served?.(memory, candidate("a"), three), memory)
    assert.deepStrictEqual(strategies.weighted.served?.(memory, candidate("d"), three), {
      ...blankMemory,
      sticky: { key: "d m", left: 1 }
    })
    assert.isNull(run("weighted", { candidates: pool, memory }).memory.sticky)
    assert.isNull(strategies.weighted.served?.(memory, candidate("d"), noPolicy).sticky)
  })

  it("gives the same memory back when there is nothing to keep", () =>
    assert.strictEqual(run("weighted", { candidates: pool }).memory, blankMemory))
})

const fixed = { next: () => 0, below: () => 0, shuffle: <A>(items: ReadonlyArray<A>) => items }
