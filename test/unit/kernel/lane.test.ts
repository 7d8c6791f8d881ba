/** Places for a limited number of effects at once. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { makeLane } from "../../../src/kernel/Lane.ts"

it.effect("lets so many in at once, in the order they come, and wakes nobody in vain", () =>
  Effect.gen(function* () {
    const lane = makeLane(8)
    let inside = 0
    let most = 0
    const order: Array<number> = []
    const work = (n: number) =>
      lane.inTurn(
        Effect.gen(function* () {
          order.push(n)
          inside += 1
          most = Math.max(most, inside)
          yield* Effect.yieldNow()
          inside -= 1
        })
      )
    const all = Array.from({ length: 2_000 }, (_, n) => n)
    yield* Effect.forEach(all, work, { concurrency: "unbounded", discard: true })
    assert.strictEqual(most, 8)
    assert.deepStrictEqual(order, all)
  })
)

it.effect("gives a place that is taken to the next one, also when what waits for it is interrupted", () =>
  Effect.gen(function* () {
    const lane = makeLane(1)
    const take = Effect.uninterruptibleMask(lane.taken)
    const free = yield* take
    assert.isFalse(lane.isFree())
    const first = yield* Effect.fork(take)
    const second = yield* Effect.fork(take)
    yield* Effect.yieldNow()
    assert.strictEqual(lane.waiting(), 2)
    yield* Fiber.interrupt(first)
    assert.strictEqual(lane.waiting(), 1)
    yield* free
    // Given back twice, it is still one place.
    yield* free
    assert.isFalse(lane.isFree(), "the second one has it")
    yield* yield* Fiber.join(second)
    assert.isTrue(lane.isFree())
    assert.strictEqual(lane.waiting(), 0)
  })
)

it.effect("gives back the place of one that fails or is interrupted, in it or while it waits", () =>
  Effect.gen(function* () {
    const lane = makeLane(1)
    assert.strictEqual((yield* Effect.either(lane.inTurn(Effect.fail("no"))))._tag, "Left")
    const inside = yield* Effect.fork(lane.inTurn(Effect.never))
    yield* Effect.yieldNow()
    const waits = yield* Effect.fork(lane.inTurn(Effect.never))
    const behind = yield* Effect.fork(lane.inTurn(Effect.succeed("its turn")))
    yield* Effect.yieldNow()
    yield* Fiber.interrupt(waits)
    yield* Fiber.interrupt(inside)
    assert.strictEqual(yield* Fiber.join(behind), "its turn")
    assert.strictEqual(yield* lane.inTurn(Effect.succeed("free")), "free")
  })
)
