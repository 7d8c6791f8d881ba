/** The check agrees with the reference validator, and ends soon whatever it is given. */
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as fc from "fast-check"
import { checkSchema } from "../../../src/plane/guard/schema/JsonSchema.ts"
import type { Json, JsonObject } from "../../../src/wire/json/Json.ts"

const names = fc.constantFrom("a", "b", "ab", "constructor", "é")
const scalar = fc.constantFrom<Json>(null, true, false, 0, 1, 2, 3.5, -1, 10, "", "a", "ab", "abc", "🚀", "x y")

const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(names, tie("value"), { maxKeys: 4 })
  )
}))

const type = fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object")
const small = fc.nat(3)

const { schema } = fc.letrec<{ schema: Json }>((tie) => {
  const some = fc.array(tie("schema"), { minLength: 1, maxLength: 3 })
  const named = fc.dictionary(names, tie("schema"), { maxKeys: 3 })
  const keywords: Readonly<Record<string, fc.Arbitrary<Json>>> = {
    type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
    enum: fc.uniqueArray(value, { minLength: 1, maxLength: 4, selector: (item) => JSON.stringify(item) }),
    const: value,
    minimum: fc.integer({ min: -2, max: 4 }),
    maximum: fc.integer({ min: -2, max: 4 }),
    exclusiveMinimum: fc.integer({ min: -2, max: 4 }),
    exclusiveMaximum: fc.integer({ min: -2, max: 4 }),
    multipleOf: fc.constantFrom(1, 2, 0.5),
    minLength: small,
    maxLength: small,
    pattern: fc.constantFrom("a", "^a", "b$", "^[a-c]+$", "\\d", "(ab)*x"),
    minItems: small,
    maxItems: small,
    uniqueItems: fc.boolean(),
    items: tie("schema"),
    prefixItems: some,
    minProperties: small,
    maxProperties: small,
    required: fc.uniqueArray(names, { maxLength: 2 }),
    properties: named,
    patternProperties: fc.dictionary(fc.constantFrom("a", "^b", "é"), tie("schema"), { maxKeys: 2 }),
    additionalProperties: tie("schema"),
    propertyNames: tie("schema"),
    dependentRequired: fc.dictionary(names, fc.uniqueArray(names, { maxLength: 2 }), { maxKeys: 2 }),
    dependentSchemas: named,
    allOf: some,
    anyOf: some,
    oneOf: some,
    not: tie("schema"),
    if: tie("schema"),
    then: tie("schema"),
    else: tie("schema"),
    $ref: fc.constantFrom("#/$defs/d", "#/$defs/e~1f")
  }
  const chosen = fc.uniqueArray(fc.constantFrom(...Object.keys(keywords)), { maxLength: 4 })
  const object = chosen.chain((keys) =>
    fc.record<Record<string, Json>>(Object.fromEntries(keys.map((key) => [key, keywords[key] ?? scalar])))
  )
  return { schema: fc.oneof({ maxDepth: 4, withCrossShrink: true }, fc.boolean(), object, object, object) }
})

const definitions: JsonObject = { d: { type: ["string", "integer", "object"] }, "e/f": { minLength: 1, minimum: 1 } }

/** Null where the reference validator makes code that throws, as it does for some schemas. */
const byReference = (whole: JsonObject, given: Json): boolean | null => {
  const ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    logger: false,
    validateSchema: false,
    ownProperties: true,
    unevaluated: false
  })
  try {
    return ajv.validate(whole, given)
  } catch {
    return null
  }
}

describe("a value against a JSON schema", () => {
  it("is judged as the reference validator judges it", () => {
    let invalid = 0
    fc.assert(
      fc.property(schema, value, (inner, given) => {
        const whole: JsonObject = { $defs: definitions, allOf: [inner] }
        const expected = byReference(whole, given)
        fc.pre(expected !== null)
        const verdict = checkSchema(whole, given)
        if (!expected) invalid += 1
        assert.strictEqual(verdict._tag, expected ? "Valid" : "Invalid", JSON.stringify([whole, given, verdict]))
      }),
      { numRuns: 2_000 }
    )
    assert.isAbove(invalid, 300)
  })

  it("ends without a verdict where a schema would take too long", () => {
    const doubled: Record<string, JsonObject> = { d0: { type: "object" } }
    for (let at = 1; at <= 60; at += 1) {
      const below = { $ref: `#/$defs/d${at - 1}` }
      doubled[`d${at}`] = { allOf: [below, below] }
    }
    const hostile: Readonly<Record<string, readonly [JsonObject, Json]>> = {
      "references that double": [{ $defs: doubled, $ref: "#/$defs/d60" }, {}],
      "a reference to itself": [{ $ref: "#" }, {}],
      "two that refer to each other": [
        { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" },
        {}
      ],
      "branches at every level of the value": [
        { properties: { a: { anyOf: [{ $ref: "#" }, { $ref: "#" }] } }, not: {} },
        JSON.parse(`${'{"a":'.repeat(60)}1${"}".repeat(60)}`)
      ],
      "a pattern without linear time": [{ pattern: "(a+)+\\1$" }, "aaaa"],
      "an explosive pattern over a long text": [
        { allOf: Array.from({ length: 900 }, () => ({ pattern: "(a*)*$" })) },
        "a".repeat(1_000_000)
      ],
      "a reference out of the schema": [{ $ref: "https://example.com/schema.json" }, {}],
      "many parts": [{ allOf: Array.from({ length: 20_000 }, () => ({ type: "object" })) }, {}],
      "a keyword that is not checked": [{ unevaluatedProperties: false }, {}]
    }
    for (const [name, [hostileSchema, given]] of Object.entries(hostile)) {
      assert.strictEqual(checkSchema(hostileSchema, given)._tag, "Undecided", name)
    }
  })

  it("says where a value is wrong, and nothing of what it says", () => {
    const given = { people: [{ name: "Ann" }, { name: "secret", age: "old" }] }
    const person = { type: "object", properties: { age: { type: "integer" } }, required: ["name"] }
    assert.deepStrictEqual(
      checkSchema({ type: "object", properties: { people: { type: "array", items: person } } }, given),
      { _tag: "Invalid", message: ".people[1].age must be integer" }
    )
    assert.deepStrictEqual(checkSchema({ required: ["x"] }, {}), {
      _tag: "Invalid",
      message: 'the value must have the property "x"'
    })
  })

  it("counts the items that a list must contain", () => {
    const verdict = (more: JsonObject, given: Json) =>
      checkSchema({ contains: { type: "string" }, ...more }, given)._tag
    assert.strictEqual(verdict({}, [1, "a"]), "Valid")
    assert.strictEqual(verdict({}, []), "Invalid")
    assert.strictEqual(verdict({ minContains: 0 }, []), "Valid")
    assert.strictEqual(verdict({ minContains: 2 }, ["a", 1]), "Invalid")
    assert.strictEqual(verdict({ maxContains: 1 }, ["a", "b"]), "Invalid")
  })

  it("reads the types of Gemini and null by OpenAPI", () => {
    const verdict = (given: Json) =>
      checkSchema({ type: "OBJECT", properties: { a: { type: "STRING", nullable: true } } }, given)._tag
    assert.deepStrictEqual([{ a: "x" }, { a: null }, { a: 1 }, []].map(verdict), [
      "Valid",
      "Valid",
      "Invalid",
      "Invalid"
    ])
  })
})
