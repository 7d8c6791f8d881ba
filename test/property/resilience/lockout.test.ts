import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import * as Lockout from "../../../src/plane/resilience/lockout/Lockout.ts"

const run = { seed: 20_261_121, numRuns: 1_000 }
const windowMs = 1_800_000

const profile: FC.Arbitrary<Lockout.LockoutProfile> = FC.record({
  baseCooldownMs: FC.integer({ min: 100, max: 120_000 }),
  cap: FC.integer({ min: 1, max: 20 }),
  maxBackoffSteps: FC.nat(12),
  useExponentialBackoff: FC.boolean()
}).map(({ baseCooldownMs, cap, maxBackoffSteps, useExponentialBackoff }) => ({
  baseCooldownMs,
  maxCooldownMs: baseCooldownMs * cap,
  maxBackoffSteps,
  useExponentialBackoff
}))

type Event =
  | { readonly _tag: "Pass"; readonly ms: number }
  | { readonly _tag: "Fail"; readonly hintMs: number | null }
  | { readonly _tag: "Succeed" }

const eventsFrom = (pass: FC.Arbitrary<number>): FC.Arbitrary<ReadonlyArray<Event>> =>
  FC.array(
    FC.oneof(
      { weight: 3, arbitrary: pass.map((ms) => ({ _tag: "Pass", ms }) as const) },
      {
        weight: 4,
        arbitrary: FC.option(FC.integer({ min: 1, max: 5_000_000 }), { nil: null, freq: 2 }).map(
          (hintMs) => ({ _tag: "Fail", hintMs }) as const
        )
      },
      { weight: 1, arbitrary: FC.constant({ _tag: "Succeed" } as const) }
    ),
    { minLength: 10, maxLength: 100 }
  )
const forward = FC.oneof(FC.nat(1_000), FC.nat(200_000), FC.nat(4_000_000))
const anyWay = FC.oneof(forward, FC.integer({ min: -4_000_000, max: 4_000_000 }))

/** A reference model that counts down what is left of the lock and of the memory. */
const reference = (rules: Lockout.LockoutProfile) => {
  let count = 0
  let lockLeftMs = 0
  let memoryLeftMs = 0
  return {
    pass: (ms: number) => {
      lockLeftMs = Math.max(0, lockLeftMs - ms)
      memoryLeftMs = Math.max(0, memoryLeftMs - ms)
    },
    fail: (hintMs: number | null) => {
      if (lockLeftMs === 0) {
        if (memoryLeftMs === 0) count = 0
        count += 1
        let ms = rules.baseCooldownMs
        const doublings = rules.useExponentialBackoff ? Math.min(count - 1, rules.maxBackoffSteps) : 0
        for (let n = 0; n < doublings; n++) ms += ms
        lockLeftMs = Math.min(ms, rules.maxCooldownMs)
      }
      lockLeftMs = Math.max(lockLeftMs, hintMs ?? 0)
      memoryLeftMs = lockLeftMs + windowMs
    },
    succeed: () => {
      count = Math.floor(count / 2)
      if (count > 0) return
      lockLeftMs = 0
      memoryLeftMs = 0
    },
    see: () => ({ isLocked: lockLeftMs > 0, leftMs: lockLeftMs, failures: memoryLeftMs > 0 ? count : 0 })
  }
}

describe("Lockout", () => {
  it("agrees with the reference model for every sequence of events", () => {
    FC.assert(
      FC.property(profile, eventsFrom(forward), (rules, events) => {
        const model = reference(rules)
        let nowMs = 1_000_000
        let state: Lockout.LockoutState | null = null
        for (const step of events) {
          if (step._tag === "Pass") {
            nowMs += step.ms
            model.pass(step.ms)
          } else if (step._tag === "Fail") {
            state = Lockout.fail(state, rules, nowMs, "r", step.hintMs)
            model.fail(step.hintMs)
          } else {
            // A memory that has faded has nothing to halve.
            if (state !== null && !Lockout.isAlive(state, nowMs)) state = null
            state = state === null ? null : Lockout.succeed(state)
            model.succeed()
          }
          assert.deepStrictEqual(
            {
              isLocked: state !== null && Lockout.isLocked(state, nowMs),
              leftMs: Math.max(0, (state?.untilMs ?? 0) - nowMs),
              failures: state !== null && Lockout.isAlive(state, nowMs) ? state.failures : 0
            },
            model.see()
          )
        }
      }),
      run
    )
  })

  it("is never shortened by a failure, nor longer than its cap or the hint, also when the clock goes back or jumps", () => {
    FC.assert(
      FC.property(profile, eventsFrom(anyWay), (rules, events) => {
        let nowMs = 1_000_000
        let state: Lockout.LockoutState | null = null
        for (const step of events) {
          if (step._tag === "Pass") nowMs += step.ms
          else if (step._tag === "Succeed") state = state === null ? null : Lockout.succeed(state)
          else {
            const was = state === null ? 0 : Math.max(0, state.untilMs - nowMs)
            state = Lockout.fail(state, rules, nowMs, "r", step.hintMs)
            const is = state.untilMs - nowMs
            assert.isAtLeast(is, was)
            assert.isAtMost(is, Math.max(was, rules.maxCooldownMs, step.hintMs ?? 0))
            assert.isAtLeast(is, 1)
          }
        }
      }),
      run
    )
  })

  it("counts 10,000 failures while it is locked once", () => {
    const rules = { baseCooldownMs: 1_000, maxCooldownMs: 9_000, maxBackoffSteps: 10, useExponentialBackoff: true }
    let state = Lockout.fail(null, rules, 0, "r", null)
    for (let n = 1; n < 10_000; n++) state = Lockout.fail(state, rules, n % 1_000, "r", null)
    assert.deepInclude(state, { failures: 1, untilMs: 1_000 })
  })
})
