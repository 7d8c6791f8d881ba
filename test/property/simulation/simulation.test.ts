/** Fairness of the shares, seen through whole simulations. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { simulated } from "../../unit/simulation/support.ts"

const weights = FastCheck.array(FastCheck.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 5 })
const seed = FastCheck.integer({ min: 0, max: 2 ** 31 })

describe("shares in a simulation", () => {
  it("quota share: no member is ever more than one request ahead of its weight or behind it", () => {
    FastCheck.assert(
      FastCheck.property(weights, seed, (given, chance) => {
        const report = simulated({ strategy: "quota-share", weights: given, seed: chance, requests: 400 })
        assert.strictEqual(report.served, 400)
        assert.isAtMost(report.fairness.largestLagRequests, 1 + 1e-9)
      }),
      { numRuns: 60, seed: 20_261_121 }
    )
  })

  it("round robin: no target is ever more than one request ahead of an even share or behind it", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer({ min: 2, max: 5 }), seed, (size, chance) => {
        const even = Array.from({ length: size }, () => 1)
        const report = simulated({ strategy: "round-robin", weights: even, seed: chance, requests: 200 })
        assert.isBelow(report.fairness.largestLagRequests, 1)
        assert.closeTo(report.fairness.jainIndex!, 1, 1e-3)
      }),
      { numRuns: 20, seed: 20_261_121 }
    )
  })

  it("every request is served or failed, and every seed repeats itself", () => {
    const part = FastCheck.double({ min: 0, max: 1, noNaN: true })
    FastCheck.assert(
      FastCheck.property(weights, seed, part, FastCheck.integer({ min: 1, max: 9 }), (given, chance, errors, burst) => {
        const input = {
          strategy: "p2c",
          weights: given,
          seed: chance,
          burst,
          requests: 100,
          behaviours: { errors: { "*": errors } }
        }
        const report = simulated(input)
        assert.strictEqual(report.served + report.failed, 100)
        assert.deepStrictEqual(simulated(input), report)
      }),
      { numRuns: 30, seed: 20_261_121 }
    )
  })
})
