import { assert, describe, it } from "@effect/vitest"
import { makeSeededRandom } from "../../../../src/kernel/SeededRandom.ts"
import { blankMemory, type StrategyMemory } from "../../../../src/plane/routing/candidate/Strategy.ts"
import { caughtUp, mostUnsaved } from "../../../../src/plane/routing/decide/RotationCatchUp.ts"
import { random } from "../../../../src/plane/routing/strategies/Random.ts"
import { roundRobin } from "../../../../src/plane/routing/strategies/RoundRobin.ts"
import { candidates, idOf, input } from "../strategies/support.ts"

const startMs = 1_000_000

/** The request number `n` of the combo, served by a connection. */
const row = (n: number, connectionId: string, more = {}) => ({
  combo: "c" as string | null,
  connectionId: connectionId as string | null,
  model: "m" as string | null,
  outcome: "completed" as const,
  timestampMs: startMs + n,
  ...more
})

/** A run that dies after `requests`, with its memory written after `written` of them; who is first after the restart. */
const afterCrash = (strategy: typeof roundRobin, pool: string, requests: number, written: number): string => {
  const chance = makeSeededRandom(3)
  let memory: StrategyMemory = blankMemory
  let saved = blankMemory
  const rows = []
  for (let n = 0; n < requests; n += 1) {
    const ordering = strategy(input({ candidates: candidates(pool), memory, random: chance }))
    memory = ordering.memory
    rows.unshift(row(n, idOf(ordering.order[0]!)))
    if (n + 1 === written) saved = memory
  }
  const states = new Map(written === 0 ? [] : [["c", saved]])
  const found = caughtUp(states, new Map(written === 0 ? [] : [["c", startMs + written - 1]]), rows).get("c")
  const next = strategy(input({ candidates: candidates(pool), memory: found ?? blankMemory, random: chance }))
  return idOf(next.order[0]!)
}

describe("caughtUp", () => {
  it("round robin goes on where it was, whatever was not written of it", () => {
    for (let size = 1; size <= 5; size += 1) {
      const pool = "abcde".slice(0, size)
      for (let requests = 1; requests <= 12; requests += 1) {
        for (let written = 0; written <= requests; written += 1) {
          assert.strictEqual(afterCrash(roundRobin, pool, requests, written), pool[requests % size])
        }
      }
    }
  })

  it("a deck does not repeat targets that the killed process had dealt", () => {
    for (let written = 1; written <= 3; written += 1) {
      const dealt = afterCrash(random, "abcd", 3, written)
      const all = new Set([dealt])
      const chance = makeSeededRandom(3)
      let memory: StrategyMemory = blankMemory
      for (let n = 0; n < 3; n += 1) {
        const ordering = random(input({ candidates: candidates("abcd"), memory, random: chance }))
        memory = ordering.memory
        all.add(idOf(ordering.order[0]!))
      }
      assert.strictEqual(all.size, 4)
    }
  })

  it("leaves alone what was written later, what does not deal, what failed, and what is long ago", () => {
    const memory: StrategyMemory = { ...blankMemory, turns: 4, lastDealt: "a m" }
    const states = new Map([["c", memory]])
    const same = (savedAtMs: number, rows: Parameters<typeof caughtUp>[2], of = states) =>
      assert.deepStrictEqual(caughtUp(of, new Map([["c", savedAtMs]]), rows), of)
    same(startMs + 1, [row(0, "b")])
    same(startMs, [row(5, "b", { outcome: "failed" }), row(4, "b", { combo: null }), row(3, "b", { model: null })])
    same(startMs - 99_999, [row(9_000, "b", { combo: "other", connectionId: null }), row(0, "b")])
    same(startMs, [row(1, "b")], new Map([["c", { ...memory, lastDealt: null }]]))
    same(startMs, [])
    assert.isAtLeast(mostUnsaved, 1)
  })
})
