/** The keywords of JSON Schema that hold schemas, so that a property called `minimum` is not taken for a constraint. */
import { isArray, isObject, type Json, type JsonObject } from "./Json.ts"

/** Members that hold schemas by name. */
const byName: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas"
])
/** Members that hold a schema or a list of them. */
const nested: ReadonlySet<string> = new Set([
  "items",
  "prefixItems",
  "additionalProperties",
  "unevaluatedProperties",
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames"
])

const inEach = (value: Json | undefined, change: (schema: JsonObject) => JsonObject): Json | undefined =>
  isArray(value)
    ? value.map((item) => (isObject(item) ? mapSchema(item, change) : item))
    : isObject(value)
      ? mapSchema(value, change)
      : value

/** Applies `change` to every schema inside, innermost first. The recursion is bounded by the depth of the request. */
export const mapSchema = (schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject =>
  change(
    Object.fromEntries(
      Object.entries(schema).map(([key, value]) => {
        if (byName.has(key) && isObject(value)) {
          return [key, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, inEach(inner, change)]))]
        }
        return [key, nested.has(key) ? inEach(value, change) : value]
      })
    )
  )

/** Checks whether a schema describes objects. */
export const isOfObjects = ({ properties, type }: JsonObject): boolean =>
  type === "object" || (isArray(type) && type.includes("object")) || (type === undefined && isObject(properties))
