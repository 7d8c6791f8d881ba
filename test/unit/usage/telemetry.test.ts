import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Telemetry from "../../../src/observe/usage/Telemetry.ts"
import * as SecretSink from "../../support/SecretSink.ts"
import { usageRow } from "../../support/usageRow.ts"

describe("Telemetry", () => {
  it.effect("tells every sink about a request once", () => {
    const sink = SecretSink.make()
    return Effect.gen(function* () {
      const { metrics, observe } = yield* Telemetry.Telemetry
      observe({ row: usageRow(), method: "POST", path: "/v1/chat/completions" })
      assert.lengthOf(metrics()[0]?.samples ?? [], 1)
      const { log, metrics: exported, prometheus, terminal, traces } = sink.contents()
      assert.lengthOf(log.split("\n"), 1)
      for (const text of [log, terminal, traces, exported, prometheus]) assert.include(text, "gpt-4.1")
    }).pipe(Effect.provide(Telemetry.layer.pipe(Layer.provide(sink.layer))))
  })

  it.effect("lets no key out that travels in an address", () => {
    const sink = SecretSink.make()
    return Effect.gen(function* () {
      const { observe } = yield* Telemetry.Telemetry
      observe({ row: usageRow(), method: "POST", path: "/api/v1/editor/planted-key/responses" })
      observe({ row: usageRow(), method: "GET", path: "/v1/models?token=planted-key" })
      assert.deepStrictEqual(sink.leaking("planted-key"), [])
    }).pipe(Effect.provide(Telemetry.layer.pipe(Layer.provide(sink.layer))))
  })

  it.effect("has a helper that finds a key that did get out", () => {
    const sink = SecretSink.make()
    return Effect.gen(function* () {
      const { observe } = yield* Telemetry.Telemetry
      observe({ row: usageRow({ model: "planted-key" }), method: "POST", path: "/" })
      assert.sameMembers([...sink.leaking("planted-key")], ["log", "terminal", "traces", "metrics", "prometheus"])
    }).pipe(Effect.provide(Telemetry.layer.pipe(Layer.provide(sink.layer))))
  })
})
