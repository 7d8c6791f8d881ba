import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { withoutUnion } from "../../../../src/wire/canonical/tools/UnionSchemas.ts"
import { chatBody, messagesBody, translate } from "../support.ts"

const text = { type: "string" }
const count = { type: "integer" }

const union: JsonObject = {
  description: "By id or by name",
  anyOf: [
    { type: "object", properties: { id: count, kind: { const: "id" } }, required: ["id", "kind"] },
    { type: "object", properties: { name: text, kind: { const: "name" } }, required: ["name", "kind"] }
  ]
}

describe("a union at the root", () => {
  it("becomes one object: all members, and required what every branch requires", () => {
    assert.deepStrictEqual(withoutUnion(union), {
      description: "By id or by name",
      type: "object",
      properties: { id: count, kind: { anyOf: [{ const: "id" }, { const: "name" }] }, name: text },
      required: ["kind"]
    })
    const { anyOf, ...rest } = union
    assert.deepStrictEqual(withoutUnion({ ...rest, oneOf: anyOf }), withoutUnion(union))
  })

  it("of allOf requires all", () => {
    const merged = withoutUnion({
      type: "object",
      properties: { at: text },
      required: ["at"],
      allOf: [
        { properties: { id: count }, required: ["id"] },
        { properties: { id: count, name: text }, required: ["name"] }
      ]
    })
    assert.deepStrictEqual(merged, {
      type: "object",
      properties: { at: text, id: count, name: text },
      required: ["at", "id", "name"]
    })
  })

  it("keeps definitions, follows references, and reads branches in branches", () => {
    const $defs = { one: { type: "object", properties: { id: count }, additionalProperties: false } }
    const merged = withoutUnion({
      $defs,
      oneOf: [
        { $ref: "#/$defs/one" },
        { anyOf: [{ properties: { name: text } }, { properties: { at: text } }] },
        { type: "string" },
        { type: "null" }
      ]
    })
    assert.deepStrictEqual(merged, { $defs, type: "object", properties: { id: count, name: text, at: text } })
  })

  it("is closed when each branch is", () => {
    const closed = { properties: { a: text }, additionalProperties: false }
    assert.deepStrictEqual(withoutUnion({ anyOf: [closed, closed] }), {
      type: "object",
      properties: { a: text },
      additionalProperties: false
    })
  })

  it("ends with references in a circle, and with many branches", () => {
    const $defs: JsonObject = { a: { anyOf: [{ $ref: "#/$defs/a" }, { properties: { x: text } }] } }
    assert.deepInclude(withoutUnion({ $defs, anyOf: [{ $ref: "#/$defs/a" }] }), { properties: { x: text } })
    const many = Array.from({ length: 5_000 }, (_, index) => ({ properties: { [`p${index}`]: text } }))
    assert.strictEqual(withoutUnion({ anyOf: many })["type"], "object")
  })

  it("leaves other schemas alone", () => {
    const plain = { type: "object", properties: { a: { anyOf: [text, count] } } }
    assert.strictEqual(withoutUnion(plain), plain)
  })
})

describe("a tool with one", () => {
  const tools = [{ type: "function", function: { name: "find", parameters: union } }]

  it("is mended for makers that refuse it, and named as mapped", () => {
    const { body, mapped } = translate("chat", "messages", chatBody({ tools }), { maxOutputTokens: 100 })
    assert.deepStrictEqual((body["tools"] as ReadonlyArray<JsonObject>)[0]?.["input_schema"], withoutUnion(union))
    assert.deepStrictEqual(mapped, ["tools.function.parameters"])
    const responses = translate("chat", "responses", chatBody({ tools }))
    assert.deepStrictEqual(
      (responses.body["tools"] as ReadonlyArray<JsonObject>)[0]?.["parameters"],
      withoutUnion(union)
    )
    const openAi = messagesBody({ tools: [{ name: "find", input_schema: union }] })
    assert.deepStrictEqual(translate("messages", "chat", openAi, { openAiTools: true }).mapped, ["tools.input_schema"])
    assert.deepStrictEqual(translate("messages", "chat", openAi).mapped, [])
  })

  it("goes to Gemini as JSON Schema, whole", () => {
    const { body, mapped } = translate("chat", "gemini", chatBody({ tools }))
    const [entry] = body["tools"] as ReadonlyArray<{ functionDeclarations: ReadonlyArray<JsonObject> }>
    assert.deepStrictEqual(entry?.functionDeclarations[0]?.["parametersJsonSchema"], {
      properties: {},
      ...union,
      type: "object"
    })
    assert.deepStrictEqual(mapped, [])
  })
})
