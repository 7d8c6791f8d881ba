/** How long a gateway has been up, as who asks first is told. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { layerOf, TestApp } from "./TestApp.ts"

layer(layerOf(), { excludeTestServices: true })("the time since the start", (it) => {
  it.effect("counts from the start, not from the first request of management, which makes its services", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const startedMs = performance.now()
      // Routes that management does not serve take their time.
      for (let times = 0; times < 20; times++) yield* app.call("/v1/models")
      const passedMs = performance.now() - startedMs
      assert.isAtLeast(Number((yield* app.call("/api/health/ping")).at("uptimeMs")), Math.floor(passedMs))
      assert.isAtLeast(Number((yield* app.admin("/api/monitoring/health")).at("uptimeMs")), Math.floor(passedMs))
    })
  )
})
