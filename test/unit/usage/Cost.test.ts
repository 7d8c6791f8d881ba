import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type { ModelPrice } from "../../../src/domain/Pricing.ts"
import { noTokens, type TokenCounts } from "../../../src/domain/Usage.ts"
import { costNanoUsd, estimateTokens, formatUsd10 } from "../../../src/usage/Cost.ts"

const price: ModelPrice = { input: 3, output: 15 }
const tokens = (over: Partial<TokenCounts>): TokenCounts => ({ ...noTokens, ...over })

describe("costNanoUsd", () => {
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
    // 0.0004 nano-USD per token: alone it is nothing, a thousand and more of them are not.
    const tiny: ModelPrice = { input: 0.000_001, output: 0.000_001 }
    assert.strictEqual(costNanoUsd(tokens({ in: 499 }), tiny), 0)
    assert.strictEqual(costNanoUsd(tokens({ in: 499, out: 1 }), tiny), 1)
    assert.strictEqual(costNanoUsd(tokens({ in: 1 }), { input: 0.0375, output: 0 }), 38)
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
