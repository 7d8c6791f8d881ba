import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { makeWriteBehind } from "../../../src/plane/resilience/WriteBehind.ts"
import { StoreError } from "../../../src/store/Errors.ts"

const refused = new StoreError({ operation: "test", cause: "disk is full" })

/** A store whose writes can be made to fail, or to wait. */
const shelf = () => {
  const written: Array<string> = []
  const control = { fails: false, gate: null as Deferred.Deferred<void> | null, begun: 0 }
  const write = (key: string) =>
    Effect.suspend(() => {
      control.begun += 1
      const wait = control.gate === null ? Effect.void : Deferred.await(control.gate)
      return Effect.zipRight(
        wait,
        Effect.suspend(() => (control.fails ? Effect.fail(refused) : Effect.sync(() => void written.push(key))))
      )
    })
  return { written, control, write }
}

const turns = Effect.repeatN(Effect.yieldNow(), 20)

const captured = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => lines.push(String(message)))
  return { lines, layer: Logger.replace(Logger.defaultLogger, logger) }
}

describe("WriteBehind", () => {
  it.scoped("writes without being asked, what changes soon after in one go", () =>
    Effect.gen(function* () {
      const { write, written } = shelf()
      const keeper = yield* makeWriteBehind("It", write)
      keeper.touch("a")
      yield* turns
      assert.deepStrictEqual(written, ["a"])
      for (const key of ["a", "b", "a", "b"]) keeper.touch(key)
      yield* turns
      assert.deepStrictEqual(written, ["a"])
      yield* TestClock.adjust("50 millis")
      assert.deepStrictEqual(written, ["a", "a", "b"])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(written, ["a", "a", "b"])
    })
  )

  it.scoped("a flush waits for a write that is under way, and writes again what changed during it", () =>
    Effect.gen(function* () {
      const { control, write, written } = shelf()
      const gate = yield* Deferred.make<void>()
      const keeper = yield* makeWriteBehind("It", write)
      control.gate = gate
      keeper.touch("a")
      yield* turns
      assert.strictEqual(control.begun, 1)
      const waits = yield* Effect.fork(keeper.flush)
      keeper.touch("a")
      yield* turns
      assert.isTrue((yield* Fiber.poll(waits))._tag === "None")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(waits)
      assert.deepStrictEqual(written, ["a", "a"])
    })
  )

  it.scoped("a flush waits also when nothing is marked but what is being written", () =>
    Effect.gen(function* () {
      const { control, write, written } = shelf()
      const gate = yield* Deferred.make<void>()
      const keeper = yield* makeWriteBehind("It", write)
      control.gate = gate
      keeper.touch("a")
      yield* turns
      const waits = yield* Effect.fork(keeper.flush)
      yield* turns
      assert.strictEqual((yield* Fiber.poll(waits))._tag, "None")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(waits)
      assert.deepStrictEqual(written, ["a"])
    })
  )

  it.scoped("what cannot be written is logged, fails no request, and is retried until it is written", () => {
    const { layer, lines } = captured()
    return Effect.gen(function* () {
      const { control, write, written } = shelf()
      const keeper = yield* makeWriteBehind("The breaker", write)
      control.fails = true
      keeper.touch("a")
      yield* keeper.flush
      assert.isTrue(lines.some((line) => line.startsWith("The breaker of a is not stored")))
      yield* turns
      const tries = control.begun
      yield* TestClock.adjust("1 second")
      assert.strictEqual(control.begun, tries + 1)
      control.fails = false
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(written, ["a"])
      const quiet = control.begun
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(control.begun, quiet)
    }).pipe(Effect.provide(layer))
  })

  it.scoped("a defect of the store is treated the same", () => {
    const { layer, lines } = captured()
    return Effect.gen(function* () {
      const keeper = yield* makeWriteBehind("It", () => Effect.die("broken"))
      keeper.touch("a")
      yield* keeper.flush
      assert.strictEqual(lines.length > 0, true)
    }).pipe(Effect.provide(layer))
  })

  it.scoped("a flush that is interrupted loses no mark", () =>
    Effect.gen(function* () {
      const { control, write, written } = shelf()
      const gate = yield* Deferred.make<void>()
      const keeper = yield* makeWriteBehind("It", write)
      // While the keeper itself rests, the flush is the one that writes.
      keeper.touch("x")
      yield* turns
      control.gate = gate
      for (const key of ["a", "b", "c"]) keeper.touch(key)
      const leaving = yield* Effect.fork(keeper.flush)
      yield* turns
      const left = yield* Effect.fork(Fiber.interrupt(leaving))
      yield* turns
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(left)
      yield* keeper.flush
      assert.deepStrictEqual(written.toSorted(), ["a", "b", "c", "x"])
    })
  )

  it.effect("writes what is left when its scope closes", () =>
    Effect.gen(function* () {
      const { write, written } = shelf()
      const scope = yield* Scope.make()
      const keeper = yield* Scope.extend(makeWriteBehind("It", write), scope)
      keeper.touch("a")
      yield* turns
      keeper.touch("b")
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(written, ["a", "b"])
    })
  )
})
