/** JSON schemas of answers on their way to the messages wire, and strict tools on theirs to OpenAI's. */
import { assert, describe, it } from "@effect/vitest"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { chatBody, messagesBody, translate } from "./support.ts"

const bounded: JsonObject = {
  type: "object",
  properties: {
    age: { type: "integer", minimum: 0, maximum: 150, description: "in years" },
    name: { type: "string", minLength: 1, maxLength: 80, pattern: "^[a-z]+$", format: "name" },
    mail: { type: ["string", "null"], format: "email", pattern: "(?=x)y" },
    tags: { type: "array", items: { $ref: "#/$defs/tag" }, minItems: 1, maxItems: 5, uniqueItems: true },
    pair: { type: "array", items: { type: "number", multipleOf: 0.5 }, minItems: 2 },
    // Names of properties, not bounds.
    minimum: { type: "number" },
    additionalProperties: { type: "object", properties: {}, additionalProperties: { type: "string" } }
  },
  $defs: { tag: { oneOf: [{ type: "string" }, { type: ["object", "null"], properties: { id: { type: "string" } } }] } },
  required: ["age"]
}

const fitted: JsonObject = {
  type: "object",
  properties: {
    age: { type: "integer", description: "in years" },
    name: { type: "string", pattern: "^[a-z]+$" },
    mail: { type: ["string", "null"], format: "email" },
    tags: { type: "array", items: { $ref: "#/$defs/tag" }, minItems: 1 },
    pair: { type: "array", items: { type: "number" } },
    minimum: { type: "number" },
    additionalProperties: { type: "object", properties: {}, additionalProperties: false }
  },
  $defs: {
    tag: {
      anyOf: [
        { type: "string" },
        { type: ["object", "null"], properties: { id: { type: "string" } }, additionalProperties: false }
      ]
    }
  },
  required: ["age"],
  additionalProperties: false
}

const keywords = [
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "pattern",
  "format",
  "minItems",
  "maxItems",
  "uniqueItems",
  "multipleOf",
  "oneOf",
  "additionalProperties"
]

const asked: ReadonlyArray<readonly [source: WireName, at: string, body: (schema: JsonObject) => JsonObject]> = [
  [
    "chat",
    "response_format.json_schema.schema",
    (schema) => chatBody({ response_format: { type: "json_schema", json_schema: { name: "n", schema } } })
  ],
  [
    "responses",
    "text.format.schema",
    (schema) => ({ model: "m", input: "Hi", text: { format: { type: "json_schema", name: "n", schema } } })
  ],
  ["ollama", "format", (format) => ({ model: "m", messages: [{ role: "user", content: "Hi" }], format })]
]

const schemaOf = (body: JsonObject): unknown =>
  (body["output_config"] as { readonly format: { readonly schema: unknown } }).format.schema

describe("a JSON schema for an answer", () => {
  for (const [source, at, request] of asked) {
    it(`from ${source} is closed and without the bounds that are refused, each of them named`, () => {
      const { body, dropped } = translate(source, "messages", request(bounded))
      assert.deepEqual(schemaOf(body), fitted)
      assert.sameMembers(
        [...dropped],
        keywords.map((keyword) => `${at}.${keyword}`)
      )
    })

    it(`from ${source} that fits already stays as it is`, () => {
      const { body, dropped } = translate(source, "messages", request(fitted))
      assert.deepEqual(schemaOf(body), fitted)
      assert.deepEqual(dropped, [])
    })
  }

  it("of a messages client is its own", () => {
    const format = { type: "json_schema", schema: bounded }
    const { body } = translate("messages", "messages", messagesBody({ output_config: { format } }))
    assert.deepEqual(schemaOf(body), bounded)
  })

  it("goes to other wires with its bounds", () => {
    const { body } = translate("ollama", "chat", {
      model: "m",
      messages: [{ role: "user", content: "Hi" }],
      format: bounded
    })
    assert.deepNestedInclude(body, { "response_format.json_schema.schema": bounded })
  })
})

describe("strict tools of the messages wire", () => {
  const tool = (input_schema: JsonObject) => messagesBody({ tools: [{ name: "f", strict: true, input_schema }] })
  const inner = { type: "object", properties: { a: {} }, required: ["a"], additionalProperties: false }
  const whole = { type: "object", properties: { x: inner }, required: ["x"], additionalProperties: false }
  const strictAt = {
    chat: (body: JsonObject) =>
      (body["tools"] as ReadonlyArray<{ readonly function: JsonObject }>)[0]?.function["strict"],
    responses: (body: JsonObject) => (body["tools"] as ReadonlyArray<JsonObject>)[0]?.["strict"]
  }

  for (const target of ["chat", "responses"] as const) {
    it(`are strict for ${target} upstreams where every property is required, and named where one is not`, () => {
      const told = (schema: JsonObject) => {
        const { body, dropped } = translate("messages", target, tool(schema))
        return [strictAt[target](body), dropped]
      }
      assert.deepEqual(told(whole), [true, []])
      assert.deepEqual(told({ ...whole, required: [] }), [false, ["tools.strict"]])
      assert.deepEqual(told({ ...whole, properties: { x: { ...inner, required: undefined } } }), [
        false,
        ["tools.strict"]
      ])
      assert.deepEqual(told({ ...whole, additionalProperties: true }), [false, ["tools.strict"]])
    })
  }

  it("between OpenAI's own wires are the client's business", () => {
    const parameters = { ...whole, required: [] }
    const { body } = translate(
      "chat",
      "responses",
      chatBody({ tools: [{ type: "function", function: { name: "f", strict: true, parameters } }] })
    )
    assert.isTrue(strictAt.responses(body))
  })
})
