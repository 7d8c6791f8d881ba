/** Who of a panel is waited for, and until when: the rules alone, and the running panel under a test clock. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { decodeStored, noPolicy } from "../../../../../src/subjects/combos/entity/ComboPolicy.ts"
import { runPanel, type PanelCall } from "../../../../../src/plane/features/fusion/RunPanel.ts"
import { closesAtMs, memberEnded, openPanel, panelRules } from "../../../../../src/plane/features/fusion/Panel.ts"

describe("the rules", () => {
  it("are the defaults where the combo has none or invalid ones", () => {
    const defaults = { minPanel: 2, stragglerGraceMs: 8_000, panelHardTimeoutMs: 90_000 }
    assert.deepStrictEqual(panelRules(noPolicy, 3), defaults)
    const nonsense = { minPanel: "3", stragglerGraceMs: -1, panelHardTimeoutMs: Number.NaN }
    assert.deepStrictEqual(panelRules(decodeStored({ fusionTuning: nonsense }), 3), defaults)
    assert.deepStrictEqual(panelRules(decodeStored({ fusionTuning: 7 }), 3), defaults)
  })

  it("clamp minPanel to two and the size of the panel", () => {
    const minPanel = (asked: number, size: number) =>
      panelRules(decodeStored({ fusionTuning: { minPanel: asked } }), size).minPanel
    assert.deepStrictEqual(
      [minPanel(0, 5), minPanel(1, 5), minPanel(3, 5), minPanel(9, 5), minPanel(3.9, 5)],
      [2, 2, 3, 5, 3]
    )
  })

  const rules = { minPanel: 2, stragglerGraceMs: 100, panelHardTimeoutMs: 1_000 }

  it("give the grace from the answer that made the quorum, not from later ones", () => {
    let panel = openPanel(4, 50)
    assert.strictEqual(closesAtMs(panel, rules), 1_050)
    panel = memberEnded(panel, rules, true, 200)
    panel = memberEnded(panel, rules, false, 250)
    assert.strictEqual(closesAtMs(panel, rules), 1_050)
    panel = memberEnded(panel, rules, true, 300)
    assert.strictEqual(closesAtMs(panel, rules), 400)
    const five = memberEnded({ ...panel, size: 5 }, rules, true, 390)
    assert.strictEqual(closesAtMs(five, rules), 400)
  })

  it("never wait longer than the hard timeout, and not when all are done", () => {
    const late = [980, 990].reduce((panel, at) => memberEnded(panel, rules, true, at), openPanel(3, 0))
    assert.strictEqual(closesAtMs(late, rules), 1_000)
    assert.strictEqual(closesAtMs(memberEnded(late, rules, false, 991), rules), Number.NEGATIVE_INFINITY)
  })
})

/** A member that answers after `ms`, or says when it was sent away. */
const member = (ms: number, answer: string | null): Effect.Effect<PanelCall<string | null>> =>
  Effect.map(Deferred.make<string>(), (left) => ({
    run: Effect.raceFirst(Effect.as(Effect.sleep(ms), answer), Deferred.await(left)),
    leave: () => Deferred.unsafeDone(left, Effect.succeed("left"))
  }))

const isAnswer = (end: string | null): boolean => end !== null && end !== "left"

const run = (members: ReadonlyArray<readonly [ms: number, answer: string | null]>, tuning = {}) =>
  Effect.gen(function* () {
    const seats = yield* Effect.forEach(members, ([ms, answer]) => member(ms, answer))
    return yield* Effect.fork(
      runPanel(seats, panelRules({ fusionTuning: { ...noPolicy.fusionTuning, ...tuning } }, seats.length), isAnswer)
    )
  })

const isDone = (fiber: Fiber.RuntimeFiber<unknown>) => Effect.map(Fiber.poll(fiber), (exit) => exit._tag === "Some")

describe("a running panel", () => {
  it.effect("ends with its last member when none is late", () =>
    Effect.gen(function* () {
      const fiber = yield* run([
        [300, "a"],
        [100, "b"],
        [200, null]
      ])
      yield* TestClock.adjust(299)
      assert.isFalse(yield* isDone(fiber))
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* Fiber.join(fiber), ["a", "b", null])
    })
  )

  it.effect("sends a straggler away eight seconds after the second answer", () =>
    Effect.gen(function* () {
      const fiber = yield* run([
        [1_000, "a"],
        [80_000, "late"],
        [3_000, "c"]
      ])
      yield* TestClock.adjust(10_999)
      assert.isFalse(yield* isDone(fiber))
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* Fiber.join(fiber), ["a", "left", "c"])
    })
  )

  it.effect("takes an answer that comes within the grace", () =>
    Effect.gen(function* () {
      const fiber = yield* run([
        [0, "a"],
        [7_999, "b"],
        [0, "c"]
      ])
      yield* TestClock.adjust(8_000)
      assert.deepStrictEqual(yield* Fiber.join(fiber), ["a", "b", "c"])
    })
  )

  it.effect("starts no grace for failures, and waits until the hard timeout", () =>
    Effect.gen(function* () {
      const fiber = yield* run([
        [10, "a"],
        [20, null],
        [1_000_000, "never"]
      ])
      yield* TestClock.adjust(89_999)
      assert.isFalse(yield* isDone(fiber))
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* Fiber.join(fiber), ["a", null, "left"])
    })
  )

  it.effect("asks all at once", () =>
    Effect.gen(function* () {
      const fiber = yield* run(Array.from({ length: 9 }, (_, index) => [100, `answer ${index}`] as const))
      yield* TestClock.adjust(100)
      assert.lengthOf(yield* Fiber.join(fiber), 9)
    })
  )

  it.effect("cancels the whole panel when both waits are zero", () =>
    Effect.gen(function* () {
      const fiber = yield* run(
        [
          [10, "a"],
          [20, "b"]
        ],
        { panelHardTimeoutMs: 0 }
      )
      assert.deepStrictEqual(yield* Fiber.join(fiber), ["left", "left"])
    })
  )
})
