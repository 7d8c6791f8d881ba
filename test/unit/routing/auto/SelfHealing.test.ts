import { assert, describe, it } from "@effect/vitest"
import {
  callEnded,
  exclusionMs,
  healed,
  isIncident,
  look,
  mostExclusions,
  probeStarted,
  probeTimeoutMs,
  withHealing,
  type Healing,
  type HealingState
} from "../../../../src/plane/routing/auto/SelfHealing.ts"
import { candidate } from "./support.ts"

const minute = 60_000
const after = (state: HealingState, score: number, nowMs: number) => {
  const seen = look(state.get("k") ?? null, score, nowMs)
  return { state: withHealing(state, [["k", seen.healing]]), standing: seen.standing }
}

describe("SelfHealing", () => {
  it("doubles from 5 to 30 minutes", () => {
    assert.deepStrictEqual(
      [1, 2, 3, 4, 99].map(exclusionMs),
      [5, 10, 20, 30, 30].map((each) => each * minute)
    )
  })

  it("excludes below .2, not at .2", () => {
    assert.deepStrictEqual(after(healed, 0.2, 0).standing, { _tag: "in" })
    const out = after(healed, 0.19, 0)
    assert.deepStrictEqual(out.standing, { _tag: "out", untilMs: 5 * minute })
    // A better score does not end it early, nor a worse one later.
    assert.deepStrictEqual(after(out.state, 0.9, 5 * minute - 1).standing, { _tag: "out", untilMs: 5 * minute })
    assert.deepStrictEqual(after(out.state, 0.9, 5 * minute).standing, { _tag: "probe" })
    assert.deepStrictEqual(after(out.state, 0, 9 * minute).standing, { _tag: "probe" })
  })

  it("sends one probe at a time; a failed one doubles the time, a good one readmits", () => {
    const out = after(healed, 0.1, 0).state
    const probing = probeStarted(after(out, 0.1, 5 * minute).state, "k", 5 * minute)
    assert.strictEqual(after(probing, 0.1, 6 * minute).standing._tag, "out")
    assert.strictEqual(after(probing, 0.1, 15 * minute).standing._tag, "probe")

    const failed = callEnded(probing, "k", false, 6 * minute)
    assert.deepStrictEqual(after(failed, 0.9, 6 * minute).standing, { _tag: "out", untilMs: 16 * minute })
    const again = callEnded(failed, "k", false, 16 * minute)
    assert.deepStrictEqual(after(again, 0.9, 16 * minute).standing, { _tag: "out", untilMs: 36 * minute })

    const good = callEnded(probing, "k", true, 6 * minute)
    const trial = after(good, 0.5, 7 * minute)
    assert.deepStrictEqual(trial.standing, { _tag: "in" })
    // It falls again while on trial: out for longer than the first time.
    assert.deepStrictEqual(after(trial.state, 0.1, 8 * minute).standing, { _tag: "out", untilMs: 18 * minute })
    // It proves itself: the past is forgotten.
    const proved = after(trial.state, 0.5, 37 * minute).state
    assert.strictEqual(proved.size, 0)
    assert.deepStrictEqual(after(proved, 0.1, 40 * minute).standing, { _tag: "out", untilMs: 45 * minute })
  })

  it("a call that ends during the exclusion, or of a candidate that is not excluded, changes nothing", () => {
    const out = after(healed, 0.1, 0).state
    assert.strictEqual(callEnded(out, "k", true, minute), out)
    assert.strictEqual(callEnded(out, "k", false, minute), out)
    assert.strictEqual(callEnded(healed, "k", false, minute), healed)
    assert.strictEqual(probeStarted(healed, "k", 0), healed)
  })

  it("a clock set back never extends an exclusion", () => {
    const out = after(healed, 0.1, 1_000 * minute).state
    assert.deepStrictEqual(after(out, 0.1, 0).standing, { _tag: "out", untilMs: 5 * minute })
  })

  it("keeps the same state when nothing changes, and a bounded number of entries", () => {
    const one = after(healed, 0.1, 0).state
    assert.strictEqual(after(one, 0.1, 1).state, one)
    const many = Array.from({ length: mostExclusions + 50 }, (_, index): readonly [string, Healing] => [
      `k${index}`,
      { phase: "out", level: 1, untilMs: index, probeSinceMs: null }
    ])
    const state = withHealing(healed, many)
    assert.strictEqual(state.size, mostExclusions)
    assert(state.has(`k${mostExclusions + 49}`) && !state.has("k0"))
  })

  it("gives a probe a quarter of the time, a second at least, never more than usual", () => {
    assert.deepStrictEqual([40_000, 2_000, 500].map(probeTimeoutMs), [10_000, 1_000, 500])
  })

  it("is an incident when more than half of the providers are OPEN", () => {
    const open = (id: string) => candidate(id, { breaker: "OPEN" })
    assert.strictEqual(isIncident([open("a"), candidate("b")]), false)
    assert.strictEqual(isIncident([open("a"), open("b"), candidate("c")]), true)
    // Accounts of one provider share its breaker.
    assert.strictEqual(isIncident([open("a#1"), open("a#2"), open("a#3"), candidate("b"), candidate("c")]), false)
    assert.strictEqual(isIncident([]), false)
  })
})
