import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import type { Candidate } from "../../../../src/plane/routing/candidate/Candidate.ts"
import { blankMemory, type StrategyMemory } from "../../../../src/plane/routing/candidate/Strategy.ts"
import { paidInstead, quotaShare } from "../../../../src/plane/routing/strategies/QuotaShare.ts"
import { candidate, candidates, countsOf, hourMs, idOf, ids, input, quota } from "./support.ts"

const letters = "abcdefghijklmnopqrstuvwxyz"

const weighted = (weights: ReadonlyArray<number>): ReadonlyArray<Candidate> =>
  weights.map((weight, index) => candidate(letters[index] ?? "?", { weight }))

interface Round {
  readonly firsts: string
  readonly memory: StrategyMemory
}

const rounds = (members: ReadonlyArray<Candidate>, times: number, before: StrategyMemory = blankMemory): Round => {
  let memory = before
  let firsts = ""
  for (let time = 0; time < times; time += 1) {
    const ordering = quotaShare(input({ candidates: members, memory }))
    memory = ordering.memory
    firsts += ordering.order[0] === undefined ? "-" : idOf(ordering.order[0])
  }
  return { firsts, memory }
}

/** How far any member was ever from its share: since the start, and over the worst window. */
const lags = (firsts: string, weights: ReadonlyArray<number>): { readonly start: number; readonly window: number } => {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let start = 0
  let window = 0
  for (const [index, weight] of weights.entries()) {
    let [ahead, least, most] = [0, 0, 0]
    for (const first of firsts) {
      ahead += (first === letters[index] ? 1 : 0) - weight / total
      least = Math.min(least, ahead)
      most = Math.max(most, ahead)
    }
    start = Math.max(start, most, -least)
    window = Math.max(window, most - least)
  }
  return { start, window }
}

const almost = 1e-6

describe("quota share: whose turn it is", () => {
  it("of two members none is more than one request from its share over any window", () => {
    FC.assert(
      FC.property(FC.integer({ min: 1, max: 1_000 }), FC.integer({ min: 1, max: 1_000 }), (one, other) => {
        const { window } = lags(rounds(weighted([one, other]), 300).firsts, [one, other])
        assert.isAtMost(window, 1 + almost)
      }),
      { seed: 20_261_121, numRuns: 200 }
    )
  })

  it("of any members none is a whole request from its share at any time, and less than two over any window", () => {
    const weight = FC.oneof(
      FC.integer({ min: 1, max: 9 }),
      FC.double({ min: 0.001, max: 10_000, noNaN: true, noDefaultInfinity: true })
    )
    FC.assert(
      FC.property(FC.array(weight, { minLength: 1, maxLength: 20 }), (weights) => {
        const { start, window } = lags(rounds(weighted(weights), 400).firsts, weights)
        const bound = weights.length < 2 ? 0 : 1 - 1 / (2 * weights.length - 2)
        assert.isAtMost(start, bound + almost)
        assert.isAtMost(window, 2 * bound + almost)
      }),
      { seed: 20_261_121, numRuns: 200 }
    )
  })

  it("hand-computed: 3:2:1 over six requests", () => {
    const { firsts } = rounds(weighted([3, 2, 1]), 6)
    assert.deepStrictEqual(countsOf(firsts), { a: 3, b: 2, c: 1 })
    assert.isAtMost(lags(firsts.repeat(10), [3, 2, 1]).window, 1 + almost)
  })

  it("members of weight 0 come last, and all of weight 0 take turns", () => {
    assert.deepStrictEqual(countsOf(rounds(weighted([1, 0]), 10).firsts), { a: 10 })
    assert.deepStrictEqual(countsOf(rounds(weighted([0, 0]), 10).firsts), { a: 5, b: 5 })
  })

  it("every member stands in the order once", () => {
    FC.assert(
      FC.property(FC.array(FC.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 12 }), (weights) => {
        const members = weighted(weights)
        const { order } = quotaShare(input({ candidates: members }))
        assert.sameMembers([...order], [...members])
      }),
      { seed: 20_261_121, numRuns: 100 }
    )
  })
})

describe("quota share: who is spared", () => {
  const saturated = candidate("a", { quotas: [quota("daily", 0.01, hourMs)] })
  const [a, b] = candidates("ab") as [Candidate, Candidate]

  it("a saturated member goes to the tail, and does not take all turns once it is not saturated any more", () => {
    const spared = rounds([saturated, b], 1_000)
    assert.deepStrictEqual(countsOf(spared.firsts), { b: 1_000 })
    const after = rounds([a, b], 20, spared.memory)
    assert.isAtMost(lags(after.firsts, [1, 1]).window, 1 + almost)
  })

  it("a full member comes behind a free one and before a saturated one", () => {
    const full = candidate("f", { inFlight: 2 })
    const limited = {
      ...full,
      target: {
        ...full.target,
        account: { ...full.target.account, connection: { ...full.target.account.connection, maxConcurrent: 2 } }
      }
    }
    assert.strictEqual(ids(quotaShare(input({ candidates: [saturated, limited, b] }))), "bfa")
  })

  it("when all are saturated they take turns as always", () => {
    const other = candidate("b", { quotas: [quota("weekly", 0.02)] })
    assert.deepStrictEqual(countsOf(rounds([saturated, other], 10).firsts), { a: 5, b: 5 })
  })

  it("who comes back from a cooldown has neither gained nor lost by it", () => {
    const away = rounds([b], 100, rounds([a, b], 11).memory)
    assert.isAtMost(lags(rounds([a, b], 20, away.memory).firsts, [1, 1]).window, 1 + almost)
  })

  it("what is kept is bounded by the members there are", () => {
    const members = weighted([1, 2, 3])
    const { memory } = rounds(members.slice(0, 1), 1, rounds(members, 5).memory)
    assert.lengthOf(Object.keys(memory.credits), 1)
  })
})

describe("quota share: sessions", () => {
  const [a, b] = candidates("ab") as [Candidate, Candidate]

  it("a session's own account pays for the turn it takes", () => {
    let memory = blankMemory
    let firsts = ""
    for (let time = 0; time < 30; time += 1) {
      const ordering = quotaShare(input({ candidates: [a, b], memory }))
      const [first = a] = ordering.order
      // Each third request is one of a session that stays at `a`.
      const pinned = time % 3 === 0
      memory = pinned && first !== a ? paidInstead(ordering.memory, first, a) : ordering.memory
      firsts += pinned ? "a" : idOf(first)
    }
    assert.deepStrictEqual(countsOf(firsts), { a: 15, b: 15 })
  })

  it("what sessions put on an account is forgiven beyond some requests", () => {
    let memory = blankMemory
    for (let time = 0; time < 1_000; time += 1) {
      const ordering = quotaShare(input({ candidates: [a, b], memory }))
      const [first = a] = ordering.order
      memory = first === a ? ordering.memory : paidInstead(ordering.memory, first, a)
    }
    assert.include(rounds([a, b], 30, memory).firsts, "a")
  })
})
