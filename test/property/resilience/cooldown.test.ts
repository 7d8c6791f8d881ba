import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { healthy } from "../../../src/subjects/connections/entity.ts"
import * as Cooldown from "../../../src/plane/resilience/cooldown/Cooldown.ts"

const run = { seed: 20_261_121, numRuns: 1_000 }
const fresh: Cooldown.CooldownState = { ...healthy, failedAtMs: null, resetAtMs: null, doubtedUntilMs: null }
const profiles = [
  { baseCooldownMs: 5_000, maxBackoffSteps: 8 },
  { baseCooldownMs: 3_000, maxBackoffSteps: 5 }
]

const penalty: FC.Arbitrary<Cooldown.Penalty> = FC.oneof(
  { weight: 5, arbitrary: FC.constant({ _tag: "Backoff" } as const) },
  { weight: 3, arbitrary: FC.integer({ min: 1, max: 100_000 }).map((ms) => ({ _tag: "For", ms }) as const) },
  {
    weight: 1,
    arbitrary: FC.constantFrom<Cooldown.TerminalStatus>("banned", "expired", "credits_exhausted").map(
      (status) => ({ _tag: "Terminal", status }) as const
    )
  }
)

type Event =
  | { readonly _tag: "Pass"; readonly ms: number }
  | { readonly _tag: "Begin" }
  | { readonly _tag: "Fail"; readonly which: number; readonly penalty: Cooldown.Penalty }
  | { readonly _tag: "Succeed"; readonly which: number }
  | { readonly _tag: "Reset" }

const eventsFrom = (pass: FC.Arbitrary<number>): FC.Arbitrary<ReadonlyArray<Event>> =>
  FC.array(
    FC.oneof(
      { weight: 4, arbitrary: pass.map((ms) => ({ _tag: "Pass", ms }) as const) },
      { weight: 6, arbitrary: FC.constant({ _tag: "Begin" } as const) },
      { weight: 5, arbitrary: FC.record({ _tag: FC.constant("Fail" as const), which: FC.nat(20), penalty }) },
      { weight: 2, arbitrary: FC.record({ _tag: FC.constant("Succeed" as const), which: FC.nat(20) }) },
      { weight: 1, arbitrary: FC.constant({ _tag: "Reset" } as const) }
    ),
    { minLength: 20, maxLength: 120 }
  )
const forward = FC.oneof(FC.integer({ min: 1, max: 500 }), FC.integer({ min: 1, max: 200_000 }))
const anyWay = FC.oneof(forward, FC.integer({ min: -400_000, max: 400_000 }))

const failure = (startedMs: number, how: Cooldown.Penalty): Cooldown.CooldownFailure => ({
  penalty: how,
  startedMs,
  message: `${how._tag} of ${startedMs}`,
  type: how._tag,
  code: "500"
})

/** A reference model with a list of incidents: a failure belongs to the latest incident when its call began before it. */
const reference = (profile: Cooldown.CooldownProfile) => {
  let ended: Cooldown.TerminalStatus | null = null
  let troubleAtMs = Number.NEGATIVE_INFINITY
  let asNewSinceMs = Number.NEGATIVE_INFINITY
  let untilMs = Number.NEGATIVE_INFINITY
  let level = 0
  return {
    fail: (nowMs: number, startedMs: number, how: Cooldown.Penalty) => {
      if (ended !== null || startedMs < asNewSinceMs) return
      if (how._tag === "Terminal") {
        ended = how.status
        untilMs = Number.NEGATIVE_INFINITY
        troubleAtMs = nowMs
        return
      }
      const isNew = nowMs >= untilMs && startedMs > troubleAtMs
      if (isNew) {
        let ms = profile.baseCooldownMs
        for (let step = 0; step < Math.min(level, profile.maxBackoffSteps); step++) ms += ms
        untilMs = nowMs + (how._tag === "For" ? how.ms : ms)
        level += 1
        troubleAtMs = nowMs
      } else if (how._tag === "For" && nowMs + how.ms > untilMs) {
        untilMs = nowMs + how.ms
        troubleAtMs = nowMs
      }
    },
    succeed: (startedMs: number) => {
      if (ended !== null || startedMs < troubleAtMs) return
      untilMs = Number.NEGATIVE_INFINITY
      level = 0
    },
    reset: (nowMs: number) => {
      ended = null
      untilMs = Number.NEGATIVE_INFINITY
      troubleAtMs = Number.NEGATIVE_INFINITY
      asNewSinceMs = nowMs
      level = 0
    },
    see: (nowMs: number) => ({
      waitMs: ended !== null ? null : Math.max(0, untilMs - nowMs),
      backoffLevel: level,
      ended
    })
  }
}

const doubt: FC.Arbitrary<Cooldown.Penalty> = FC.option(FC.integer({ min: 1, max: 100_000 }), { freq: 2 }).map(
  (ms) => ({ _tag: "Doubt", ms }) as const
)

describe("a doubt", () => {
  it("excludes no connection, whatever happened before, is never shortened, and a later success ends it", () => {
    const seen = new Set<string>()
    FC.assert(
      FC.property(
        FC.constantFrom(...profiles),
        eventsFrom(forward),
        doubt,
        FC.nat(5_000),
        (profile, events, how, took) => {
          let nowMs = 1_000_000
          let state = fresh
          for (const step of events) {
            if (step._tag === "Pass") nowMs += step.ms
            else if (step._tag === "Fail")
              state = Cooldown.fail(state, profile, nowMs, failure(nowMs - 1, step.penalty))
            else if (step._tag === "Succeed") state = Cooldown.succeed(state, nowMs)
            else if (step._tag === "Begin") state = Cooldown.fail(state, profile, nowMs, failure(nowMs - 1, how))
            const doubted = Cooldown.fail(state, profile, nowMs, failure(nowMs - took, how))
            assert.strictEqual(Cooldown.waitMs(doubted, nowMs), Cooldown.waitMs(state, nowMs))
            assert.strictEqual(doubted.testStatus, state.testStatus)
            assert.isAtLeast(Cooldown.doubtMs(doubted, nowMs), Cooldown.doubtMs(state, nowMs))
            assert.isAtMost(doubted.backoffLevel, state.backoffLevel + 1)
            if (Cooldown.doubtMs(doubted, nowMs) > 0) seen.add("doubted")
            if (Cooldown.isTerminal(state.testStatus)) assert.strictEqual(doubted, state)
            else assert.strictEqual(Cooldown.doubtMs(Cooldown.succeed(doubted, nowMs + 1), nowMs), 0)
          }
        }
      ),
      { ...run, numRuns: 300 }
    )
    assert.strictEqual(seen.size, 1)
  })
})

describe("Cooldown", () => {
  it("agrees with the reference model for every sequence of events", () => {
    const waits = new Set<string>()
    FC.assert(
      FC.property(FC.constantFrom(...profiles), eventsFrom(forward), (profile, events) => {
        const model = reference(profile)
        let nowMs = 1_000_000
        let state = fresh
        const calls: Array<number> = []
        for (const step of events) {
          if (step._tag === "Pass") nowMs += step.ms
          else if (step._tag === "Begin") calls.push(nowMs)
          else if (step._tag === "Reset") {
            state = { ...fresh, resetAtMs: nowMs }
            model.reset(nowMs)
          } else if (calls.length > 0) {
            const [startedMs = 0] = calls.splice(step.which % calls.length, 1)
            if (step._tag === "Fail") {
              state = Cooldown.fail(state, profile, nowMs, failure(startedMs, step.penalty))
              // A reset in the same millisecond as the mark of a call is settled by the stamps, not by the order of events.
              model.fail(nowMs, startedMs, step.penalty)
            } else {
              const before = state
              state = Cooldown.succeed(state, startedMs)
              model.succeed(startedMs)
              if (state !== before) assert.deepInclude(state, { ...healthy, testStatus: "active" })
            }
          }
          const waitMs = Cooldown.waitMs(state, nowMs)
          const ended = Cooldown.isTerminal(state.testStatus) ? state.testStatus : null
          const { ended: modelEnded, ...rest } = model.see(nowMs)
          assert.deepStrictEqual({ waitMs, backoffLevel: state.backoffLevel }, endedLevel(rest, modelEnded, state))
          assert.strictEqual(ended, modelEnded)
          if (waitMs !== null && waitMs > 0) assert.strictEqual(state.testStatus, "unavailable")
          waits.add(waitMs === null ? "terminal" : waitMs > 0 ? "cooling" : "free")
        }
      }),
      run
    )
    assert.strictEqual(waits.size, 3)
  })

  it("is never shortened by a failure, and terminal states stay, also when the clock goes back or jumps", () => {
    FC.assert(
      FC.property(FC.constantFrom(...profiles), eventsFrom(anyWay), (profile, events) => {
        let nowMs = 1_000_000
        let state = fresh
        const calls: Array<number> = []
        for (const step of events) {
          const before = state
          if (step._tag === "Pass") nowMs += step.ms
          else if (step._tag === "Begin") calls.push(nowMs)
          else if (step._tag === "Fail" && calls.length > 0) {
            const [startedMs = 0] = calls.splice(step.which % calls.length, 1)
            state = Cooldown.fail(state, profile, nowMs, failure(startedMs, step.penalty))
            const was = Cooldown.waitMs(before, nowMs)
            const is = Cooldown.waitMs(state, nowMs)
            if (was === null) assert.strictEqual(state, before)
            else if (is !== null) assert.isAtLeast(is, was)
            assert.isAtMost(state.backoffLevel, before.backoffLevel + 1)
          } else if (step._tag === "Succeed" && calls.length > 0) {
            const [startedMs = 0] = calls.splice(step.which % calls.length, 1)
            state = Cooldown.succeed(state, startedMs)
            if (Cooldown.isTerminal(before.testStatus)) assert.strictEqual(state, before)
          }
        }
      }),
      run
    )
  })

  it("takes the failure of a new call seriously after the clock was set back", () => {
    const profile = { baseCooldownMs: 100, maxBackoffSteps: 5 }
    const cooled = Cooldown.fail(fresh, profile, 10_000_000, failure(9_000_000, { _tag: "Backoff" }))
    const well = Cooldown.succeed(cooled, 10_000_200)
    const again = Cooldown.fail(well, profile, 5_000, failure(4_000, { _tag: "Backoff" }))
    assert.strictEqual(Cooldown.waitMs(again, 5_000), 100)
  })

  it("counts 10,000 failures of calls that ran side by side once, in whatever order and time they end", () => {
    const call = FC.record({ startedMs: FC.nat(1_000), tookMs: FC.integer({ min: 1_000, max: 60_000 }) })
    FC.assert(
      FC.property(
        FC.array(call, { minLength: 10_000, maxLength: 10_000 }),
        FC.constantFrom(...profiles),
        (calls, profile) => {
          let state = fresh
          const ends = calls.map(({ startedMs, tookMs }) => ({ startedMs, endedMs: startedMs + tookMs }))
          for (const { endedMs, startedMs } of ends.toSorted((a, b) => a.endedMs - b.endedMs)) {
            state = Cooldown.fail(state, profile, endedMs, failure(startedMs, { _tag: "Backoff" }))
          }
          assert.strictEqual(state.backoffLevel, 1)
        }
      ),
      { ...run, numRuns: 10 }
    )
  })
})

/** A terminal state keeps the level it was reached with. */
const endedLevel = (
  seen: { readonly waitMs: number | null; readonly backoffLevel: number },
  ended: string | null,
  state: Cooldown.CooldownState
) => (ended === null ? seen : { ...seen, backoffLevel: state.backoffLevel })
