import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as BuiltOnce from "../../../src/platform/BuiltOnce.ts"

class Size extends Context.Tag("test/Size")<Size, number>() {}

const three = Layer.succeed(Size, 3)

describe("services that are built by their first use", () => {
  it.effect("are built once for all that ask at the same time, and end with their scope", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const scope = yield* Scope.make()
      const once = yield* BuiltOnce.make(async () => {
        events.push("load")
        return Effect.acquireRelease(
          Effect.tap(Size, () => Effect.sync(() => events.push("build"))),
          () => Effect.sync(() => events.push("end"))
        )
      }).pipe(Effect.provide(three), Scope.extend(scope))
      assert.isNull(once.current())
      assert.deepStrictEqual(events, [])
      const all = yield* Effect.all([once.get, once.get, once.get], { concurrency: "unbounded" })
      assert.deepStrictEqual(all, [3, 3, 3])
      assert.strictEqual(once.current(), 3)
      assert.deepStrictEqual(events, ["load", "build"])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(events, ["load", "build", "end"])
    })
  )

  it.scoped("are built by the next use where a build failed", () =>
    Effect.gen(function* () {
      let loads = 0
      const once = yield* BuiltOnce.make(async () => {
        loads += 1
        if (loads === 1) throw new Error("not there")
        return Effect.succeed("built")
      })
      assert.isTrue(Exit.isFailure(yield* Effect.exit(once.get)))
      assert.isNull(once.current())
      assert.strictEqual(yield* once.get, "built")
    })
  )
})
