/** `/api/context/combos` and `/api/context/caveman/config` over real HTTP. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { defaultCavemanSettings } from "../../../src/subjects/compression/entity/CompressionProfiles.ts"
import { layerOf, TestApp } from "./TestApp.ts"

const call = (method: string, at: string, body?: unknown) =>
  Effect.flatMap(TestApp, (app) => app.admin(at, { method, ...(body === undefined ? {} : { body }) }))

const combos = "/api/context/combos"
const create = (body: unknown) => Effect.map(call("POST", combos, body), (made) => String(made.at("combo.id")))
const rowsOf = Effect.map(call("GET", combos), (read) => {
  const rows: ReadonlyArray<{ readonly name: string; readonly isActive: boolean }> = JSON.parse(read.text).combos
  return rows.map(({ isActive, name }) => `${name}${isActive ? "*" : ""}`)
})

layer(layerOf(), { excludeTestServices: true })("compression combos", (it) => {
  it.effect("are made, shown, replaced and deleted", () =>
    Effect.gen(function* () {
      const pipeline = [{ engine: "rtk" }, { engine: "caveman", intensity: "lite" }]
      const made = yield* call("POST", combos, { name: "Logs", pipeline })
      assert.strictEqual(made.status, 201)
      const at = `${combos}/${String(made.at("combo.id"))}`
      assert.deepStrictEqual(JSON.parse((yield* call("GET", at)).text), JSON.parse(made.text))
      const same = yield* call("POST", combos, { name: "lOGS", pipeline })
      assert.strictEqual(same.status, 400)
      assert.include(String(same.at("error.param")), "name")
      const replaced = yield* call("PUT", at, { name: "logs", pipeline: [{ engine: "lite" }] })
      assert.deepStrictEqual(replaced.at("combo.pipeline"), [{ engine: "lite" }])
      assert.strictEqual((yield* call("DELETE", at)).status, 204)
      assert.strictEqual((yield* call("GET", at)).status, 404)
      assert.strictEqual((yield* call("DELETE", at)).status, 404)
    })
  )

  it.effect("refuse what is no pipeline", () =>
    Effect.gen(function* () {
      for (const body of [
        { name: "a", pipeline: [] },
        { name: "a", pipeline: [{ engine: "none" }] },
        { name: "", pipeline: [{ engine: "lite" }] },
        { name: "a", pipeline: [{ engine: "lite", level: 1 }] },
        { name: "a", pipeline: Array.from({ length: 11 }, () => ({ engine: "lite" })) }
      ]) {
        assert.strictEqual((yield* call("POST", combos, body)).status, 400)
      }
    })
  )

  it.effect("are active one at a time", () =>
    Effect.gen(function* () {
      const pipeline = [{ engine: "lite" }]
      const one = yield* create({ name: "one", pipeline, isActive: true })
      const two = yield* create({ name: "two", pipeline, isActive: true })
      assert.deepStrictEqual(yield* rowsOf, ["one", "two*"])
      yield* call("PUT", `${combos}/${one}`, { name: "one", pipeline, isActive: true })
      assert.deepStrictEqual(yield* rowsOf, ["one*", "two"])
      yield* call("DELETE", `${combos}/${one}`)
      yield* call("DELETE", `${combos}/${two}`)
    })
  )

  it.effect("take a routing combo from one another, and no unknown one", () =>
    Effect.gen(function* () {
      const routing = yield* call("POST", "/api/combos", {
        name: "fast",
        strategy: "priority",
        targets: [{ model: "openai/gpt-4o-mini" }]
      })
      assert.strictEqual(routing.status, 201)
      const routingComboIds = [String(routing.at("combo.id"))]
      const one = `${combos}/${yield* create({ name: "one", pipeline: [{ engine: "lite" }] })}/assignments`
      const two = `${combos}/${yield* create({ name: "two", pipeline: [{ engine: "rtk" }] })}/assignments`
      assert.deepStrictEqual(JSON.parse((yield* call("PUT", one, { routingComboIds })).text), { routingComboIds })
      yield* call("PUT", two, { routingComboIds })
      assert.deepStrictEqual(JSON.parse((yield* call("GET", one)).text), { routingComboIds: [] })
      const refused = yield* call("PUT", one, { routingComboIds: ["no-such"] })
      assert.strictEqual(refused.status, 400)
      assert.deepStrictEqual(JSON.parse((yield* call("GET", two)).text), { routingComboIds })
    })
  )

  it.effect("caveman has settings that are replaced as a whole", () =>
    Effect.gen(function* () {
      const at = "/api/context/caveman/config"
      assert.deepStrictEqual(JSON.parse((yield* call("GET", at)).text), defaultCavemanSettings)
      const changed = yield* call("PUT", at, { intensity: "ultra", language: "de" })
      assert.deepStrictEqual(JSON.parse(changed.text), {
        ...defaultCavemanSettings,
        intensity: "ultra",
        language: "de"
      })
      const again = yield* call("PUT", at, { roles: ["assistant"] })
      assert.deepStrictEqual(JSON.parse(again.text), { ...defaultCavemanSettings, roles: ["assistant"] })
      assert.strictEqual((yield* call("PUT", at, { intensity: "most" })).status, 400)
    })
  )
})
