import { assert, describe, it } from "@effect/vitest"
import { reasonText } from "../../../../src/plane/routing/candidate/Reason.ts"
import { makeSeededRandom } from "../../../../src/kernel/SeededRandom.ts"
import { blankMemory } from "../../../../src/plane/routing/candidate/Strategy.ts"
import { candidate, candidates, countsOf, firsts, ids, run } from "./support.ts"

const cycles = (seen: string, size: number): ReadonlyArray<string> =>
  Array.from({ length: seen.length / size }, (_, index) => seen.slice(index * size, (index + 1) * size))

const sorted = (text: string): string => [...text].sort().join("")

/** Pearson's statistic against equal shares. */
const chiSquare = (counts: Readonly<Record<string, number>>, cells: number, draws: number): number => {
  const expected = draws / cells
  const seen = Object.values(counts)
  return seen.reduce((sum, count) => sum + (count - expected) ** 2 / expected, (cells - seen.length) * expected)
}

describe("random", () => {
  it("deals every target once per deck, and never the same twice running", () => {
    for (const pool of ["ab", "abc", "abcdefg"]) {
      const seen = firsts("random", pool.length * 500, { candidates: candidates(pool) })
      for (const cycle of cycles(seen, pool.length)) assert.strictEqual(sorted(cycle), pool)
      assert.notMatch(seen, /(.)\1/)
    }
  })

  it("shuffles: all decks that may follow are equally likely", () => {
    const seen = cycles(firsts("random", 3 * 12_000, { candidates: candidates("abc") }), 3)
    // Told from the last card of the deck before, 4 of the 6 orders may follow.
    const steps = seen.slice(1).map((deck, index) => `${seen[index]?.at(-1)}${deck}`)
    const counts: Record<string, number> = {}
    for (const step of steps) counts[step] = (counts[step] ?? 0) + 1
    assert.strictEqual(Object.keys(counts).length, 12)
    // 11 degrees of freedom: above 31.3 once in a thousand.
    assert.isBelow(chiSquare(counts, 12, steps.length), 31.3)
  })

  it("the same target with reasoning and without has a card each", () => {
    const thinking = candidate("a")
    const pool = [thinking, { ...thinking, target: { ...thinking.target, suppressReasoning: true } }, candidate("b")]
    let memory = blankMemory
    const random = makeSeededRandom(7)
    for (let deck = 0; deck < 20; deck++) {
      const dealt = new Set<unknown>()
      for (let card = 0; card < pool.length; card++) {
        const ordering = run("random", { candidates: pool, memory, random })
        assert.sameMembers([...ordering.order], pool)
        dealt.add(ordering.order[0])
        memory = ordering.memory
      }
      assert.strictEqual(dealt.size, pool.length)
    }
  })

  it("falls back on the cards left, then on those dealt", () => {
    const memory = { ...blankMemory, deck: ["c m", "a m"], lastDealt: "b m" }
    const ordering = run("random", { candidates: candidates("abcd"), memory })
    assert.strictEqual(ids(ordering).slice(0, 2), "ca")
    assert.strictEqual(sorted(ids(ordering).slice(2)), "bd")
    assert.deepStrictEqual(ordering.memory, { ...blankMemory, deck: ["a m"], lastDealt: "c m" })
    assert.strictEqual(reasonText(ordering.reason), "next card of the deck")
  })

  it("keeps the card of one that may not be called just now", () => {
    const memory = { ...blankMemory, deck: ["c m", "a m"], lastDealt: "b m" }
    const without = run("random", { candidates: candidates("ab"), memory })
    assert.strictEqual(ids(without), "ab")
    assert.deepStrictEqual(without.memory.deck, ["c m"])
    const again = run("random", { candidates: candidates("abc"), memory: without.memory })
    assert.strictEqual(ids(again)[0], "c")
  })

  it("begins a new deck when no card of the old one may be played, with those that joined", () => {
    const memory = { ...blankMemory, deck: ["gone m"], lastDealt: "a m" }
    for (let seed = 0; seed < 50; seed++) {
      const ordering = run("random", { candidates: candidates("abc"), memory, random: makeSeededRandom(seed) })
      assert.notStrictEqual(ids(ordering)[0], "a")
      assert.strictEqual(ordering.memory.deck.length, 2)
      assert.strictEqual(reasonText(ordering.reason), "first card of a new deck")
    }
  })

  it("keeps both of a pair that shares a key", () => {
    const pool = [candidate("a"), candidate("b"), candidate("a")]
    assert.strictEqual(sorted(ids(run("random", { candidates: pool }))), "aab")
  })
})

describe("strict-random", () => {
  const draws = 20_000

  it("draws evenly", () => {
    const counts = countsOf(firsts("strict-random", draws, { candidates: candidates("abcdefgh") }))
    // 7 degrees of freedom: above 24.3 once in a thousand.
    assert.isBelow(chiSquare(counts, 8, draws), 24.3)
  })

  it("draws independently of the draw before, repeats included", () => {
    const seen = firsts("strict-random", draws + 1, { candidates: candidates("abcd") })
    const pairs: Record<string, number> = {}
    for (let index = 0; index < draws; index++) {
      const pair = seen.slice(index, index + 2)
      pairs[pair] = (pairs[pair] ?? 0) + 1
    }
    // 15 degrees of freedom: above 37.7 once in a thousand.
    assert.isBelow(chiSquare(pairs, 16, draws), 37.7)
  })

  it("remembers nothing", () => {
    const ordering = run("strict-random", { candidates: candidates("abc") })
    assert.strictEqual(ordering.memory, blankMemory)
  })
})
