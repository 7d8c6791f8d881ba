/** Shares of quota groups: they add up to the limit, none loses its own, and more weight never means a smaller share. */
import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import {
  type Claim,
  closedUntilMs,
  type Part,
  type Pool,
  shareOf
} from "../../../src/plane/routing/quota/Allocations.ts"

const run = { seed: 20_261_121, numRuns: 500 }
const nowMs = 1_000_000

const weight = FC.double({ min: 0.001, max: 1_000_000, noNaN: true })
const amount = FC.oneof(FC.constantFrom(0, 1), FC.double({ min: 0, max: 10_000, noNaN: true }))
const part: FC.Arbitrary<Part> = FC.record({
  limit: FC.double({ min: 0.5, max: 10_000, noNaN: true }),
  used: amount,
  own: amount,
  resetAtMs: FC.oneof(FC.constant(Number.POSITIVE_INFINITY), FC.integer({ min: nowMs + 1, max: nowMs + 1_000_000 }))
}).map(({ limit, own, resetAtMs, used }) => ({ limit, used, own: Math.min(own, used), resetAtMs }))
const pool: FC.Arbitrary<Pool> = FC.record({
  window: FC.constantFrom("5h", "hourly", "daily", "weekly", "monthly"),
  unit: FC.constantFrom("requests", "tokens", "usd", "percent"),
  parts: FC.array(part, { minLength: 1, maxLength: 6 })
})
const claim: FC.Arbitrary<Claim> = FC.record({
  weight,
  others: FC.oneof(FC.constant(0), weight),
  ownUnderWay: FC.nat(3),
  othersUnderWay: FC.nat(3)
}).map(({ others, othersUnderWay, ownUnderWay, weight: own }) => ({
  weight: own,
  weights: own + others,
  ownUnderWay,
  allUnderWay: ownUnderWay + othersUnderWay
}))

const total = (parts: ReadonlyArray<Part>, member: "limit" | "own" | "used"): number =>
  parts.reduce((sum, each) => sum + each[member], 0)

describe("allocations", () => {
  it("the shares of all keys make up the limit", () => {
    FC.assert(
      FC.property(
        FC.array(weight, { minLength: 1, maxLength: 50 }),
        FC.double({ min: 1, max: 1e9, noNaN: true }),
        (weights, limit) => {
          const sum = weights.reduce((one, other) => one + other, 0)
          const shares = weights.map((each) => shareOf(limit, { weight: each, weights: sum }))
          assert.closeTo(shares.reduce((one, other) => one + other, 0) / limit, 1, 1e-9)
        }
      ),
      run
    )
  })

  it("a key below its share is let in, whatever the others took", () => {
    FC.assert(
      FC.property(pool, claim, amount, (given, claimed, more) => {
        const share = shareOf(total(given.parts, "limit"), claimed)
        FC.pre(total(given.parts, "own") + claimed.ownUnderWay < share)
        const borrowed = given.parts.map((each) => ({ ...each, used: each.used + more }))
        assert.isNull(closedUntilMs({ ...given, parts: borrowed }, claimed, nowMs))
      }),
      run
    )
  })

  it("below half of the limit all are admitted", () => {
    FC.assert(
      FC.property(pool, claim, (given, claimed) => {
        FC.pre(total(given.parts, "used") + claimed.allUnderWay < total(given.parts, "limit") / 2)
        assert.isNull(closedUntilMs(given, claimed, nowMs))
      }),
      run
    )
  })

  it("drawing more opens nothing, a greater weight closes nothing", () => {
    FC.assert(
      FC.property(pool, claim, amount, FC.nat(5), (given, claimed, more, at) => {
        const isClosed = closedUntilMs(given, claimed, nowMs) !== null
        const index = at % given.parts.length
        const drawn = given.parts.map((each, place) =>
          place === index ? { ...each, used: each.used + more, own: each.own + more } : each
        )
        if (isClosed) assert.isNotNull(closedUntilMs({ ...given, parts: drawn }, claimed, nowMs))
        const heavier = { ...claimed, weight: claimed.weight + more, weights: claimed.weights + more }
        if (!isClosed) assert.isNull(closedUntilMs(given, heavier, nowMs))
      }),
      run
    )
  })

  it("when it is told to come back, the key is let in", () => {
    FC.assert(
      FC.property(pool, claim, (given, claimed) => {
        const settled = { ...claimed, ownUnderWay: 0, allUnderWay: 0 }
        const untilMs = closedUntilMs(given, settled, nowMs)
        if (untilMs === null) return
        assert.isAbove(untilMs, nowMs)
        const then = given.parts.map((each) => (each.resetAtMs <= untilMs ? { ...each, used: 0, own: 0 } : each))
        assert.isNull(closedUntilMs({ ...given, parts: then }, settled, untilMs))
      }),
      run
    )
  })

  it("keys that take turns as they are let in end with at least the whole of their shares", () => {
    FC.assert(
      FC.property(
        FC.array(FC.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 6 }),
        FC.integer({ min: 1, max: 200 }),
        FC.array(FC.nat(5), { maxLength: 300 }),
        (weights, limit, turns) => {
          const sum = weights.reduce((one, other) => one + other, 0)
          const drawn = weights.map(() => 0)
          const used = (): number => drawn.reduce((one, other) => one + other, 0)
          const isOpen = (key: number): boolean =>
            closedUntilMs(
              {
                window: "daily",
                unit: "requests",
                parts: [{ limit, used: used(), own: drawn[key] ?? 0, resetAtMs: nowMs + 1 }]
              },
              { weight: weights[key] ?? 1, weights: sum, ownUnderWay: 0, allUnderWay: 0 },
              nowMs
            ) === null
          // The first in any order; then all of them in turn until none is admitted or the quota is used up.
          const ask = (key: number): boolean => {
            if (used() >= limit || !isOpen(key)) return false
            drawn[key] = (drawn[key] ?? 0) + 1
            return true
          }
          for (const turn of turns) ask(turn % weights.length)
          while (weights.map((_, key) => ask(key)).some(Boolean));
          assert.strictEqual(used(), limit, "nothing of the quota is left lying")
          for (const [key, own] of drawn.entries()) {
            const borrowed = Math.ceil(limit / 2)
            assert.isAtMost(own, Math.max(borrowed, Math.ceil((limit * (weights[key] ?? 0)) / sum)))
          }
        }
      ),
      run
    )
  })
})
