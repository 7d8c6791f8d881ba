import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { PluginPermission } from "../../../../src/subjects/plugins/entity.ts"
import { callOf, openSandbox, pluginOf } from "../../../support/Sandboxes.ts"

const granted: Readonly<Record<PluginPermission, ReadonlyArray<string>>> = {
  network: ["fetch", "AbortController", "Headers", "Request", "Response"],
  "file-read": ["globalThis.fs?.readFile", "globalThis.fs?.readdir", "globalThis.fs?.stat"],
  "file-write": ["globalThis.fs?.writeFile", "globalThis.fs?.mkdir", "globalThis.fs?.rm"],
  env: ["globalThis.process?.env"],
  exec: ["globalThis.child_process?.exec", "globalThis.child_process?.execSync"]
}
const always = [
  "console.log",
  "setTimeout",
  "URL",
  "TextEncoder",
  "TextDecoder",
  "crypto.randomUUID",
  "Promise",
  "Map",
  "Proxy"
]
const never = [
  "SharedArrayBuffer",
  "Atomics",
  "WebAssembly",
  "require",
  "Buffer",
  "std",
  "os",
  "performance",
  "parts",
  "host"
]
const whole: Readonly<Record<string, PluginPermission | null>> = { fs: null, process: "env", child_process: "exec" }

const permissions: ReadonlyArray<PluginPermission> = ["network", "file-read", "file-write", "env", "exec"]
const names = [...Object.values(granted).flat(), ...always, ...never, ...Object.keys(whole)]

const main = pluginOf(
  `onRequest: () => modifyBody({ types: { ${names.map((name) => `${JSON.stringify(name)}: typeof ${name}`).join(", ")} } })`
)

describe("the globals of a sandbox", () => {
  const sets = [[], ...permissions.map((permission) => [permission]), permissions]
  for (const set of sets) {
    it.scopedLive(`with ${set.length === 0 ? "no permission" : set.join(", ")}`, () =>
      Effect.gen(function* () {
        const { sandbox } = yield* openSandbox(main, {
          permissions: set,
          environment: { GATEWAY_PLUGINS_ALLOW_EXEC: "1" }
        })
        const outcome = yield* sandbox.call(callOf({}))
        const { types } = JSON.parse(outcome._tag === "Changed" ? Buffer.from(outcome.body).toString() : "{}")
        for (const permission of permissions) {
          for (const name of granted[permission]) {
            const expected = set.includes(permission) ? (permission === "env" ? "object" : "function") : "undefined"
            assert.strictEqual(types[name], expected, `${name} with ${set.join(", ")}`)
          }
        }
        for (const name of always) assert.strictEqual(types[name], "function", name)
        for (const name of never) assert.strictEqual(types[name], "undefined", name)
        const hasFiles = set.includes("file-read") || set.includes("file-write")
        assert.strictEqual(types["fs"], hasFiles ? "object" : "undefined")
        assert.strictEqual(types["process"], set.includes("env") ? "object" : "undefined")
        assert.strictEqual(types["child_process"], set.includes("exec") ? "object" : "undefined")
      })
    )
  }

  it.scopedLive("has no programs without the operator's variable, whatever was granted", () =>
    Effect.gen(function* () {
      const { sandbox } = yield* openSandbox(main, { permissions })
      const outcome = yield* sandbox.call(callOf({}))
      assert.include(
        outcome._tag === "Changed" ? Buffer.from(outcome.body).toString() : "",
        '"child_process":"undefined"'
      )
    })
  )

  it.scopedLive("behave as those of a browser where plugins need them", () =>
    Effect.gen(function* () {
      const { lines, sandbox } = yield* openSandbox(
        pluginOf(`onRequest: async () => {
          const url = new URL("../b?x=1&y=%20z#h", "https://user:pw@example.com:8443/a/c/d")
          url.searchParams.append("é", "a b&c")
          url.hash = ""
          const bytes = new TextEncoder().encode("é\\u0000€😀")
          let late = 0
          const cancelled = setTimeout(() => { late = 1 }, 1)
          clearTimeout(cancelled)
          await new Promise((done) => setTimeout((a, b) => { late += a + b; done() }, 3, 20, 30))
          console.warn("w", { a: 1 }, [2], new Error("e").message, undefined, null, 3n)
          console.error("x".repeat(5_000))
          return modifyBody({
            href: url.href, origin: url.origin, port: url.port, query: [...url.searchParams], parsed: URL.canParse("no"),
            bytes: [...bytes], text: new TextDecoder().decode(bytes), part: new TextDecoder().decode(bytes.subarray(0, 2)),
            fatal: (() => { try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return e.name } })(),
            uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()), late
          })
        }`)
      )
      const outcome = yield* sandbox.call(callOf({}))
      assert.strictEqual(outcome._tag, "Changed", JSON.stringify(outcome))
      const got = JSON.parse(outcome._tag === "Changed" ? Buffer.from(outcome.body).toString() : "{}")
      assert.deepStrictEqual(got, {
        href: "https://user:pw@example.com:8443/a/b?x=1&y=+z&%C3%A9=a+b%26c",
        origin: "https://example.com:8443",
        port: "8443",
        query: [
          ["x", "1"],
          ["y", " z"],
          ["é", "a b&c"]
        ],
        parsed: false,
        bytes: [...Buffer.from("é\u0000€😀")],
        text: "é\u0000€😀",
        part: "é",
        fatal: "TypeError",
        uuid: true,
        late: 50
      })
      assert.deepStrictEqual(
        lines.map(({ level, message }) => [level, message.length > 100 ? message.length : message]),
        [
          ["warn", 'w {"a":1} [2] e undefined null 3'],
          ["error", 2_000]
        ]
      )
    })
  )
})
