import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { make, type Release } from "../../../src/plane/resilience/ConcurrencyGate.ts"

const free = (place: { readonly _tag: string; readonly release?: Release }): Release => {
  assert.strictEqual(place._tag, "Free")
  return place.release ?? (() => {})
}

describe("ConcurrencyGate", () => {
  it.effect("gives places up to the limit, then in the order of asking", () =>
    Effect.gen(function* () {
      const gate = yield* make
      const first = free(gate.enter("c", 1, 2))
      const order: Array<string> = []
      const ask = (name: string) => {
        const place = gate.enter("c", 1, 2)
        return place._tag === "Queued"
          ? Effect.fork(Effect.tap(place.wait, () => Effect.sync(() => order.push(name))))
          : Effect.die(place._tag)
      }
      const a = yield* ask("a")
      yield* Effect.yieldNow()
      const b = yield* ask("b")
      yield* Effect.yieldNow()
      assert.strictEqual(gate.enter("c", 1, 2)._tag, "Full")
      first()
      first()
      const second = yield* Fiber.join(a)
      assert.deepStrictEqual(order, ["a"])
      second()
      const third = yield* Fiber.join(b)
      assert.deepStrictEqual(order, ["a", "b"])
      third()
      assert.deepStrictEqual([gate.inUse("c"), gate.waiting("c")], [0, 0])
    })
  )

  it.effect(
    "a caller that leaves the line frees its place in it, and one that leaves with the place gives it back",
    () =>
      Effect.gen(function* () {
        const gate = yield* make
        const first = free(gate.enter("c", 1, 5))
        const place = gate.enter("c", 1, 5)
        if (place._tag !== "Queued") return assert.fail(place._tag)
        const leaving = yield* Effect.fork(place.wait)
        yield* Effect.yieldNow()
        assert.strictEqual(gate.waiting("c"), 1)
        yield* Fiber.interrupt(leaving)
        assert.strictEqual(gate.waiting("c"), 0)
        const again = gate.enter("c", 1, 5)
        if (again._tag !== "Queued") return assert.fail(again._tag)
        const unlucky = yield* Effect.fork(again.wait)
        yield* Effect.yieldNow()
        // Granted and interrupted within one turn: the slot is not taken.
        first()
        yield* Fiber.interrupt(unlucky)
        const exit = yield* Fiber.await(unlucky)
        if (exit._tag === "Success") exit.value()
        assert.strictEqual(gate.inUse("c"), 0)
      })
  )

  it.effect("a raised limit lets the line move on with the next entry, those in line first", () =>
    Effect.gen(function* () {
      const gate = yield* make
      const one = free(gate.enter("c", 1, 1))
      const place = gate.enter("c", 1, 1)
      if (place._tag !== "Queued") return assert.fail(place._tag)
      const waiting = yield* Effect.fork(place.wait)
      yield* Effect.yieldNow()
      assert.strictEqual(gate.enter("c", 1, 1)._tag, "Full")
      assert.strictEqual(gate.enter("c", 2, 0)._tag, "Full")
      const second = yield* Fiber.join(waiting)
      const third = free(gate.enter("c", 3, 0))
      assert.strictEqual(gate.inUse("c"), 3)
      for (const release of [one, second, third]) release()
      assert.strictEqual(gate.inUse("c"), 0)
    })
  )

  it.effect("a lowered limit admits none until enough have left", () =>
    Effect.gen(function* () {
      const gate = yield* make
      const releases = [1, 2, 3].map(() => free(gate.enter("c", 3, 5)))
      const place = gate.enter("c", 1, 5)
      if (place._tag !== "Queued") return assert.fail(place._tag)
      const waiting = yield* Effect.fork(place.wait)
      yield* Effect.yieldNow()
      releases[0]?.()
      releases[1]?.()
      yield* Effect.yieldNow()
      assert.strictEqual(gate.waiting("c"), 1)
      releases[2]?.()
      const release = yield* Fiber.join(waiting)
      assert.strictEqual(gate.inUse("c"), 1)
      release()
    })
  )

  it.effect("a waiter that starts after all left shares the slots with those that came since", () =>
    Effect.gen(function* () {
      const gate = yield* make
      const first = free(gate.enter("c", 1, 5))
      const place = gate.enter("c", 1, 5)
      if (place._tag !== "Queued") return assert.fail(place._tag)
      first()
      const second = free(gate.enter("c", 1, 5))
      const waiting = yield* Effect.fork(place.wait)
      yield* Effect.yieldNow()
      assert.deepStrictEqual([gate.inUse("c"), gate.waiting("c")], [1, 1])
      second()
      const third = yield* Fiber.join(waiting)
      third()
      assert.strictEqual(gate.inUse("c"), 0)
    })
  )
})
