/** `/api/settings/routing` over real HTTP. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { defaultRouting } from "../../../src/subjects/routingSettings/entity.ts"
import { layerOf, TestApp } from "./TestApp.ts"

const path = "/api/settings/routing"
const get = Effect.flatMap(TestApp, (app) => app.admin(path))
const patch = (body: unknown) => Effect.flatMap(TestApp, (app) => app.admin(path, { method: "PATCH", body }))

layer(layerOf(), { excludeTestServices: true })("routing settings", (it) => {
  it.effect("are whole, and any part may be changed", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(JSON.parse((yield* get).text), defaultRouting)
      const url = "https://board.example/fitness.json"
      const changed = yield* patch({ freeTierStrict: true, leaderboardUrl: ` ${url} ` })
      assert.strictEqual(changed.status, 200, changed.text)
      const wanted = { freeTierStrict: true, lkgpEnabled: true, leaderboardUrl: url }
      assert.deepStrictEqual(JSON.parse(changed.text), wanted)
      const next = yield* patch({ lkgpEnabled: false, freeTierStrict: null })
      assert.deepStrictEqual(JSON.parse(next.text), { ...wanted, lkgpEnabled: false })
      yield* patch({ leaderboardUrl: null })
      assert.deepStrictEqual(JSON.parse((yield* get).text), { ...wanted, lkgpEnabled: false, leaderboardUrl: null })
    })
  )

  it.effect("name what is wrong, and change nothing then", () =>
    Effect.gen(function* () {
      const before = (yield* get).text
      for (const [body, field] of [
        [{ freeTierStrict: "yes" }, "freeTierStrict"],
        [{ lkgpEnabled: 1 }, "lkgpEnabled"],
        [{ lkgpEnabled: false, leaderboardUrl: "http://board.example/x" }, "leaderboardUrl"],
        [{ leaderboardUrl: "board" }, "leaderboardUrl"],
        [{ leaderboardUrl: "" }, "leaderboardUrl"],
        [{ leaderboardUrl: "https://user:secret@board.example/x" }, "leaderboardUrl"],
        [{ lkgpEnabled: true, leaderboardUrl: "https://127.0.0.1/x" }, "leaderboardUrl"],
        [{ leaderboardUrl: "https://169.254.169.254/x" }, "leaderboardUrl"]
      ] as const) {
        const refused = yield* patch(body)
        assert.strictEqual(refused.status, 400, JSON.stringify(body))
        assert.strictEqual(refused.at("error.param"), field, refused.text)
      }
      for (const body of [[], "text", undefined]) assert.strictEqual((yield* patch(body)).status, 400)
      assert.strictEqual((yield* get).text, before)
    })
  )

  it.effect("are for administrators", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      assert.strictEqual((yield* app.call(path)).status, 401)
      assert.strictEqual((yield* app.call(path, { method: "PATCH", body: {} })).status, 401)
    })
  )
})
