import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import * as Breaker from "../../../src/plane/resilience/breaker/Breaker.ts"

const run = { seed: 20_261_121, numRuns: 1_000 }

type Event =
  | { readonly _tag: "Pass"; readonly ms: number }
  | { readonly _tag: "Admit" }
  | { readonly _tag: "Look" }
  /** One of the calls under way ends. */
  | { readonly _tag: "End"; readonly which: number; readonly outcome: Breaker.BreakerReport }

const passing = FC.oneof(
  { weight: 6, arbitrary: FC.integer({ min: 0, max: 400 }) },
  { weight: 3, arbitrary: FC.integer({ min: 400, max: 20_000 }) },
  // The clock is set back, or far ahead.
  { weight: 1, arbitrary: FC.integer({ min: -100_000, max: -1 }) },
  { weight: 1, arbitrary: FC.integer({ min: 500_000, max: 90_000_000 }) }
)
const event: FC.Arbitrary<Event> = FC.oneof(
  { weight: 2, arbitrary: passing.map((ms) => ({ _tag: "Pass", ms }) as const) },
  { weight: 4, arbitrary: FC.constant({ _tag: "Admit" } as const) },
  { weight: 1, arbitrary: FC.constant({ _tag: "Look" } as const) },
  {
    weight: 4,
    arbitrary: FC.record({
      _tag: FC.constant("End" as const),
      which: FC.nat(50),
      outcome: FC.constantFrom<Breaker.BreakerReport>("success", "trip", "trip", "trip", "other", "unknown")
    })
  }
)
const profile: FC.Arbitrary<Breaker.BreakerProfile> = FC.record({
  degradationThreshold: FC.integer({ min: 1, max: 3 }),
  more: FC.nat(2),
  resetTimeoutMs: FC.integer({ min: 500, max: 5_000 }),
  maxMultiplier: FC.constantFrom(4, 8)
}).map(({ degradationThreshold, maxMultiplier, more, resetTimeoutMs }) => ({
  degradationThreshold,
  failureThreshold: degradationThreshold + more,
  resetTimeoutMs,
  maxMultiplier
}))

const leaseFloorMs = 600_000

/** A reference model with deadlines instead of timestamps, counted down as time passes. */
const referenceOf = (rules: Breaker.BreakerProfile) => {
  let open = false
  let count = 0
  let lostProbes = 0
  let leftMs = 0
  let probeLeftMs: number | null = null
  const timeout = () => {
    let ms = rules.resetTimeoutMs
    for (let step = 0; step < lostProbes && ms < rules.resetTimeoutMs * rules.maxMultiplier; step++) ms *= 2
    return ms
  }
  const lease = () => Math.max(leaseFloorMs, timeout())
  const halfOpen = () => open && leftMs <= 0
  return {
    /** `beforeOpening`, `beforeProbe`: the clock now shows less than it did then. */
    pass: (ms: number, beforeOpening: boolean, beforeProbe: boolean) => {
      if (!open) return
      if (leftMs > 0) leftMs = beforeOpening ? timeout() : leftMs - ms
      else if (probeLeftMs !== null) {
        probeLeftMs = beforeProbe ? lease() : probeLeftMs - ms
        if (probeLeftMs <= 0) probeLeftMs = null
      }
    },
    admit: (): Breaker.Admission => {
      if (!open) return "allowed"
      if (!halfOpen() || probeLeftMs !== null) return "refused"
      probeLeftMs = lease()
      return "probe"
    },
    end: (outcome: Breaker.BreakerReport, probe: boolean) => {
      if (open && !halfOpen()) return
      if (open) {
        if (!probe) return
        probeLeftMs = null
        if (outcome === "success") {
          open = false
          count = 0
          lostProbes = 0
        } else if (outcome !== "unknown") {
          lostProbes += 1
          leftMs = timeout()
        }
        return
      }
      if (outcome === "success") count = Math.max(0, count - 1)
      if (outcome === "trip") count += 1
      if (outcome === "trip" && count >= rules.failureThreshold) {
        open = true
        lostProbes = 0
        leftMs = rules.resetTimeoutMs
      }
    },
    see: () => ({
      phase: halfOpen() ? "HALF_OPEN" : open ? "OPEN" : count >= rules.degradationThreshold ? "DEGRADED" : "CLOSED",
      failures: count,
      waitMs: halfOpen() ? (probeLeftMs === null ? 0 : null) : open ? leftMs : 0
    })
  }
}

describe("Breaker", () => {
  it("agrees with the reference model for every sequence of events", () => {
    const seen = new Set<string>()
    FC.assert(
      FC.property(profile, FC.array(event, { minLength: 20, maxLength: 150 }), (rules, events) => {
        const reference = referenceOf(rules)
        let nowMs = 1_000_000_000
        let state = Breaker.closed
        const calls: Array<{ readonly probe: boolean }> = []
        for (const step of events) {
          if (step._tag === "Pass") {
            nowMs += step.ms
            reference.pass(
              step.ms,
              state.openedAtMs !== null && nowMs < state.openedAtMs,
              state.probeSinceMs !== null && nowMs < state.probeSinceMs
            )
          } else if (step._tag === "Admit") {
            const admitted = Breaker.admit(state, rules, nowMs)
            state = admitted.state
            assert.strictEqual(admitted.admission, reference.admit())
            if (admitted.admission !== "refused") calls.push({ probe: admitted.admission === "probe" })
          } else if (step._tag === "End" && calls.length > 0) {
            const [call] = calls.splice(step.which % calls.length, 1)
            if (call === undefined) continue
            state = Breaker.report(state, rules, nowMs, step.outcome, call.probe)
            reference.end(step.outcome, call.probe)
          }
          state = Breaker.settle(state, rules, nowMs)
          const waitMs = Breaker.retryAfterMs(state, rules, nowMs)
          assert.deepStrictEqual({ phase: state.phase, failures: state.failures, waitMs }, reference.see())
          seen.add(state.phase)
          // Never longer than the cap, whatever the clock did.
          assert.isAtMost(waitMs ?? 0, rules.resetTimeoutMs * rules.maxMultiplier)
        }
      }),
      run
    )
    assert.strictEqual(seen.size, 4)
  })

  it("allows one probe at a time, however the clock jumps back", () => {
    const rules = { degradationThreshold: 1, failureThreshold: 1, resetTimeoutMs: 1_000, maxMultiplier: 4 }
    const opened = Breaker.report(Breaker.closed, rules, 0, "trip", false)
    FC.assert(
      FC.property(FC.array(FC.integer({ min: -50_000, max: 1_000 }), { minLength: 1, maxLength: 50 }), (steps) => {
        let nowMs = 1_000
        let state = opened
        let probes = 0
        for (const step of [0, ...steps]) {
          nowMs += step
          const admitted = Breaker.admit(state, rules, nowMs)
          state = admitted.state
          probes += admitted.admission === "probe" ? 1 : 0
        }
        assert.strictEqual(probes, 1)
      }),
      run
    )
  })

  it("doubles the reset timeout with each lost probe, up to the cap, and starts anew after a success", () => {
    FC.assert(
      FC.property(profile, FC.integer({ min: 1, max: 60 }), (rules, lost) => {
        let nowMs = 5
        let state = Breaker.closed
        for (let n = 0; n < rules.failureThreshold; n++) state = Breaker.report(state, rules, nowMs, "trip", false)
        for (let n = 0; n < lost; n++) {
          const expected = Math.min(rules.resetTimeoutMs * 2 ** n, rules.resetTimeoutMs * rules.maxMultiplier)
          assert.strictEqual(Breaker.admit(state, rules, nowMs + expected - 1).admission, "refused")
          nowMs += expected
          const { admission, state: probing } = Breaker.admit(state, rules, nowMs)
          assert.strictEqual(admission, "probe")
          state = Breaker.report(probing, rules, nowMs, n % 2 === 0 ? "trip" : "other", true)
          assert.strictEqual(state.phase, "OPEN")
        }
        nowMs += rules.resetTimeoutMs * rules.maxMultiplier
        state = Breaker.report(Breaker.admit(state, rules, nowMs).state, rules, nowMs, "success", true)
        assert.deepStrictEqual(state, Breaker.closed)
      }),
      { ...run, numRuns: 300 }
    )
  })
})
