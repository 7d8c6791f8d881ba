import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Combos } from "../../../src/subjects/combos/service.ts"
import { ModelAliases } from "../../../src/subjects/aliases/service.ts"
import { ProviderNodes } from "../../../src/subjects/nodes/service.ts"
import { layerOf, nodeWithConnection } from "./support.ts"

describe("Combos", () => {
  it.scoped("keep name and place while an alias or a combo leads to them", () =>
    Effect.gen(function* () {
      const combos = yield* Combos
      const pair = yield* combos.create({ name: "pair", targets: [{ model: "openai/gpt" }] })
      yield* combos.create({ name: "outer", targets: [{ model: "combo:pair" }] })
      yield* (yield* ModelAliases).set({ alias: "best", model: "combo:pair" })
      const error = yield* Effect.flip(combos.remove(pair.id))
      assert.strictEqual(error.message, "The combo 'pair' is used by: outer, the alias best.")
      assert.strictEqual((yield* Effect.flip(combos.update(pair.id, { name: "two" })))._tag, "StateConflict")
      assert.strictEqual((yield* combos.update(pair.id, { isActive: false })).isActive, false)
    }).pipe(Effect.provide(layerOf()))
  )

  it.scoped("take no name or id of another, and no name of an alias or of a provider's model", () =>
    Effect.gen(function* () {
      const combos = yield* Combos
      const targets = [{ model: "openai/gpt" }]
      yield* combos.create({ id: "one", name: "pair", targets })
      yield* (yield* ModelAliases).set({ alias: "best", model: "openai/gpt" })
      const refusal = (given: { readonly id?: string; readonly name: string }) =>
        Effect.map(Effect.flip(combos.create({ ...given, targets })), ({ message }) => message)
      assert.strictEqual(yield* refusal({ name: "pair" }), "There is already a combo named 'pair'.")
      assert.strictEqual(yield* refusal({ id: "one", name: "new" }), "There is already a combo with the id 'one'.")
      assert.strictEqual(yield* refusal({ name: "best" }), "There is already an alias 'best'.")
      assert.strictEqual(yield* refusal({ name: "auto/x" }), "name: 'auto/x' means something else as a model id")
    }).pipe(Effect.provide(layerOf()))
  )

  it.scoped("can be changed although what they refer to is gone", () =>
    Effect.gen(function* () {
      const combos = yield* Combos
      const { node } = yield* nodeWithConnection("lab")
      const combo = yield* combos.create({ name: "pair", targets: [{ model: "lab/m" }] })
      yield* (yield* ProviderNodes).remove(node.id)
      assert.strictEqual((yield* combos.update(combo.id, { name: "renamed" })).name, "renamed")
      const targets = [{ model: "lab/other" }]
      assert.strictEqual((yield* Effect.flip(combos.update(combo.id, { targets })))._tag, "InvalidInput")
    }).pipe(Effect.provide(layerOf()))
  )

  it.scoped("that are automatic share one pool", () =>
    Effect.gen(function* () {
      yield* nodeWithConnection("lab")
      const all = yield* (yield* Combos).listAuto
      assert.include(
        all.map(({ spec }) => spec.id),
        "auto/coding"
      )
      assert.isTrue(all.every(({ pool }) => pool === all[0]?.pool))
    }).pipe(Effect.provide(layerOf()))
  )
})

describe("ModelAliases", () => {
  it.scoped("lead to no combo that is not there, and into no circle", () =>
    Effect.gen(function* () {
      const aliases = yield* ModelAliases
      const message = (model: string) => Effect.map(Effect.flip(aliases.set({ alias: "best", model })), String)
      assert.include(yield* message("combo:nowhere"), "model: there is no combo 'nowhere'")
      yield* (yield* Combos).create({ name: "pair", targets: [{ model: "best" }] })
      assert.include(yield* message("combo:pair"), "model: is a combo that contains the alias")
      assert.strictEqual((yield* Effect.flip(aliases.remove("best")))._tag, "EntityNotFound")
    }).pipe(Effect.provide(layerOf()))
  )
})
