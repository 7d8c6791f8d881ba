import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { makeRateLimiter } from "../../../src/plane/resilience/RateLimiter.ts"

const run = { seed: 20_261_121, numRuns: 1_000 }
const rules = FC.record({
  requestsPerMinute: FC.integer({ min: 1, max: 8 }),
  minTimeBetweenRequestsMs: FC.oneof(FC.constant(0), FC.integer({ min: 1, max: 20_000 }))
})
const steps = FC.array(FC.oneof(FC.nat(500), FC.nat(30_000)), { minLength: 20, maxLength: 150 })

describe("Pace", () => {
  it("says exactly when the next start is allowed: not a millisecond too early, not one too late", () => {
    FC.assert(
      FC.property(rules, steps, (pace, passing) => {
        const real = makeRateLimiter()
        const starts: Array<number> = []
        const allowed = (atMs: number): boolean =>
          starts.filter((startMs) => startMs > atMs - 60_000).length < pace.requestsPerMinute &&
          starts.every((startMs) => atMs - startMs >= pace.minTimeBetweenRequestsMs)
        let nowMs = 1_000_000
        for (const ms of passing) {
          nowMs += ms
          const waitMs = real.waitMs(pace, nowMs)
          assert.isTrue(allowed(nowMs + waitMs))
          if (waitMs > 0) assert.isFalse(allowed(nowMs + waitMs - 1))
          else {
            real.start(nowMs)
            starts.push(nowMs)
          }
        }
      }),
      run
    )
  })

  it("never delays a request for longer than its rules, also when the clock goes back or the rules change", () => {
    const event = FC.tuple(FC.integer({ min: -200_000, max: 100_000 }), rules)
    FC.assert(
      FC.property(FC.array(event, { minLength: 10, maxLength: 80 }), (events) => {
        const pace = makeRateLimiter()
        let nowMs = 1_000_000_000
        for (const [ms, now] of events) {
          nowMs += ms
          const waitMs = pace.waitMs(now, nowMs)
          assert.isAtMost(waitMs, Math.max(60_000, now.minTimeBetweenRequestsMs))
          if (waitMs === 0) pace.start(nowMs)
        }
        assert.isTrue(pace.isIdle({ requestsPerMinute: 1, minTimeBetweenRequestsMs: 0 }, nowMs + 60_000))
      }),
      run
    )
  })

  it("keeps no more than the latest minute", () => {
    const pace = makeRateLimiter()
    const wide = { requestsPerMinute: 1_000_000, minTimeBetweenRequestsMs: 0 }
    for (let n = 0; n < 200_000; n++) pace.start(n * 10)
    assert.strictEqual(pace.waitMs({ ...wide, requestsPerMinute: 6_000 }, 1_999_990), 10)
    assert.strictEqual(pace.waitMs({ ...wide, requestsPerMinute: 6_001 }, 1_999_990), 0)
    assert.isTrue(pace.isIdle(wide, 2_059_990))
  })
})
