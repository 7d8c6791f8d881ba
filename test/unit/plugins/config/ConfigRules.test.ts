import { assert, it } from "@effect/vitest"
import { change, type ConfigSchema, effective, kept, shown } from "../../../../src/agents/plugins/ConfigRules.ts"

const field = { default: null, min: null, max: null, enum: null, description: null, secret: false }
const schema: ConfigSchema = {
  text: { ...field, type: "string", max: 5 },
  count: { ...field, type: "number", default: 3, min: 1, max: 9 },
  on: { ...field, type: "boolean" },
  kind: { ...field, type: "select", enum: ["a", "b"], default: "a" },
  key: { ...field, type: "string", secret: true }
}
const secret = "sk-0123456789abcdef"

it("defaults hold where nothing is set", () => {
  assert.deepStrictEqual(effective(schema, {}), { count: 3, kind: "a" })
  assert.deepStrictEqual(shown(schema, { key: secret }), { text: null, count: 3, on: null, kind: "a", key: "sk-…cdef" })
})

it.each<[string, Record<string, unknown>]>([
  ["text", { text: 5 }],
  ["text", { text: "123456" }],
  ["count", { count: "3" }],
  ["count", { count: 0 }],
  ["count", { count: Number.NaN }],
  ["on", { on: "true" }],
  ["kind", { kind: "c" }],
  ["kind", { kind: {} }],
  ["other", { other: 1 }],
  ["__proto__", JSON.parse('{"__proto__":1}') as Record<string, unknown>]
])("a wrong value of %s is named", (name, values) => {
  const changed = change(schema, {}, values)
  assert.deepStrictEqual(changed._tag === "Wrong" && changed.problems.map(({ field: at }) => at), [`values.${name}`])
})

it("null is the default again, what is left out stays, and a masked secret is the one of before", () => {
  const set = { text: "abc", count: 5, key: secret }
  assert.deepStrictEqual(change(schema, set, { count: null, key: "sk-…cdef" }), {
    _tag: "Set",
    values: { text: "abc", key: secret }
  })
})

it("of a former version those stay that the schema still takes", () => {
  assert.deepStrictEqual(kept(schema, { text: "abc", count: 500, gone: 1, kind: "b" }), { text: "abc", kind: "b" })
})
