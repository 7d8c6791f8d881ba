import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as GuardedFetch from "../../../../src/net/egress/GuardedFetch.ts"
import { callOf, openSandbox, pluginOf } from "../../../support/Sandboxes.ts"

/** By what they do. All of them are ended, and the plugin serves the next call. */
const runaways: Readonly<Record<string, string>> = {
  "an endless loop": "for (;;);",
  "an endless loop in a promise": "await null; for (;;);",
  "an endless loop in a getter of the result": "return { get body() { for (;;); } }",
  "an endless loop in toJSON": "return modifyBody({ toJSON() { for (;;); } })",
  "a regular expression without end": 'return /(a+)+$/.test("a".repeat(40) + "b")',
  "a deep recursion": "const f = (n) => 1 + f(n + 1); f(0)",
  "a deep recursion of natives": "const f = () => [1].map(f); f()",
  "a deep structure": "let o = {}; for (let i = 0; i < 100_000; i += 1) o = { o }; return modifyBody(o)",
  "a flood of microtasks": "const f = () => Promise.resolve().then(f); f()",
  "a flood that is awaited": "for (;;) await null",
  "a flood behind a catch": "const f = async () => { try { await null } finally { f() } }; f(); for (;;) await null",
  "a memory bomb of texts": 'const chunks = []; while (true) { chunks.push("x".repeat(1024 * 1024)); }',
  "a memory bomb of typed arrays": "const keep = []; for (;;) keep.push(new Uint8Array(512 * 1024))",
  "a memory bomb of objects": "const keep = []; for (;;) keep.push({ a: [1, 2, 3] })",
  "a memory bomb that catches":
    'const keep = []; for (;;) try { keep.push("x".repeat(1024 * 1024) + keep.length) } catch {}',
  "a body of 100 MB": 'return modifyBody({ text: "x".repeat(100 * 1024 * 1024) })',
  "a promise that is never settled": "await new Promise(() => {})",
  "a thenable that is never settled": "return { then() {} }",
  "a timer that is too late": "await new Promise((done) => setTimeout(done, 60_000))",
  "timers without end": "const f = () => setTimeout(f, 0); f(); await new Promise(() => {})",
  "an endless fetch": "for (;;) await fetch('http://example.com/')",
  "an endless fetch that catches": "for (;;) try { await fetch('http://example.com/') } catch {}",
  "an answer that never comes": "await fetch('http://example.com/never')"
}

const network: typeof GuardedFetch.GuardedFetch.Service = {
  send: ({ url }) =>
    url.endsWith("never")
      ? Effect.never
      : Effect.succeed({
          status: 200,
          headers: { get: () => null, startingWith: () => [], [Symbol.iterator]: () => [].values() },
          body: Buffer.from("{}"),
          url,
          isRedirected: false
        })
}

const main = pluginOf(
  `onRequest: async (context, { script }) => script === null ? modifyBody({ fine: true }) : scripts[script]()`,
  `const scripts = {
${Object.entries(runaways)
  .map(([name, code]) => `${JSON.stringify(name)}: async () => { ${code} }`)
  .join(",\n")}
}`
)

describe("a plugin that does not end", () => {
  for (const script of Object.keys(runaways)) {
    it.scopedLive(
      `is stopped: ${script}`,
      () =>
        Effect.gen(function* () {
          const { sandbox } = yield* openSandbox(main, {
            permissions: ["network"],
            fetch: network,
            limits: { timeoutMs: 300 }
          })
          const outcome = yield* sandbox.call(callOf({}, "onRequest", { script }))
          assert.strictEqual(outcome._tag, "Failed", JSON.stringify(outcome))
          // It may have to start anew, for which a busy machine needs more than the time of a call.
          let after = yield* sandbox.call(callOf({}, "onRequest", { script: null }))
          for (let tries = 0; tries < 20 && after._tag === "Failed"; tries += 1) {
            after = yield* sandbox.call(callOf({}, "onRequest", { script: null }))
          }
          assert.strictEqual(after._tag, "Changed", JSON.stringify(after))
        }),
      30_000
    )
  }

  it.scopedLive("is not loaded when it loops, throws or waits while it is loaded", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [string, RegExp]> = [
        ["for (;;);", /processor time/],
        ['throw new Error("no")', /Error: no/],
        ["const keep = []; for (;;) keep.push(new Uint8Array(1e6))", /memory|processor/],
        ["await new Promise(() => {})", /awaits/],
        ["this is no code", /SyntaxError/],
        ["export const x = 1", /default export/],
        ['import "fs"', /its own files by relative path, not "fs"/],
        ['await import("node:fs")', /its own files by relative path, not "node:fs"/],
        ['import "../../other/index.js"', /its own files by relative path, not "\.\.\/\.\.\/other/],
        ['import "./missing.js"', /has no file missing\.js/],
        ["export default {}", /definePlugin/],
        ['import { definePlugin } from "gateway/plugin"; export default definePlugin({ name: "A B" })', /kebab/],
        [
          'import { definePlugin } from "gateway/plugin"; export default definePlugin({ name: "a", onError: 1 })',
          /onError/
        ]
      ]
      for (const [code, expected] of cases) {
        const failed = yield* Effect.flip(openSandbox(code))
        assert.match(failed.message, expected, code)
      }
    })
  )
})
