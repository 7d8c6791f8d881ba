import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { make as timers } from "../../../../src/platform/Timers.ts"
import { makeOpenPlugin } from "../../../../src/agents/plugins/sandbox/OpenPlugin.ts"
import { usualSandboxLimits } from "../../../../src/agents/plugins/sandbox/Limits.ts"
import { sandboxTexts } from "../../../../src/agents/plugins/sandbox/Texts.ts"
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

  it.scopedLive("works from source too, where a thread cannot read it", () =>
    Effect.gen(function* () {
      const texts = yield* Effect.promise(sandboxTexts)
      const plugin = yield* Effect.acquireRelease(
        Effect.sync(() =>
          makeOpenPlugin({
            start: {
              ...texts,
              files: new Map([
                [
                  "main.js",
                  pluginOf("onRequest: ({ body }) => { if (body.loop) for (;;); return modifyBody({ ...body, x: 1 }) }")
                ]
              ]),
              main: "main.js",
              permissions: [],
              config: "{}",
              isBackground: false,
              environment: "{}",
              limits: usualSandboxLimits,
              maxBodyBytes: 1_048_576
            },
            timers,
            log: () => {},
            ask: () => () => {}
          })
        ),
        ({ close }) => Effect.promise(close)
      )
      const defined = yield* Effect.async((resume) => plugin.ready((found) => resume(Effect.succeed(found))))
      assert.deepInclude(defined, { hooks: ["onRequest"] })
      const call = (body: object) =>
        Effect.async<string>(
          (resume) =>
            void plugin.call(callOf(body), (outcome) =>
              resume(Effect.succeed(outcome._tag === "Changed" ? textOf(outcome.body) : outcome._tag))
            )
        )
      assert.strictEqual(yield* call({ loop: true }), "Failed")
      assert.strictEqual(yield* call({ y: 0 }), '{"y":0,"x":1}')
    })
  )
})
