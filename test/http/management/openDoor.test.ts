/** Keys stay required while others can reach the gateway, whatever is done to the flags. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { layerOf, logIn, TestApp } from "./TestApp.ts"

const path = "/api/settings/feature-flags"
const key = "REQUIRE_API_KEY"

const change = Effect.fnUntraced(function* (method: string, body?: unknown) {
  const { cookie, csrf } = yield* logIn
  const answer = yield* (yield* TestApp).call(path, {
    method,
    headers: { ...cookie, ...csrf },
    ...(body === undefined ? {} : { body })
  })
  return [answer.status, answer.at("error.param") ?? null]
})

layer(layerOf({ host: "0.0.0.0", environment: new Map([[key, "true"]]) }), { excludeTestServices: true })(
  "keys required by the environment, beyond loopback",
  (it) => {
    it.effect("are not turned off by any spelling of an override", () =>
      Effect.gen(function* () {
        for (const value of ["false", "0", "no", "off", "FALSE"]) {
          assert.deepStrictEqual(yield* change("PUT", { key, value }), [409, key], value)
        }
        assert.deepStrictEqual(yield* change("PUT", { key, value: "on" }), [200, null])
        assert.deepStrictEqual(yield* change("PUT", { key }), [200, null])
      })
    )
  }
)

layer(layerOf({ host: "::" }), { excludeTestServices: true })("keys required by an override, beyond loopback", (it) => {
  it.effect("are not turned off by taking the override away", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* change("PUT", { key, value: "true" }), [200, null])
      assert.deepStrictEqual(yield* change("PUT", { key }), [409, key])
      assert.deepStrictEqual(yield* change("DELETE"), [409, key])
      assert.deepStrictEqual(yield* change("PUT", { key: "INPUT_SANITIZER_ENABLED", value: "true" }), [200, null])
    })
  )
})

for (const open of [{ host: "127.0.0.1" }, { host: "0.0.0.0", allowKeyless: true }]) {
  layer(layerOf(open), { excludeTestServices: true })(`keys with ${JSON.stringify(open)}`, (it) => {
    it.effect("may be turned off", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* change("PUT", { key, value: "true" }), [200, null])
        assert.deepStrictEqual(yield* change("PUT", { key, value: "false" }), [200, null])
        assert.deepStrictEqual(yield* change("DELETE"), [200, null])
      })
    )
  })
}
