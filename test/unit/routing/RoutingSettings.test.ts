/** The stored routing settings: what of them is used at the start, and what a change leaves behind. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { defaultRouting } from "../../../src/subjects/routingSettings/entity.ts"
import * as RoutingSettings from "../../../src/plane/routing/RoutingSettings.ts"
import * as SettingsRepo from "../../../src/subjects/settings/repo.ts"
import * as Sql from "../../../src/store/Sql.ts"

const table = SettingsRepo.layer.pipe(Layer.provide(Sql.layerMemory))

describe("what is stored", () => {
  it("is laid over the defaults but for what is not valid", () => {
    const { problems, settings } = RoutingSettings.usable({
      freeTierStrict: true,
      lkgpEnabled: "no",
      leaderboardUrl: "http://board.example/x.json",
      bygone: 1
    })
    assert.lengthOf(problems, 2)
    assert.deepStrictEqual(settings, { ...defaultRouting, freeTierStrict: true })
  })

  for (const value of [null, undefined, "nonsense", 7, [], true]) {
    it(`${JSON.stringify(value)} does not prevent the start`, () =>
      assert.deepStrictEqual(RoutingSettings.usable(value).settings, defaultRouting))
  }
})

describe("a change", () => {
  it.effect("is in force at once and after a restart, and leaves the rest as it is", () =>
    Effect.gen(function* () {
      const settings = yield* RoutingSettings.make
      yield* settings.patch({ leaderboardUrl: "https://board.example/x.json" })
      yield* Effect.all([settings.patch({ freeTierStrict: true }), settings.patch({ lkgpEnabled: false })], {
        concurrency: "unbounded"
      })
      const wanted = { freeTierStrict: true, lkgpEnabled: false, leaderboardUrl: "https://board.example/x.json" }
      assert.deepStrictEqual(settings.current(), wanted)
      assert.deepStrictEqual((yield* RoutingSettings.make).current(), wanted)
      yield* settings.patch({ leaderboardUrl: null })
      assert.deepStrictEqual((yield* RoutingSettings.make).current(), { ...wanted, leaderboardUrl: null })
    }).pipe(Effect.provide(table))
  )
})
