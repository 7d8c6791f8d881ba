import { assert, describe, it } from "@effect/vitest"
import { reasonText } from "../../../../src/plane/routing/candidate/Reason.ts"
import { noPolicy } from "../../../../src/subjects/combos/entity/ComboPolicy.ts"
import { blankMemory } from "../../../../src/plane/routing/candidate/Strategy.ts"
import { type OrderingStrategy, strategies } from "../../../../src/plane/routing/strategies/index.ts"
import { plainFeatures } from "../../../support/Candidates.ts"
import { candidate, candidates, facts, hourMs, ids, quota, run } from "./support.ts"

const remembering = (connectionId: string, model = "m") => ({
  ...blankMemory,
  lastKnownGood: { connectionId, model }
})

describe("priority", () => {
  it("keeps the order and the memory", () => {
    const memory = { ...remembering("c"), turns: 7 }
    const ordering = run("priority", { candidates: candidates("abc"), memory })
    assert.strictEqual(ids(ordering), "abc")
    assert.strictEqual(ordering.memory, memory)
    assert.strictEqual(reasonText(ordering.reason), "first in order")
  })

  it("says when there was no choice", () =>
    assert.strictEqual(reasonText(run("priority", { candidates: candidates("a") }).reason), "only target"))
})

describe("fill-first", () => {
  it("stays with the first until its quota is used up", () => {
    const full = [
      candidate("a", { quotas: [quota("5h", 0.01), quota("weekly", 0.5)] }),
      candidate("b", { quotas: [quota("daily", 1)] }),
      candidate("c")
    ]
    assert.strictEqual(ids(run("fill-first", { candidates: full })), "abc")
    const spent = [candidate("a", { quotas: [quota("5h", 0.9), quota("weekly", 0)] }), ...full.slice(1)]
    const ordering = run("fill-first", { candidates: spent })
    assert.strictEqual(ids(ordering), "bca")
    assert.strictEqual(reasonText(ordering.reason), "first with quota left")
  })

  it("comes back when the window has been reset, and keeps the order when all are used up", () => {
    const renewed = [candidate("a", { quotas: [quota("5h", 0, 0)] }), candidate("b")]
    assert.strictEqual(ids(run("fill-first", { candidates: renewed })), "ab")
    const spent = candidates("ab", { quotas: [quota("5h", 0, hourMs)] })
    assert.strictEqual(ids(run("fill-first", { candidates: spent })), "ab")
    assert.strictEqual(reasonText(run("fill-first", { candidates: spent }).reason), "first in order, no quota is left")
  })
})

const sticky: ReadonlyArray<readonly [OrderingStrategy, string]> = [
  ["lkgp", "last known good"],
  ["context-relay", "holds the context"]
]

for (const [strategy, reason] of sticky) {
  describe(`${strategy} (keeps who answered last)`, () => {
    it("is the combo's order before any target has answered", () => {
      const ordering = run(strategy, { candidates: candidates("abc") })
      assert.strictEqual(ids(ordering), "abc")
      assert.strictEqual(reasonText(ordering.reason), "first in order")
    })

    it("puts the one that answered last in front", () => {
      const ordering = run(strategy, { candidates: candidates("abc"), memory: remembering("b") })
      assert.strictEqual(ids(ordering), "bac")
      assert.strictEqual(reasonText(ordering.reason), reason)
    })

    it("goes by the order when that one may not be called, and does not forget it", () => {
      const memory = remembering("b")
      const ordering = run(strategy, { candidates: candidates("ac"), memory })
      assert.strictEqual(ids(ordering), "ac")
      assert.strictEqual(ordering.memory, memory)
      assert.strictEqual(ids(run(strategy, { candidates: candidates("ab"), memory: remembering("b", "other") })), "ab")
    })

    it("learns from a success, and only what is new", () => {
      const learned = strategies[strategy].served?.({ ...blankMemory, turns: 3 }, candidate("c"), noPolicy)
      assert.deepStrictEqual(learned, { ...remembering("c"), turns: 3 })
      assert.strictEqual(strategies[strategy].served?.(learned!, candidate("c"), noPolicy), learned)
    })
  })
}

describe("least-used", () => {
  it("counts what was served and what is under way, of equals who has less under way, then the order", () => {
    const pool = [
      candidate("a", { used: 5 }),
      candidate("b", { used: 2, inFlight: 4 }),
      candidate("c", { used: 2, inFlight: 1 }),
      candidate("d", { used: 5 }),
      candidate("e", { used: 3 })
    ]
    assert.strictEqual(ids(run("least-used", { candidates: pool })), "ecadb")
  })
})

describe("context-optimized", () => {
  const pool = [
    candidate("a", facts(200_000)),
    candidate("b", facts(null)),
    candidate("c", facts(8_000)),
    candidate("d", facts(4_000)),
    candidate("e", facts(32_000)),
    candidate("f", facts(32_000))
  ]
  const sized = (promptTokens: number, maxOutputTokens: number | null) =>
    run("context-optimized", { candidates: pool, features: { ...plainFeatures, promptTokens, maxOutputTokens } })

  it("takes the smallest window that holds prompt and answer", () => {
    assert.strictEqual(ids(sized(1_000, 1_000)), "dcefab")
    assert.strictEqual(ids(sized(4_000, 4_000)), "cefabd")
    assert.strictEqual(ids(sized(4_001, 4_000)), "efabcd")
    assert.strictEqual(reasonText(sized(4_001, 4_000).reason), "smallest window that fits")
  })

  it("leaves room for an answer of usual length when no limit was set", () => {
    assert.strictEqual(ids(sized(6_976, null)), "cefabd")
    assert.strictEqual(ids(sized(6_977, null)), "efabcd")
  })

  it("hopes for an unknown window before it takes one that is too small, the largest first", () => {
    const ordering = sized(500_000, null)
    assert.strictEqual(ids(ordering), "baefcd")
    assert.strictEqual(reasonText(ordering.reason), "no known window fits")
    const small = { candidates: pool.slice(2), features: { ...plainFeatures, promptTokens: 500_000 } }
    assert.strictEqual(ids(run("context-optimized", small)), "efcd")
    assert.strictEqual(reasonText(run("context-optimized", small).reason), "largest window, though too small")
  })
})
