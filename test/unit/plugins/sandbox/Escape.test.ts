import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { callOf, openSandbox, pluginOf } from "../../../support/Sandboxes.ts"
import { escapeScripts } from "./escapeScripts.ts"

const scripts = Object.entries(escapeScripts)

/** What a global object of Node has, and none of the sandbox. */
const main = pluginOf(
  `onRequest: async (context, payload) => {
    let got
    try {
      got = await scripts[payload.script](context, payload)
    } catch (error) {
      return modifyBody({ reached: looks(error) || looks(error?.constructor?.constructor?.("return this")()), ended: "threw" })
    }
    return modifyBody({ reached: looks(got) || looks(got?.constructor), ended: "returned" })
  }`,
  `
const names = ["Buffer", "setImmediate", "WebAssembly", "SharedArrayBuffer", "Atomics", "require", "performance", "navigator", "structuredClone", "postMessage", "global"]
const looks = (value) => {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false
  try {
    if (names.some((name) => value[name] !== undefined)) return true
    if (value.process?.pid !== undefined || value.pid !== undefined || value.env?.PATH !== undefined) return true
    if (typeof value.readFileSync === "function" || typeof value.execSync === "function" || typeof value.default?.readFileSync === "function") return true
    const own = value.constructor?.constructor?.("return this")?.()
    return own !== undefined && own !== value && own !== globalThis && names.some((name) => own[name] !== undefined)
  } catch {
    return false
  }
}
const scripts = {
${scripts.map(([name, code]) => `${JSON.stringify(name)}: async (context, payload) => { ${code} }`).join(",\n")}
}
`
)

describe("scripts that try to leave the sandbox", () => {
  it("are many", () => {
    assert.isAtLeast(scripts.length, 80)
  })

  it.scopedLive(
    "reach nothing of the host",
    () =>
      Effect.gen(function* () {
        const exitCode = process.exitCode
        const { sandbox } = yield* openSandbox(main)
        const reached: Array<string> = []
        for (const [script] of scripts) {
          const outcome = yield* sandbox.call(callOf({}, "onRequest", { script }))
          if (outcome._tag === "Failed") continue
          const body = outcome._tag === "Changed" ? JSON.parse(Buffer.from(outcome.body).toString()) : null
          if (body?.reached !== false) reached.push(`${script}: ${JSON.stringify(outcome)}`)
        }
        assert.deepStrictEqual(reached, [])
        assert.strictEqual(process.exitCode, exitCode)
        assert.isUndefined(Reflect.get({}, "polluted"))
        assert.isUndefined(Reflect.get(globalThis, "escaped"))
        // It can be asked as before.
        const after = yield* sandbox.call(callOf({}, "onRequest", { script: "the Function of an object" }))
        assert.strictEqual(after._tag, "Changed", JSON.stringify(after))
      }),
    60_000
  )

  it.scopedLive("load no module but their own files and the SDK", () =>
    Effect.gen(function* () {
      for (const path of [
        "node:fs",
        "fs",
        "/etc/passwd",
        "../main.js",
        "./missing.js",
        "plugin/main.js",
        "gateway/plugins"
      ]) {
        const failed = yield* Effect.flip(openSandbox(pluginOf("", `import ${JSON.stringify(path)}`)))
        assert.match(failed.message, /imports|no file/, path)
      }
      const { sandbox } = yield* openSandbox(
        pluginOf("onRequest: () => modifyBody({ word })", 'import { word } from "./lib/a.js"'),
        {
          files: { "lib/a.js": 'export { word } from "../b.js"', "b.js": 'export const word = "own"' }
        }
      )
      const outcome = yield* sandbox.call(callOf({}))
      assert.strictEqual(outcome._tag, "Changed")
    })
  )
})
