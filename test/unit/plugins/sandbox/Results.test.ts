import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { callOf, openSandbox, pluginOf } from "../../../support/Sandboxes.ts"
import { eventOf } from "../../../../src/agents/plugins/hooks/Listener.ts"

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8")

/** What a function returns, and why it is not taken. */
const refused: Readonly<Record<string, RegExp>> = {
  "return modifyBody({ n: NaN })": /"n": NaN is not JSON/,
  "return modifyBody({ n: Infinity })": /Infinity is not JSON/,
  "return modifyBody({ f() {} })": /"f": a function is not JSON/,
  'return modifyBody({ s: Symbol("x") })': /a symbol is not JSON/,
  "return modifyBody({ b: 1n })": /a bigint is not JSON/,
  "return modifyBody({ list: [undefined] })": /undefined is not JSON/,
  "const o = {}; o.o = o; return modifyBody(o)": /circular/,
  "return modifyBody(JSON.parse('{\"__proto__\":{}}'))": /__proto__/,
  'return modifyBody(JSON.parse(\'{"a":[{"\\\\u005f_proto__":1}]}\'))': /__proto__/,
  "return modifyBody([])": /must be an object/,
  'return modifyBody("text")': /must be an object/,
  "return modifyBody(null)": /must be an object/,
  "return 5": /nothing or an object/,
  'return "text"': /nothing or an object/,
  "return [1]": /nothing or an object/,
  "return { bodi: {} }": /no helper has made/,
  'throw new Error("no")': /Error: no/,
  'throw "text"': /threw text/,
  "throw null": /threw null/,
  "throw { toJSON() { throw 1 } }": /cannot be shown/,
  "throw new Proxy({}, { get() { throw 1 } })": /cannot be shown|threw/,
  "await null; missing()": /ReferenceError/,
  "return blockRequest({ status: 99 })": /status/,
  "return blockRequest({ status: NaN })": /status/,
  "return blockRequest({ error: 5 })": /error/,
  'return blockRequest({ body: "text" })': /must be an object/,
  'return blockRequest({ headers: { "x y": "z" } })': /no name of a header/,
  'return blockRequest({ headers: { x: "a\\nb" } })': /no value/,
  "return addMetadata([])": /must be an object/,
  'return addMetadata({ text: "x".repeat(100_000) })': /longer than|limit/,
  "context.metadata = 5; return {}": /context.metadata/,
  "context.metadata.f = () => {}": /a function is not JSON/,
  "let o = {}; for (let i = 0; i < 300; i += 1) o = { o }; return modifyBody(o)": /nested deeper than 200/,
  "const o = {}; for (let i = 0; i < 100_010; i += 1) o[i] = 0; return modifyBody(o)": /keys|processor time/
}

describe("what comes out of a sandbox", () => {
  it.scopedLive("is refused with the reason where it is not JSON of the right form", () =>
    Effect.gen(function* () {
      const codes = Object.keys(refused)
      const { sandbox } = yield* openSandbox(
        pluginOf(
          "onRequest: (context, { at }) => codes[at](context)",
          `const codes = [${codes.map((code) => `async (context) => { ${code} }`).join(",\n")}]`
        )
      )
      for (const [at, [code, expected]] of Object.entries(refused).entries()) {
        const outcome = yield* sandbox.call(callOf({}, "onRequest", { at }))
        assert.strictEqual(outcome._tag, "Failed", `${code}: ${JSON.stringify(outcome)}`)
        if (outcome._tag === "Failed") assert.match(outcome.reason, expected, code)
        assert.isNull(outcome.metadata)
      }
    })
  )

  it.scopedLive("is an answer, a body or nothing, with the metadata of both ways", () =>
    Effect.gen(function* () {
      const { sandbox } = yield* openSandbox(
        pluginOf(
          `onRequest: async (context, { at }) => codes[at](context),
           onResponse: (context, payload) => payload.status === 200 ? { body: { ...payload.body, was: payload.status, none: context.body } } : blockRequest(),
           onStreamEnd: (context, payload) => { if (payload.bad) throw new Error("no"); seen.push(payload.n) },
           onError: () => { console.log(seen.join(",")) }`,
          `const seen = []
           const codes = [
             () => {},
             () => ({}),
             () => blockRequest(),
             () => blockRequest({ status: 429, error: "slow down", headers: { "Retry-After": 5 } }),
             () => blockRequest({ error: { message: "no", code: "mine" }, body: { a: 1 } }),
             (context) => ({ ...modifyBody({ m: context.model }), ...addMetadata({ a: 1 }) }),
             (context) => { context.metadata.b = { c: [1] } },
             (context) => { context.body.x = 1 },
             (context) => modifyBody(context.headers)
           ]`
        )
      )
      const result = (at: number, over = {}) => sandbox.call(callOf({ x: 0 }, "onRequest", { at }, over))
      assert.strictEqual((yield* result(0))._tag, "Unchanged")
      assert.strictEqual((yield* result(1))._tag, "Unchanged")
      const { ms: _, ...blocked } = yield* result(2)
      assert.deepStrictEqual(blocked, {
        _tag: "Blocked",
        answer: { status: null, error: null, body: null, headers: {} },
        metadata: null
      })
      const limited = yield* result(3)
      assert.deepStrictEqual(limited._tag === "Blocked" && limited.answer, {
        status: 429,
        error: { message: "slow down", code: null },
        body: null,
        headers: { "retry-after": "5" }
      })
      const coded = yield* result(4)
      assert.deepStrictEqual(coded._tag === "Blocked" && coded.answer, {
        status: null,
        error: { message: "no", code: "mine" },
        body: { a: 1 },
        headers: {}
      })
      const changed = yield* result(5, { metadata: { old: true } })
      assert.strictEqual(changed._tag === "Changed" && textOf(changed.body), '{"m":"gpt-5"}')
      assert.deepStrictEqual(changed.metadata, { a: 1 })
      const marked = yield* result(6, { metadata: { old: true } })
      assert.deepStrictEqual([marked._tag, marked.metadata], ["Unchanged", { old: true, b: { c: [1] } }])
      assert.strictEqual((yield* result(7))._tag, "Unchanged", "only what is returned changes the body")
      const headers = yield* result(8)
      assert.strictEqual(headers._tag === "Changed" && textOf(headers.body), '{"user-agent":"test"}')
      const answer = yield* sandbox.call(callOf({ y: 1 }, "onResponse", { status: 200 }))
      assert.strictEqual(answer._tag === "Changed" && textOf(answer.body), '{"y":1,"was":200,"none":null}')
      const cannot = yield* sandbox.call(callOf({ y: 1 }, "onResponse", { status: 500 }))
      assert.match(cannot._tag === "Failed" ? cannot.reason : "", /onResponse cannot block/)
    })
  )

  it.scopedLive("of a batch is how many failed; its calls run one after the other", () =>
    Effect.gen(function* () {
      const { lines, sandbox } = yield* openSandbox(
        pluginOf(
          `onStreamEnd: async (context, { n }) => {
             console.log("begin", n)
             if (n === 2) throw new Error("no")
             if (n === 3) await new Promise(() => {})
             await new Promise((done) => setTimeout(done, 1))
             console.log("end", n)
           }`
        ),
        { limits: { timeoutMs: 200 } }
      )
      const batch = [1, 2, 3, 4].map((n) => eventOf(callOf(null, "onStreamEnd", { n })))
      assert.strictEqual(yield* sandbox.notify(batch), 2)
      const told = lines.filter(({ level }) => level === "info").map(({ message }) => message)
      assert.deepStrictEqual(told, ["begin 1", "end 1", "begin 2", "begin 3", "begin 4", "end 4"])
      assert.isTrue(lines.every(({ hook }) => hook === "onStreamEnd"))
      assert.strictEqual(lines.filter(({ level }) => level === "error").length, 2)
      assert.strictEqual(yield* sandbox.notify([]), 0)
    })
  )

  it.scopedLive(
    "of the plugin's own events is nothing, or what failed; a new configuration is in force from the next call",
    () =>
      Effect.gen(function* () {
        const { sandbox } = yield* openSandbox(
          pluginOf(
            `onActivate: ({ name }) => { if (name === "bad") throw new Error("not " + name) },
           onRequest: ({ config }) => { try { config.deep.x = 2 } catch (e) { return modifyBody({ config, e: e.name }) } }`
          ),
          { config: { deep: { x: 1 } } }
        )
        assert.isNull(yield* sandbox.lifecycle("onActivate", { name: "a" }))
        assert.match((yield* sandbox.lifecycle("onActivate", { name: "bad" })) ?? "", /not bad/)
        assert.match((yield* sandbox.lifecycle("onDeactivate", {})) ?? "", /no function onDeactivate/)
        const before = yield* sandbox.call(callOf({}))
        assert.strictEqual(
          before._tag === "Changed" && textOf(before.body),
          '{"config":{"deep":{"x":1}},"e":"TypeError"}'
        )
        yield* sandbox.configure({ deep: { x: "new" } })
        const after = yield* sandbox.call(callOf({}))
        assert.strictEqual(
          after._tag === "Changed" && textOf(after.body),
          '{"config":{"deep":{"x":"new"}},"e":"TypeError"}'
        )
      })
  )
})
