import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { makeEngine } from "../../../../src/agents/plugins/sandbox/Engine.ts"
import { sandboxTexts } from "../../../../src/agents/plugins/sandbox/Texts.ts"

const memoryBytes = 24 * 1_048_576

const engine = Effect.promise(async () => {
  const { wasm } = await sandboxTexts()
  return makeEngine(wasm, { memoryBytes, stackBytes: 96 * 1_024 })
})

/** The scripts of https://github.com/justjake/quickjs-emscripten/issues/255 and /271, under a limit that the engine does not keep itself. */
const bombs: Readonly<Record<string, string>> = {
  texts: 'const chunks = []; while (true) { chunks.push("x".repeat(1024 * 1024)); }',
  "typed arrays": "const keep = []; while (true) keep.push(new Uint8Array(512 * 1024))",
  objects: "const keep = []; while (true) keep.push({})",
  "one large text": '"x".repeat(100_000_000)'
}

describe("the memory of an engine", () => {
  for (const [what, script] of Object.entries(bombs)) {
    it.effect(`does not grow beyond its maximum by ${what}`, () =>
      Effect.gen(function* () {
        const { context, isExhausted, memoryBytes: used } = yield* engine
        const result = context.evalCode(script)
        assert.isDefined(result.error)
        if (result.error === undefined) return
        assert.strictEqual(context.dump(result.error)?.message, "out of memory")
        assert.isAtMost(used(), memoryBytes)
        // One allocation that is larger than all memory is refused before the memory is asked to grow.
        assert.isTrue(isExhausted() || what === "one large text")
      })
    )
  }
})
