/**
 * JSON Schema ↔ the OpenAPI subset of `parameters` and `responseSchema`: upper-case types, `nullable`, no references, no constants, no
 * open maps. A schema outside of the subset is not approximated: the wire's newer members accept JSON Schema as it is.
 *
 * https://ai.google.dev/api/caching#Schema
 */
import { isArray, isObject, type Json, type JsonObject, numberOr, stringOr } from "../json/Json.ts"
import { camel } from "./Casing.ts"

/** Limits of the conversion: nested references could expand without end. */
const maxDepth = 32
const maxNodes = 2000

const types: Readonly<Record<string, string>> = {
  string: "STRING",
  number: "NUMBER",
  integer: "INTEGER",
  boolean: "BOOLEAN",
  array: "ARRAY",
  object: "OBJECT"
}

/** Formats the servers support, by type. Others are annotations only. */
const formats: Readonly<Record<string, ReadonlySet<string>>> = {
  STRING: new Set(["date-time", "enum"]),
  NUMBER: new Set(["float", "double"]),
  INTEGER: new Set(["int32", "int64"])
}

const kept = new Set([
  "title",
  "description",
  "default",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties"
])

/** Keywords that do not constrain a value. */
const ignored = new Set([
  "$schema",
  "$id",
  "$anchor",
  "$comment",
  "$defs",
  "definitions",
  "examples",
  "example",
  "deprecated",
  "readOnly",
  "writeOnly",
  "strict",
  "contentEncoding",
  "contentMediaType"
])

/** Keywords that are read together with the type. */
const readWithType = new Set(["type", "format", "enum", "const", "required", "nullable"])

const isIgnored = (key: string): boolean => ignored.has(key) || key.startsWith("x-")

type Cleaned = Record<string, Json | undefined>

interface Walk {
  readonly root: JsonObject
  /** References being followed, to detect circular ones. */
  readonly following: ReadonlySet<string>
  readonly depth: number
  readonly budget: { nodes: number }
}

const resolve = (root: JsonObject, reference: string): Json | undefined => {
  if (!reference.startsWith("#/")) return undefined
  let at: Json | undefined = root
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~")
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }
  return at
}

/** The type in the subset's form, and whether null is among the types; null when there is not exactly one type. */
const typeOf = (schema: JsonObject): { readonly type: string; readonly nullable: boolean } | null => {
  const given = schema["type"]
  const words = (isArray(given) ? given : [given]).map((word) => stringOr(word)?.toLowerCase() ?? "")
  const named = words.filter((word) => word !== "null")
  const nullable = named.length < words.length || schema["nullable"] === true
  const [word] = named
  if (named.length !== 1 || word === undefined) return null
  if (word !== "") return Object.hasOwn(types, word) ? { type: types[word] ?? "", nullable } : null
  if (given !== undefined && given !== null) return null
  if (isObject(schema["properties"])) return { type: "OBJECT", nullable }
  if (isObject(schema["items"])) return { type: "ARRAY", nullable }
  return isArray(schema["enum"]) || typeof schema["const"] === "string" ? { type: "STRING", nullable } : null
}

const cleanProperties = (properties: JsonObject, walk: Walk): Cleaned | null => {
  const cleaned: Array<[string, Json]> = []
  for (const [name, property] of Object.entries(properties)) {
    const schema = clean(property ?? null, walk)
    if (schema === null) return null
    cleaned.push([name, schema])
  }
  // An object without properties is refused.
  return cleaned.length === 0 ? null : Object.fromEntries(cleaned)
}

const requiredOf = (schema: JsonObject): Cleaned => {
  const { properties, required } = schema
  const names = isArray(required)
    ? required.filter((name) => typeof name === "string" && isObject(properties) && Object.hasOwn(properties, name))
    : []
  return names.length === 0 ? {} : { required: names }
}

/** `enum` and `const`: strings only. */
const enumOf = (schema: JsonObject, type: string): (Cleaned & { readonly nullable?: true }) | null => {
  const values = schema["const"] === undefined ? schema["enum"] : [schema["const"]]
  if (values === undefined) return {}
  if (!isArray(values) || type !== "STRING") return null
  const texts = values.filter((value) => value !== null)
  if (texts.length === 0 || texts.some((value) => typeof value !== "string" || value === "")) return null
  return { enum: texts, ...(texts.length < values.length ? { nullable: true } : {}) }
}

/** One keyword besides type, enum and alternatives; null when the subset cannot express it. */
const cleanKeyword = (key: string, value: Json, type: string, walk: Walk): Cleaned | null => {
  if (kept.has(key)) return { [key]: value }
  if (readWithType.has(key) || isIgnored(key)) return {}
  switch (key) {
    case "properties": {
      const properties = isObject(value) && type === "OBJECT" ? cleanProperties(value, walk) : null
      return properties === null ? null : { properties }
    }
    case "items": {
      const items = type === "ARRAY" ? clean(value, walk) : null
      return items === null ? null : { items }
    }
    case "additionalProperties":
      return typeof value === "boolean" ? {} : null
    case "exclusiveMinimum":
      return typeof value === "number" && type === "INTEGER" ? { minimum: Math.floor(value) + 1 } : null
    case "exclusiveMaximum":
      return typeof value === "number" && type === "INTEGER" ? { maximum: Math.ceil(value) - 1 } : null
    default:
      return null
  }
}

const cleanTyped = (schema: JsonObject, walk: Walk): Cleaned | null => {
  const typed = typeOf(schema)
  if (typed === null) return null
  const values = enumOf(schema, typed.type)
  if (values === null) return null
  const cleaned: Cleaned = { type: typed.type }
  const format = stringOr(schema["format"])
  if (format !== null && formats[typed.type]?.has(format) === true) cleaned["format"] = format
  for (const [key, value] of Object.entries(schema)) {
    const said = value === undefined ? {} : cleanKeyword(key, value, typed.type, walk)
    if (said === null) return null
    Object.assign(cleaned, said)
  }
  const bare = typed.type === "OBJECT" ? cleaned["properties"] : typed.type === "ARRAY" ? cleaned["items"] : cleaned
  if (bare === undefined) return null
  return { ...cleaned, ...requiredOf(schema), ...values, ...(typed.nullable ? { nullable: true } : {}) }
}

const isNullType = (schema: Json): boolean => isObject(schema) && schema["type"] === "null"

/** `anyOf`, or `oneOf`, which means the same to a model that generates a value. Next to them only annotations are allowed. */
const cleanAlternatives = (schema: JsonObject, alternatives: Json | undefined, walk: Walk): Cleaned | null => {
  if (!isArray(alternatives)) return null
  const { anyOf: _any, description, nullable, oneOf: _one, title, ...rest } = schema
  if (!Object.keys(rest).every(isIgnored)) return null
  const schemas: Array<Cleaned> = []
  for (const alternative of alternatives) {
    const cleaned = isNullType(alternative) ? {} : clean(alternative, walk)
    if (cleaned === null) return null
    if (!isNullType(alternative)) schemas.push(cleaned)
  }
  const [only] = schemas
  if (only === undefined) return null
  return {
    ...(schemas.length === 1 ? only : { anyOf: schemas }),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(nullable === true || schemas.length < alternatives.length ? { nullable: true } : {})
  }
}

const cleanReference = (schema: JsonObject, reference: string, walk: Walk): Cleaned | null => {
  const target = resolve(walk.root, reference)
  if (!isObject(target) || walk.following.has(reference)) return null
  const { $ref: _reference, ...beside } = schema
  return clean({ ...target, ...beside }, { ...walk, following: new Set([...walk.following, reference]) })
}

const clean = (schema: Json, outer: Walk): Cleaned | null => {
  outer.budget.nodes += 1
  if (!isObject(schema) || outer.depth > maxDepth || outer.budget.nodes > maxNodes) return null
  const walk = { ...outer, depth: outer.depth + 1 }
  const reference = schema["$ref"]
  if (typeof reference === "string") return cleanReference(schema, reference, walk)
  const alternatives = schema["anyOf"] ?? schema["oneOf"]
  return alternatives === undefined ? cleanTyped(schema, walk) : cleanAlternatives(schema, alternatives, walk)
}

/** A JSON Schema in the subset; null when the subset cannot express it. */
export const toOpenApi = (schema: JsonObject): JsonObject | null =>
  clean(schema, { root: schema, following: new Set(), depth: 0, budget: { nodes: 0 } })

const isEmpty = (value: Json | undefined): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0

/** Checks whether it is the schema of a tool without arguments, which the wire leaves out. */
export const isEmptyObject = ({ $schema: _schema, ...schema }: JsonObject): boolean =>
  Object.entries(schema).every(([key, value]) => {
    switch (key) {
      case "type":
        return value === "object"
      case "additionalProperties":
        return value === false
      case "properties":
      case "required":
        return isEmpty(value)
      default:
        return false
    }
  })

/** Counts are 64-bit numbers, which the wire writes as strings. */
const counts = new Set(["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"])

const readKeyword = (key: string, value: Json, depth: number): Json | undefined => {
  switch (key) {
    case "type":
      return undefined
    case "properties":
      return isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, property]) => [name, read(property ?? null, depth)]))
        : value
    case "items":
    case "additionalProperties":
      return read(value, depth)
    case "anyOf":
      return isArray(value) ? value.map((alternative) => read(alternative, depth)) : value
    default:
      return counts.has(key) && typeof value === "string" ? (numberOr(Number(value)) ?? value) : value
  }
}

/** Applies `propertyOrdering`, which JSON Schema does not have, to the order of the properties. */
const inOrder = (properties: Json | undefined, ordering: Json | undefined): Json | undefined => {
  if (!isObject(properties) || !isArray(ordering)) return properties
  const names = ordering.filter((name) => typeof name === "string").filter((name) => Object.hasOwn(properties, name))
  const first = new Set(names)
  const rest = Object.keys(properties).filter((name) => !first.has(name))
  return Object.fromEntries([...first, ...rest].map((name) => [name, properties[name]]))
}

const read = (schema: Json, outerDepth: number): Json => {
  if (!isObject(schema) || outerDepth > maxDepth) return schema
  const source = camel(schema)
  const word = stringOr(source["type"])?.toLowerCase()
  const named = word === undefined || word === "type_unspecified" ? undefined : word
  const nullable = source["nullable"] === true
  const type = named === undefined ? (source["type"] ?? undefined) : nullable ? [named, "null"] : named
  const result: Record<string, Json | undefined> = {}
  if (type !== undefined && word !== "type_unspecified") result["type"] = type
  for (const [key, value] of Object.entries(source)) {
    if (value === undefined || value === null || key === "nullable" || key === "propertyOrdering") continue
    const said = readKeyword(key, value, outerDepth + 1)
    if (said !== undefined) result[key] = said
  }
  const ordered = inOrder(result["properties"], source["propertyOrdering"])
  if (ordered !== undefined) result["properties"] = ordered
  const values = result["enum"]
  if (nullable && isArray(values) && !values.includes(null)) result["enum"] = [...values, null]
  if (nullable && named === undefined && isArray(result["anyOf"])) {
    result["anyOf"] = [...result["anyOf"], { type: "null" }]
  }
  return result
}

/** A schema of the subset as JSON Schema. One that already is JSON Schema is not changed. */
export const fromOpenApi = (schema: JsonObject): JsonObject => {
  const result = read(schema, 0)
  return isObject(result) ? result : schema
}
