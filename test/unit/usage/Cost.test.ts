import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type { ModelPrice } from "../../../src/subjects/pricing/entity.ts"
import { nanoUsdParts, noTokens, type TokenCounts } from "../../../src/contract/domain/Usage.ts"
import { costNanoUsd, estimateTokens, formatUsd10 } from "../../../src/observe/usage/Cost.ts"

const price: ModelPrice = { input: 3, output: 15 }
const tokens = (over: Partial<TokenCounts>): TokenCounts => ({ ...noTokens, ...over })

describe("costNanoUsd", () => {
  it("charges what is kept in the cache for an hour at its own price, else as other cache writes", () => {
    const used = tokens({ in: 100, cacheRead: 10, cacheWrite: 60, cacheWrite1h: 40 })
    const cached = { ...price, cached: 0.3, cacheCreation: 3.75 }
    assert.strictEqual(costNanoUsd(used, cached), 30 * 3000 + 10 * 300 + 60 * 3750)
    assert.strictEqual(
      costNanoUsd(used, { ...cached, cacheCreation1h: 6 }),
      30 * 3000 + 10 * 300 + 20 * 3750 + 40 * 6000
    )
    assert.strictEqual(
      costNanoUsd({ ...used, cacheWrite1h: 999 }, { ...cached, cacheCreation1h: 6 }),
      93_000 + 60 * 6000
    )
  })

  it("is the price per million tokens, in nano-USD", () => {
    assert.strictEqual(costNanoUsd(tokens({ in: 1_000_000 }), price), 3_000_000_000)
    assert.strictEqual(costNanoUsd(tokens({ in: 10, out: 2 }), price), 60_000)
    assert.strictEqual(costNanoUsd(noTokens, price), 0)
  })

  it("charges cached tokens at their own price, else at the input price", () => {
    const used = tokens({ in: 100, cacheRead: 60, cacheWrite: 30 })
    assert.strictEqual(costNanoUsd(used, price), 300_000)
    assert.strictEqual(costNanoUsd(used, { ...price, cached: 0.3, cacheCreation: 3.75 }), 30_000 + 18_000 + 112_500)
    assert.strictEqual(costNanoUsd(used, { ...price, cached: 0 }), 40 * 3000)
  })

  it("charges reasoning inside the output, at its own price when there is one", () => {
    const used = tokens({ out: 100, reasoning: 40 })
    assert.strictEqual(costNanoUsd(used, price), 1_500_000)
    assert.strictEqual(costNanoUsd(used, { ...price, reasoning: 20 }), 60 * 15_000 + 40 * 20_000)
  })

  it("rounds once, at the end", () => {
    // 0.001 nano-USD per token: alone it is nothing, some of them together are not.
    const tiny: ModelPrice = { input: 0.000_001, output: 0.000_001 }
    assert.strictEqual(costNanoUsd(tokens({ in: 7 }), tiny), 0)
    assert.strictEqual(costNanoUsd(tokens({ in: 7, out: 1 }), tiny), 1 / nanoUsdParts)
    assert.strictEqual(costNanoUsd(tokens({ in: 1 }), { input: 0.0375, output: 0 }), 37.5)
    assert.strictEqual(costNanoUsd(tokens({ in: 1 }), { input: 0.01875, output: 0 }), 18.75)
    assert.strictEqual(costNanoUsd(tokens({ in: 3 }), { input: 0.1, output: 0 }), 300)
  })

  it("does not let nonsense from an upstream make it negative or unsafe", () => {
    const odd = tokens({ in: -5, out: Number.NaN, cacheRead: 10, cacheWrite: Infinity, reasoning: 7 })
    assert.strictEqual(costNanoUsd(odd, price), 0)
    assert.strictEqual(costNanoUsd(tokens({ in: 10, cacheRead: 50 }), { ...price, cached: 1 }), 10_000)
    assert.strictEqual(costNanoUsd(tokens({ out: 1e300 }), price), Number.MAX_SAFE_INTEGER)
  })

  const part = FastCheck.nat({ max: 2_000_000 })
  const cents = FastCheck.nat({ max: 60_000 }).map((n) => n / 100)

  it("adds up exactly over its parts", () => {
    FastCheck.assert(
      FastCheck.property(
        part,
        part,
        part,
        part,
        part,
        cents,
        cents,
        (fresh, read, write, text, thought, input, output) => {
          const all = costNanoUsd(
            { in: fresh + read + write, out: text + thought, cacheRead: read, cacheWrite: write, reasoning: thought },
            { input, output }
          )
          // Prices in whole cents are whole nano-USD per token, so nothing may be lost.
          const nano = (usd: number) => Math.round(usd * 1000)
          assert.strictEqual(all, (fresh + read + write) * nano(input) + (text + thought) * nano(output))
        }
      )
    )
  })

  /** Up to nine decimals, finer than any price that is published. */
  const finest = FastCheck.nat({ max: 200_000 }).chain((whole) =>
    FastCheck.constantFrom(1e2, 1e4, 1e5, 1e7, 1e9).map((scale) => whole / scale)
  )

  it("is the exact sum to 1e-11 USD at any price, and sums of costs are the same in any order", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(
          FastCheck.tuple(FastCheck.nat({ max: 200_000 }), FastCheck.nat({ max: 200_000 }), finest, finest),
          {
            minLength: 1
          }
        ),
        (calls) => {
          const costs = calls.map(([prompt, answer, input, output]) => {
            const cost = costNanoUsd(tokens({ in: prompt, out: answer }), { input, output })
            // In 1e-15 USD, from prices that are whole in their ninth decimal.
            const exact =
              BigInt(prompt) * BigInt(Math.round(input * 1e9)) + BigInt(answer) * BigInt(Math.round(output * 1e9))
            assert.isAtMost(
              Math.abs(Number(BigInt(cost * nanoUsdParts) * 1_000_000n - exact * BigInt(nanoUsdParts))),
              10_000 * nanoUsdParts
            )
            return cost
          })
          const sum = (all: ReadonlyArray<number>): number => all.reduce((total, cost) => total + cost, 0)
          assert.strictEqual(sum(costs), sum(costs.toReversed()))
          assert.strictEqual(sum(costs), sum(costs.toSorted((one, other) => one - other)))
          assert.strictEqual(
            costs.reduce((rest, cost) => rest - cost, sum(costs)),
            0
          )
        }
      )
    )
  })

  it("never falls when more is used", () => {
    FastCheck.assert(
      FastCheck.property(part, part, cents, cents, (fewer, more, input, output) => {
        const cost = (count: number) => costNanoUsd(tokens({ in: count, out: count }), { input, output })
        assert.isAtMost(cost(fewer), cost(fewer + more))
      })
    )
  })
})

describe("formatUsd10", () => {
  it("has ten decimals", () => {
    assert.strictEqual(formatUsd10(0), "0.0000000000")
    assert.strictEqual(formatUsd10(1), "0.0000000010")
    assert.strictEqual(formatUsd10(12_345_678_901), "12.3456789010")
    assert.strictEqual(formatUsd10(-3), "0.0000000000")
    assert.strictEqual(formatUsd10(Number.NaN), "0.0000000000")
    assert.strictEqual(formatUsd10(18.75), "0.0000000188")
    assert.strictEqual(formatUsd10(0.984375), "0.0000000010")
    assert.strictEqual(formatUsd10(999_999_999.984375), "1.0000000000")
  })

  it("loses nothing", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.maxSafeNat(), (nano) => {
        const text = formatUsd10(nano)
        assert.match(text, /^\d+\.\d{10}$/)
        assert.strictEqual(BigInt(text.replace(".", "")), BigInt(nano) * 10n)
      })
    )
  })
})

describe("estimateTokens", () => {
  it("follows the kind of text", () => {
    assert.strictEqual(estimateTokens(0), 0)
    assert.strictEqual(estimateTokens(1), 1)
    assert.strictEqual(estimateTokens(3900), 1000)
    assert.strictEqual(estimateTokens(2299, "json"), 1000)
    assert.isAbove(estimateTokens(10_000, "json"), estimateTokens(10_000, "cjk"))
    assert.isAbove(estimateTokens(10_000, "cjk"), estimateTokens(10_000, "code"))
  })
})
