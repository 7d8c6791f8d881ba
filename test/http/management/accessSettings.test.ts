/** The settings with routes of their own, over real HTTP. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Shape from "../../../src/subjects/settings/entity/AccessSettings.ts"
import { layerOf, TestApp } from "./TestApp.ts"

const filter = { enabled: true, mode: "whitelist", blacklist: ["192.0.2.1"], whitelist: ["10.0.0.0/8", "::1"] }
const thinking = { mode: "custom", customBudget: 2_048, effortLevel: "high" }
const prompt = { enabled: true, prefixPrompt: "a", suffixPrompt: "b" }

layer(layerOf(), { excludeTestServices: true })("settings of access and requests", (it) => {
  for (const [name, defaults, changed, wrong] of [
    [
      "ip-filter",
      Shape.defaultIpFilter,
      filter,
      [
        ["mode", { mode: "grey" }],
        ["whitelist.0", { whitelist: ["10.0.0.0/40"] }]
      ]
    ],
    [
      "thinking-budget",
      Shape.defaultThinkingBudget,
      thinking,
      [
        ["customBudget", { customBudget: 131_073 }],
        ["effortLevel", { effortLevel: "huge" }],
        ["mode", { mode: "off" }]
      ]
    ],
    ["system-prompt", Shape.defaultSystemPrompt, prompt, [["prefixPrompt", { prefixPrompt: "x".repeat(50_001) }]]],
    ["require-login", Shape.defaultRequireLogin, { requireLogin: false }, [["requireLogin", { requireLogin: "no" }]]]
  ] as const) {
    it.effect(`${name}: any part may be changed, and what is wrong changes nothing`, () =>
      Effect.gen(function* () {
        const app = yield* TestApp
        const path = `/api/settings/${name}`
        const whole = Effect.map(app.admin(path), ({ text }) => JSON.parse(text) as unknown)
        assert.deepStrictEqual(yield* whole, defaults)
        for (const [field, value] of Object.entries(changed)) {
          const answer = yield* app.admin(path, { method: "PUT", body: { [field]: value } })
          assert.strictEqual(answer.status, 200, answer.text)
        }
        assert.deepStrictEqual(yield* whole, changed)
        for (const [field, body] of [...wrong, ["more", { more: 1 }]] as const) {
          const answer = yield* app.admin(path, { method: "PUT", body })
          assert.deepStrictEqual([answer.status, answer.at("error.details.0.field")], [400, field], answer.text)
        }
        assert.deepStrictEqual(yield* whole, changed)
        assert.strictEqual((yield* app.call(path, { method: "PUT", body: changed })).status, 401)
        yield* app.admin(path, { method: "PUT", body: defaults })
        assert.deepStrictEqual(yield* whole, defaults)
      })
    )
  }

  it.effect("require-login opens nothing", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      yield* app.admin("/api/settings/require-login", { method: "PUT", body: { requireLogin: false } })
      assert.strictEqual((yield* app.admin("/api/settings/require-login")).at("requireLogin"), false)
      assert.strictEqual((yield* app.call("/api/settings/require-login")).status, 401)
      for (const path of ["/api/keys", "/api/settings", "/api/settings/ip-filter"]) {
        assert.strictEqual((yield* app.call(path)).status, 401)
      }
    })
  )
})
