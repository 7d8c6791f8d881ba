import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as LoadShedder from "../../../src/plane/resilience/LoadShedder.ts"
import { settingsOf } from "./support.ts"

const entered = (shedder: typeof LoadShedder.LoadShedder.Service) => {
  const place = shedder.enter(null)
  return LoadShedder.isShed(place) ? place : { release: place }
}

describe("LoadShedder", () => {
  it.effect("lets in as many as the settings say and tells the rest when to come back; a release counts once", () =>
    Effect.gen(function* () {
      const settings = settingsOf({ loadShedding: { maxInFlight: 2, retryAfterMs: 3_000 } })
      const shedder = yield* Effect.provide(LoadShedder.make, settings.layer)
      const [first, second] = [entered(shedder), entered(shedder)]
      assert.deepStrictEqual(shedder.enter(null), { retryAfterMs: 3_000 })
      assert.deepStrictEqual([shedder.inFlight(), shedder.shed()], [2, 1])
      if ("release" in first) {
        first.release()
        first.release()
      }
      assert.strictEqual(shedder.inFlight(), 1)
      const third = entered(shedder)
      assert.isTrue(LoadShedder.isShed(shedder.enter(null)))
      for (const place of [second, third]) if ("release" in place) place.release()
      assert.strictEqual(shedder.inFlight(), 0)
    })
  )

  it.effect("leaves a quarter to others than the key that has the rest", () =>
    Effect.gen(function* () {
      const settings = settingsOf({ loadShedding: { maxInFlight: 8, retryAfterMs: 3_000 } })
      const shedder = yield* Effect.provide(LoadShedder.make, settings.layer)
      const places = Array.from({ length: 8 }, () => shedder.enter("one"))
      assert.strictEqual(places.filter((place) => !LoadShedder.isShed(place)).length, 6)
      assert.isFalse(LoadShedder.isShed(shedder.enter("other")))
      assert.isFalse(LoadShedder.isShed(shedder.enter(null)))
      assert.isTrue(LoadShedder.isShed(shedder.enter(null)))
      const [first] = places
      if (typeof first === "function") first()
      assert.isFalse(LoadShedder.isShed(shedder.enter("one")))
    })
  )

  it.effect("follows the settings at once, also below what is inside", () =>
    Effect.gen(function* () {
      const settings = settingsOf({ loadShedding: { maxInFlight: 1 } })
      const shedder = yield* Effect.provide(LoadShedder.make, settings.layer)
      entered(shedder)
      assert.isTrue(LoadShedder.isShed(shedder.enter(null)))
      settings.change({ loadShedding: { maxInFlight: 3, retryAfterMs: 1_000 } })
      assert.isFalse(LoadShedder.isShed(shedder.enter(null)))
      settings.change({ loadShedding: { maxInFlight: 1 } })
      assert.deepStrictEqual(shedder.enter(null), { retryAfterMs: 1_000 })
    })
  )

  it.effect("the default holds some thousands", () =>
    Effect.gen(function* () {
      const shedder = yield* Effect.provide(LoadShedder.make, settingsOf().layer)
      for (let n = 0; n < 5_000; n++) assert.isFalse(LoadShedder.isShed(shedder.enter(null)))
      assert.isTrue(LoadShedder.isShed(shedder.enter(null)))
    })
  )
})
