import { assert, describe, it } from "@effect/vitest"
import { fromOpenApi, isEmptyObject, toOpenApi } from "../../../../src/wire/gemini/SchemaCleaning.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more })
const property = (schema: JsonObject, more: JsonObject = {}): unknown => {
  const cleaned = toOpenApi(object({ p: schema }, more))
  return cleaned === null ? null : (cleaned["properties"] as JsonObject)["p"]
}

describe("toOpenApi", () => {
  it("writes types in upper case and leaves out what binds nothing", () => {
    const schema = object(
      { city: { type: "string", description: "City", format: "uri" }, days: { type: "integer", minimum: 1 } },
      {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        required: ["city", "gone"],
        additionalProperties: false
      }
    )
    assert.deepEqual(toOpenApi(schema), {
      type: "OBJECT",
      properties: {
        city: { type: "STRING", description: "City" },
        days: { type: "INTEGER", minimum: 1 }
      },
      required: ["city"]
    })
  })

  it("takes properties for names, whatever they are called", () => {
    const names = { type: { type: "string" }, properties: { type: "number" }, $ref: { type: "boolean" } }
    assert.deepEqual(toOpenApi(object(names)), {
      type: "OBJECT",
      properties: { type: { type: "STRING" }, properties: { type: "NUMBER" }, $ref: { type: "BOOLEAN" } }
    })
  })

  it("says the same in other words where it can", () => {
    assert.deepEqual(property({ const: "fast" }), { type: "STRING", enum: ["fast"] })
    assert.deepEqual(property({ enum: ["a", "b", null] }), { type: "STRING", enum: ["a", "b"], nullable: true })
    assert.deepEqual(property({ type: ["string", "null"] }), { type: "STRING", nullable: true })
    assert.deepEqual(property({ type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 5.5 }), {
      type: "INTEGER",
      minimum: 1,
      maximum: 5
    })
    assert.deepEqual(property({ description: "d", anyOf: [{ type: "string" }, { type: "null" }] }), {
      type: "STRING",
      description: "d",
      nullable: true
    })
    assert.deepEqual(property({ oneOf: [{ type: "boolean" }, { type: "number" }] }), {
      anyOf: [{ type: "BOOLEAN" }, { type: "NUMBER" }]
    })
    assert.deepEqual(property({ type: "string", format: "date-time" }), { type: "STRING", format: "date-time" })
  })

  it("follows references, but not in a circle", () => {
    const point = { type: "object", properties: { x: { type: "number" } } }
    assert.deepEqual(property({ $ref: "#/$defs/p", description: "here" }, { $defs: { p: point } }), {
      type: "OBJECT",
      properties: { x: { type: "NUMBER" } },
      description: "here"
    })
    const circle = { type: "object", properties: { next: { $ref: "#/$defs/p" } } }
    assert.isNull(property({ $ref: "#/$defs/p" }, { $defs: { p: circle } }))
    assert.isNull(property({ $ref: "#/$defs/nowhere" }))
  })

  it("gives up on what the subset cannot say", () => {
    const unsayable: ReadonlyArray<JsonObject> = [
      {},
      { type: "object" },
      { type: "array" },
      { type: ["string", "integer"] },
      { type: "object", additionalProperties: { type: "string" } },
      { type: "object", properties: { a: { type: "string" } }, patternProperties: {} },
      { type: "integer", enum: [1, 2] },
      { const: 1 },
      { type: "number", exclusiveMinimum: 0 },
      { not: { type: "string" } },
      { allOf: [{ type: "string" }] },
      { type: "array", items: [{ type: "string" }] },
      { type: "string", anyOf: [{ minLength: 1 }, { maxLength: 0 }] },
      { type: "vegetable" }
    ]
    assert.deepEqual(
      unsayable.filter((schema) => property(schema) !== null),
      []
    )
  })

  it("does not follow references without end, nor schemas without bottom", () => {
    const levels = Array.from({ length: 30 }, (_, index) => [
      `l${index}`,
      object({ a: { $ref: `#/$defs/l${index + 1}` }, b: { $ref: `#/$defs/l${index + 1}` } })
    ])
    const $defs = { ...Object.fromEntries(levels), l30: { type: "string" } }
    assert.isNull(toOpenApi({ $ref: "#/$defs/l0", $defs }))
    let deep: JsonObject = { type: "string" }
    for (let depth = 0; depth < 5000; depth += 1) deep = { type: "array", items: deep }
    assert.isNull(toOpenApi(deep))
    assert.doesNotThrow(() => fromOpenApi(deep))
  })
})

describe("isEmptyObject", () => {
  it("knows a tool without arguments from one that takes anything", () => {
    assert.isTrue(
      isEmptyObject({ $schema: "x", type: "object", properties: {}, required: [], additionalProperties: false })
    )
    assert.isFalse(isEmptyObject({ type: "object", additionalProperties: true }))
    assert.isFalse(isEmptyObject(object({ a: { type: "string" } })))
    assert.isFalse(isEmptyObject({ type: "string" }))
  })
})

describe("fromOpenApi", () => {
  it("reads both spellings, numbers in texts, and nullable", () => {
    const schema = {
      type: "OBJECT",
      properties: {
        any_of: { any_of: [{ type: "STRING" }, { type: "NUMBER" }], nullable: true },
        list: { type: "ARRAY", items: { type: "STRING", nullable: true, enum: ["a"] }, min_items: "1" }
      },
      propertyOrdering: ["list"],
      required: ["list"]
    }
    assert.deepEqual(fromOpenApi(schema), {
      type: "object",
      properties: {
        any_of: { anyOf: [{ type: "string" }, { type: "number" }, { type: "null" }] },
        list: { type: "array", items: { type: ["string", "null"], enum: ["a", null] }, minItems: 1 }
      },
      required: ["list"]
    })
  })

  it("undoes toOpenApi", () => {
    const schema = object(
      {
        a: { type: ["string", "null"], maxLength: 3 },
        b: { type: "array", items: object({ c: { type: "boolean" } }) }
      },
      { required: ["a"] }
    )
    assert.deepEqual(fromOpenApi(toOpenApi(schema) ?? {}), schema)
  })
})
