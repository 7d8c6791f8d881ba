import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { callOf, openSandbox, pluginOf } from "../../../support/Sandboxes.ts"

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8")

describe("a sandbox", () => {
  it.scopedLive("calls a function with its context and takes its changed body", () =>
    Effect.gen(function* () {
      const { sandbox, lines } = yield* openSandbox(
        pluginOf(`priority: 5, onRequest: (context) => {
          console.log("seen", context.model, context.headers["user-agent"], context.config.word)
          context.metadata.seen = true
          return { ...modifyBody({ ...context.body, word: context.config.word }), ...addMetadata({ also: 1 }) }
        }`),
        { config: { word: "é\u0000" } }
      )
      assert.deepStrictEqual(sandbox.defined, {
        name: "under-test",
        priority: 5,
        enabled: true,
        hooks: ["onRequest"],
        strategies: []
      })
      const outcome = yield* sandbox.call(callOf({ model: "x", n: 1 }))
      assert.strictEqual(outcome._tag, "Changed", JSON.stringify(outcome))
      if (outcome._tag === "Changed") assert.strictEqual(textOf(outcome.body), '{"model":"x","n":1,"word":"é\\u0000"}')
      assert.deepStrictEqual(outcome.metadata, { seen: true, also: 1 })
      assert.strictEqual(lines.length, 1)
    })
  )
})
