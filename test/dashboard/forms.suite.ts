/** What a form that was filled with stored values sends, and what takes it back; where guardrails found something; how settings are found. */
import { assert, describe, it } from "vitest"
import { changesOf, inverseOf, textsOf } from "../../src/dashboard/forms/changes.ts"
import { kindOf } from "../../src/dashboard/forms/fields.ts"
import type { FieldSchema } from "../../src/dashboard/forms/operations.ts"
import { findingsOf, marked } from "../../src/dashboard/views/system/guardrails/findings.ts"
import { schemaOf } from "../../src/dashboard/views/system/plugins/schema.ts"
import { groupOf, grouped, nested, type Origin, shownValue } from "../../src/dashboard/views/system/settings/value.ts"

const schema: FieldSchema = {
  type: "object",
  properties: {
    name: { type: "string" },
    note: { type: ["string", "null"] },
    size: { type: "integer" },
    isOn: { type: "boolean" },
    hosts: { type: "array", items: { type: "string" } },
    extra: { type: "object" },
    secret: { type: ["string", "null"], writeOnly: true },
    policy: {
      type: "object",
      properties: { mode: { type: "string", enum: ["a", "b"] }, tools: { type: "array", items: { type: "string" } } }
    },
    deep: { type: "object", properties: { one: { type: "integer" }, two: { type: "integer" } } }
  }
}

const values = {
  name: "n",
  note: "x",
  size: 3,
  isOn: true,
  hosts: ["a", "b"],
  extra: { k: 1 },
  secret: null,
  policy: { mode: "a", tools: ["t"] },
  deep: { one: 1, two: 2 }
}

const stored = textsOf(schema, values)
const none: ReadonlySet<string> = new Set()
const change = (texts: Readonly<Record<string, string>>, whole: ReadonlySet<string> = none) =>
  changesOf(schema, stored, { texts: { ...stored, ...texts }, cleared: none }, whole)

describe("a filled form", () => {
  it("sends nothing where nothing was changed, and each change by itself", () => {
    assert.deepStrictEqual(change({}), { body: {}, wrong: {} })
    assert.deepStrictEqual(change({ size: "4" }).body, { size: 4 })
    assert.deepStrictEqual(change({ isOn: "false" }).body, { isOn: false })
    assert.deepStrictEqual(change({ hosts: "a\n\n c " }).body, { hosts: ["a", "c"] })
    assert.deepStrictEqual(change({ "deep.two": "5" }).body, { deep: { two: 5 } })
    assert.deepStrictEqual(change({ extra: '{"k": 2}' }).body, { extra: { k: 2 } })
  })

  it("sends what was emptied as what it means: nothing, no text, no entries, or a mistake", () => {
    assert.deepStrictEqual(change({ note: "" }).body, { note: null })
    assert.deepStrictEqual(change({ name: "" }).body, { name: "" })
    assert.deepStrictEqual(change({ hosts: "" }).body, { hosts: [] })
    assert.deepStrictEqual(change({ size: "" }), { body: {}, wrong: { size: "number" } })
    assert.deepStrictEqual(change({ extra: "" }), { body: {}, wrong: { extra: "json" } })
    assert.deepStrictEqual(change({ size: "four" }).wrong, { size: "number" })
  })

  it("sends the whole of what a change replaces as a whole, also where a part of it is empty", () => {
    const whole = new Set(["policy"])
    assert.deepStrictEqual(change({ "policy.mode": "b" }, whole).body, { policy: { mode: "b", tools: ["t"] } })
    assert.deepStrictEqual(change({ "policy.tools": "" }, whole).body, { policy: { mode: "a", tools: [] } })
    assert.deepStrictEqual(change({ "policy.mode": "b" }).body, { policy: { mode: "b" } })
    assert.deepStrictEqual(change({ size: "4" }, whole).body, { size: 4 })
  })

  it("is taken back by what was stored of what was sent, and not at all where a secret is among it", () => {
    assert.deepStrictEqual(inverseOf(schema, values, { size: 4, deep: { two: 5 } }), { size: 3, deep: { two: 2 } })
    assert.deepStrictEqual(inverseOf(schema, values, { policy: { mode: "b", tools: [] } }), {
      policy: { mode: "a", tools: ["t"] }
    })
    assert.isNull(inverseOf(schema, values, { size: 4, secret: "s" }))
  })

  it("sends back by its inverse exactly what was there, for each field", () => {
    const typed: Readonly<Record<string, string>> = {
      name: "m",
      note: "",
      size: "9",
      isOn: "false",
      hosts: "",
      extra: "[]",
      "deep.one": "7"
    }
    for (const [path, text] of Object.entries(typed)) {
      const { body } = change({ [path]: text })
      const back = inverseOf(schema, values, body) ?? {}
      const [top = ""] = path.split(".")
      const merged = top === "deep" ? { ...values.deep, ...(back["deep"] as object) } : back[top]
      assert.deepStrictEqual(merged, (values as Readonly<Record<string, unknown>>)[top], path)
    }
  })
})

describe("fields", () => {
  it("that are yes or no are asked for as that, also where 1 and 0 are other words for it", () => {
    assert.deepStrictEqual(kindOf({ anyOf: [{ type: "boolean" }, { type: "number", enum: [0, 1] }] }), { _tag: "Yes" })
    assert.deepStrictEqual(kindOf({ anyOf: [{ type: "boolean" }, { type: "number", enum: [0, 2] }] }), { _tag: "Json" })
    assert.deepStrictEqual(kindOf({ anyOf: [{ type: "string" }, { type: "number", enum: [0, 1] }] }), { _tag: "Json" })
  })
})

describe("findings of guardrails", () => {
  it("stand in the order of the text, and overlapping ones are one part of it", () => {
    const findings = findingsOf({
      personalData: [
        { detector: "email", start: 6, end: 10 },
        { detector: "ip", start: 8, end: 12 }
      ],
      injections: [{ group: "override", severity: "high", start: 0, end: 3 }]
    })
    assert.deepStrictEqual(
      findings.map(({ name }) => name),
      ["override", "email", "ip"]
    )
    const text = "abcdefghijklmnop"
    const parts = marked(text, findings)
    assert.deepStrictEqual(
      parts.map(({ isFound, part }) => [part, isFound]),
      [
        ["abc", true],
        ["def", false],
        ["ghijkl", true],
        ["mnop", false]
      ]
    )
    assert.strictEqual(parts.map(({ part }) => part).join(""), text)
    assert.deepStrictEqual(marked(text, []), [{ at: 0, part: text, isFound: false }])
    assert.deepStrictEqual(marked("", []), [])
  })
})

describe("settings", () => {
  const origin = (name: string, more: Partial<Origin> = {}): Origin => ({
    operation: "gatewaySettingsUpdate",
    name,
    value: 1,
    defaultValue: 1,
    source: "default",
    changedAt: null,
    changedBy: null,
    ...more
  })

  it("stand under their group, and are found by their words and by what is set", () => {
    assert.strictEqual(groupOf(origin("cache.ttlSeconds")), "Cache")
    assert.strictEqual(groupOf(origin("mcpEnabled")), "General")
    assert.strictEqual(groupOf(origin("timeouts.totalMs", { operation: "resilienceUpdate" })), "Resilience")
    const all = [origin("cache.ttlSeconds", { source: "db" }), origin("cache.enabled"), origin("visionBridge.model")]
    const names = (text: string, isSetOnly = false) =>
      grouped(all, ({ name }) => (name.endsWith("model") ? "describes pictures" : ""), { text, isSetOnly }).flatMap(
        ([, those]) => those.map(({ name }) => name)
      )
    assert.deepStrictEqual(names("cache TTL"), ["cache.ttlSeconds"])
    assert.deepStrictEqual(names("pictures"), ["visionBridge.model"])
    assert.deepStrictEqual(names("  ", true), ["cache.ttlSeconds"])
    assert.deepStrictEqual(names("nothing of this"), [])
  })

  it("are shown in a line, and named in the body by their path", () => {
    assert.deepStrictEqual(nested("cache.semantic.model", "m"), { cache: { semantic: { model: "m" } } })
    assert.strictEqual(shownValue(null), "nothing")
    assert.strictEqual(shownValue([]), "nothing")
    assert.strictEqual(shownValue(["a", "b"]), "a, b")
    assert.strictEqual(shownValue({ a: 1 }), '{"a":1}')
    assert.isBelow(shownValue("x".repeat(1_000_000)).length, 130)
  })
})

describe("settings of a plugin", () => {
  it("are asked for by fields of their kind, within their bounds, and null is the default again", () => {
    const field = { default: null, description: null, enum: null, max: null, min: null, secret: false }
    const { properties = {} } = schemaOf({
      limit: { ...field, type: "number", default: 10, min: 1, max: 100, description: "How many." },
      token: { ...field, type: "string", secret: true, default: null },
      level: { ...field, type: "select", enum: ["low", "high"] },
      step: { ...field, type: "select", enum: [1, 2] }
    })
    assert.deepInclude(properties["limit"], { type: ["number", "null"], minimum: 1, maximum: 100, default: 10 })
    assert.deepInclude(properties["token"], { writeOnly: true })
    assert.deepInclude(properties["level"], { enum: ["low", "high"] })
    assert.deepInclude(properties["step"], { type: ["number", "null"], description: "1, 2" })
  })
})
