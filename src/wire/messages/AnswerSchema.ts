/**
 * JSON schemas of answers as the messages wire accepts them: every object closed, and without the constraints it refuses
 * (https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations).
 */
import { isArray, isObject, type Json, type JsonObject } from "../json/Json.ts"
import { isOfObjects, mapSchema } from "../json/SchemaWalk.ts"

const refused: ReadonlySet<string> = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "maxItems",
  "uniqueItems",
  "contains",
  "minContains",
  "maxContains",
  "prefixItems",
  "minProperties",
  "maxProperties",
  "patternProperties",
  "propertyNames",
  "unevaluatedProperties",
  "unevaluatedItems",
  "dependentRequired",
  "dependentSchemas",
  "not",
  "if",
  "then",
  "else"
])

const formats: ReadonlySet<Json | undefined> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid"
])

/** Look-around, word boundaries and back references are not accepted. */
const unknownPattern = /\(\?(?:[=!]|<[=!])|\\[bB1-9]/

const isRefused = (key: string, value: Json | undefined): boolean => {
  if (refused.has(key)) return true
  switch (key) {
    case "minItems":
      return value !== 0 && value !== 1
    case "format":
      return !formats.has(value)
    case "pattern":
      return typeof value !== "string" || unknownPattern.test(value)
    case "enum":
      return isArray(value) && value.some((item) => isArray(item) || isObject(item))
    default:
      return false
  }
}

const fit = (schema: JsonObject, changed: Set<string>): JsonObject => {
  const fitted: Record<string, Json | undefined> = {}
  for (const [key, value] of Object.entries(schema)) {
    if (isRefused(key, value)) changed.add(key)
    else if (key === "oneOf" && schema["anyOf"] === undefined) {
      changed.add(key)
      fitted["anyOf"] = value
    } else fitted[key] = value
  }
  if (!isOfObjects(schema) || schema["additionalProperties"] === false) return fitted
  changed.add("additionalProperties")
  return { ...fitted, additionalProperties: false }
}

export interface FittedSchema {
  readonly schema: JsonObject
  /** The keywords that had to be changed. */
  readonly changed: ReadonlyArray<string>
}

export const fitAnswerSchema = (schema: JsonObject): FittedSchema => {
  const changed = new Set<string>()
  return { schema: mapSchema(schema, (each) => fit(each, changed)), changed: [...changed] }
}
