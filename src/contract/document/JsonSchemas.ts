/** JSON schemas of the OpenAPI document: what the library writes, made plain. All functions are pure and give new objects. */

export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonMap
export interface JsonMap {
  readonly [key: string]: Json
}

export type Definitions = Readonly<Record<string, JsonMap>>

export const isMap = (value: Json | undefined): value is JsonMap =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The object a value is; empty when it is none. */
export const asMap = (value: Json | undefined): JsonMap => (isMap(value) ? value : {})

/** The list a value is; empty when it is none. */
export const listOf = (value: Json | undefined): ReadonlyArray<Json> =>
  Array.isArray(value) ? (value as ReadonlyArray<Json>) : []

const isEmpty = (value: Json): boolean => Object.keys(value as object).length === 0

/** Members that hold schemas by name: their keys are names, not keywords. */
const byName = new Set(["properties", "$defs", "patternProperties"])

/** Members that hold values: nothing in them is a schema. */
const values = new Set(["examples", "example", "default", "enum", "const"])

/** The words of a field whose type has them instead of the field. */
const withWords = (schema: JsonMap): JsonMap => {
  const [first] = listOf(schema["anyOf"])
  const { description } = asMap(first)
  return schema["description"] === undefined && description !== undefined ? { ...schema, description } : schema
}

/** `anyOf` of a plain type and null, as one schema of two types. */
const nullable = (given: JsonMap): JsonMap => {
  const schema = withWords(given)
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema
  const [first, second] = anyOf as ReadonlyArray<Json>
  if (!isMap(first) || !isMap(second) || second["type"] !== "null" || Object.keys(second).length !== 1) return schema
  if (typeof first["type"] !== "string" || "enum" in first || "default" in first) return schema
  if (schema !== given) return schema
  return { ...first, ...rest, type: [first["type"], "null"] }
}

/** Title of a type whose values are secrets. Titles of types are for readers of the library only. */
export const secretTitle = "gateway/secret"

/** Title of a text that may be long. */
export const longTitle = "gateway/long"

/** A map or a list of secrets has an example of them itself. */
const withEntryExample = (schema: JsonMap): JsonMap => {
  const { additionalProperties, examples, items } = schema
  const inner = asMap(additionalProperties ?? items)
  const [example] = listOf(inner["examples"])
  if (example === undefined || examples !== undefined || inner["format"] !== "password") return schema
  return { ...schema, examples: [items === undefined ? { NAME: example } : [example]] }
}

const cleanMembers = (schemas: JsonMap): JsonMap =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, clean(schema)]))

/**
 * Removes members that are for readers of the library only: ids and titles of its own types ("int", "between(1, 10)"), empty lists, and
 * the schema of "anything", which is the empty schema.
 */
export const clean = (schema: Json): Json => {
  if (Array.isArray(schema)) return schema.map(clean)
  if (!isMap(schema)) return schema
  if (typeof schema["$id"] === "string") {
    const { description, examples } = schema
    const kept = schema["$id"] === "/schemas/object" ? { type: "object" } : {}
    return {
      ...kept,
      ...(description === undefined ? {} : { description }),
      ...(examples === undefined ? {} : { examples })
    }
  }
  const members: Record<string, Json> = {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === "title" || key === "$comment" || key === "$schema") continue
    if ((key === "required" || key === "properties") && isEmpty(value)) continue
    members[key] = values.has(key) ? value : byName.has(key) && isMap(value) ? cleanMembers(value) : clean(value)
  }
  const { title } = schema
  if (title === longTitle) members["x-multiline"] = true
  const secret = { examples: ["a-secret-value"], ...members, format: "password", writeOnly: true }
  return nullable(title === secretTitle ? secret : withEntryExample(members))
}

const prefix = "#/components/schemas/"

/** The name a schema refers to; null when it is none of the document's. */
export const referredBy = (schema: JsonMap): string | null => {
  const { $ref: reference } = schema
  return typeof reference === "string" && reference.startsWith(prefix) ? reference.slice(prefix.length) : null
}

export const refer = (name: string): JsonMap => ({ $ref: prefix + name })

/** Schemas of single values under a name of the library ("Int"): what refers to them has them in place. */
const scalars = new Set(["string", "number", "integer"])

const isScalar = (schema: JsonMap | undefined): schema is JsonMap =>
  schema !== undefined && scalars.has(String(schema["type"])) && !("enum" in schema)

/** The schema with single values in place of references to them, and references beside their words instead of wrapped into a list. */
export const inlined =
  (definitions: Definitions) =>
  (schema: Json): Json => {
    if (Array.isArray(schema)) return schema.map(inlined(definitions))
    if (!isMap(schema)) return schema
    const { allOf, ...rest } = Object.fromEntries(
      Object.entries(schema).map(([key, value]) => [key, values.has(key) ? value : inlined(definitions)(value)])
    ) as JsonMap
    const [only, ...more] = Array.isArray(allOf) ? (allOf as ReadonlyArray<Json>) : []
    const unwrapped: JsonMap = {
      ...(isMap(only) && more.length === 0 ? only : allOf === undefined ? {} : { allOf }),
      ...rest
    }
    const name = referredBy(unwrapped)
    const target = name === null ? undefined : definitions[name]
    if (!isScalar(target)) return unwrapped
    const { $ref: _reference, ...own } = unwrapped
    return { ...target, ...own }
  }

/** Names of all schemas that a part of the document refers to, directly or by others. */
export const namesWithin = (part: Json, definitions: Definitions, found = new Set<string>()): Set<string> => {
  if (Array.isArray(part)) for (const entry of part as ReadonlyArray<Json>) namesWithin(entry, definitions, found)
  else if (isMap(part)) {
    const name = referredBy(part)
    if (name !== null && !found.has(name)) {
      found.add(name)
      namesWithin(definitions[name] ?? {}, definitions, found)
    }
    for (const value of Object.values(part)) namesWithin(value, definitions, found)
  }
  return found
}

/** Objects take the members they name and no others, at every depth. Schemas that are referred to are left as they are. */
export const closed = (schema: Json): Json => {
  if (Array.isArray(schema)) return schema.map(closed)
  if (!isMap(schema)) return schema
  const members = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      values.has(key)
        ? value
        : byName.has(key) && isMap(value)
          ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, closed(inner)]))
          : closed(value)
    ])
  )
  const isClosed = isMap(schema["properties"]) && !isMap(schema["additionalProperties"])
  return isClosed ? { ...members, additionalProperties: false } : members
}

const isNull = (schema: Json): boolean => isMap(schema) && schema["type"] === "null"

/**
 * A value of a schema: its own example, else made from the examples of its parts. Undefined when a part has none, which a test of the
 * document reports.
 */
export const exampleOf = (schema: Json, definitions: Definitions): Json | undefined => {
  if (!isMap(schema)) return undefined
  const { anyOf, const: constant, default: usual, enum: words, examples, items, minimum, properties } = schema
  const [type] = [schema["type"]].flat()
  if (Array.isArray(examples)) return examples[0]
  if (usual !== undefined) return usual
  const name = referredBy(schema)
  if (name !== null) return exampleOf(definitions[name] ?? {}, definitions)
  if (constant !== undefined) return constant
  if (Array.isArray(words)) return words[0]
  if (Array.isArray(anyOf))
    return exampleOf(
      anyOf.find((member) => !isNull(member)),
      definitions
    )
  if (type === "boolean") return true
  if (minimum !== undefined) return minimum
  if (type === "array" && isMap(items)) {
    const item = exampleOf(items, definitions)
    return item === undefined ? undefined : [item]
  }
  if (type !== "object" || !isMap(properties)) return undefined
  const members = Object.entries(properties).map(([key, value]) => [key, exampleOf(value, definitions)] as const)
  return members.some(([, value]) => value === undefined)
    ? undefined
    : (Object.fromEntries(members) as Record<string, Json>)
}
