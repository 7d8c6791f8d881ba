/** The memory for bodies, of which a key gets three quarters. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import { BodyBudget, layer } from "../../../src/plane/resilience/BodyBudget.ts"
import { settingsOf } from "./support.ts"

const budgetOf = (maxBodyBytes: number, maxBufferedBytes: number) =>
  Effect.provide(
    BodyBudget,
    layer.pipe(
      Layer.provide(
        Layer.merge(
          AppConfig.layerOf({ dataDir: "/nonexistent", maxBodyBytes, maxBufferedBytes }),
          settingsOf({ loadShedding: { maxInFlight: 8, retryAfterMs: 3_000 } }).layer
        )
      )
    )
  )

describe("the budget of bodies", () => {
  it.effect("leaves a quarter to others than the key that holds the rest, over all of its bodies", () =>
    Effect.gen(function* () {
      const budget = yield* budgetOf(40, 100)
      const [first, second, other, none] = [
        budget.share("one"),
        budget.share("one"),
        budget.share("other"),
        budget.share(null)
      ]
      assert.isTrue(first.take(40))
      assert.isTrue(second.take(35))
      assert.isFalse(second.take(1))
      assert.isTrue(other.take(20))
      assert.isTrue(none.take(5))
      assert.isFalse(none.take(1))
      first.release()
      first.release()
      assert.strictEqual(budget.heldBytes(), 60)
      assert.isTrue(second.take(40))
      for (const share of [second, other, none]) share.release()
      assert.strictEqual(budget.heldBytes(), 0)
    })
  )

  it.effect("has room for one body of the largest size in any case", () =>
    Effect.gen(function* () {
      const budget = yield* budgetOf(100, 100)
      assert.isTrue(budget.share("one").take(100))
    })
  )
})
