import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FC from "effect/FastCheck"
import { callOf, openSandbox, pluginOf } from "../../support/Sandboxes.ts"

const run = { seed: 20_261_124, numRuns: 300 }

const key = FC.oneof(
  FC.string(),
  FC.fullUnicodeString(),
  FC.constantFrom("constructor", "toString", "then", "", "0")
).filter((name) => name !== "__proto__" && name !== "toJSON")

const { json } = FC.letrec((tie) => ({
  json: FC.oneof(
    { depthSize: "small", withCrossShrink: true },
    FC.constant(null),
    FC.boolean(),
    FC.integer(),
    FC.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
    FC.string16bits({ maxLength: 40 }),
    FC.fullUnicodeString(),
    FC.array(tie("json"), { maxLength: 6 }),
    FC.dictionary(key, tie("json"), { maxKeys: 6 })
  )
}))

describe("the boundary of a sandbox", () => {
  it.scopedLive(
    "gives back the JSON that went in: bodies, metadata, payloads and configuration",
    () =>
      Effect.gen(function* () {
        const { sandbox } = yield* openSandbox(
          pluginOf(
            `onRequest: (context, payload) => ({
              ...modifyBody({ body: context.body.value, payload: payload.value, config: context.config.value }),
              ...addMetadata({ again: context.metadata.value })
            })`
          ),
          { limits: { timeoutMs: 10_000 } }
        )
        yield* Effect.promise(() =>
          FC.assert(
            FC.asyncProperty(json, json, json, json, async (body, payload, config, metadata) => {
              // As JSON says it: no undefined, no prototype.
              const given = JSON.parse(JSON.stringify({ body, payload, config, metadata }))
              await Effect.runPromise(sandbox.configure({ value: given.config }))
              const outcome = await Effect.runPromise(
                sandbox.call(
                  callOf(
                    { value: given.body },
                    "onRequest",
                    { value: given.payload },
                    { metadata: { value: given.metadata } }
                  )
                )
              )
              assert.strictEqual(outcome._tag, "Changed", JSON.stringify(outcome))
              if (outcome._tag !== "Changed") return
              // The text, so that the order of keys counts too; keys that are numbers come first in both engines.
              assert.strictEqual(
                Buffer.from(outcome.body).toString(),
                JSON.stringify({ body: given.body, payload: given.payload, config: given.config })
              )
              assert.deepStrictEqual(outcome.metadata, { again: given.metadata })
            }),
            run
          )
        )
      }),
    60_000
  )
})
