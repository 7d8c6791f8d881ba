/** Reads the operations of the service for skills from the OpenAPI document. Pure. */
import { asMap, isMap, type Json, type JsonMap, listOf, referredBy } from "../../contract/document/JsonSchemas.ts"
import type { Tier } from "../../contract/tiers/Tier.ts"

/** A field of a body, an answer or a query. */
export interface Field {
  /** Nested fields with dots. */
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly meaning: string
}

export interface Parameter {
  readonly name: string
  readonly in: "path" | "query"
  readonly required: boolean
  readonly type: string
  readonly meaning: string
  readonly example: Json
}

export interface Body {
  readonly contentType: string
  readonly example: Json
  readonly fields: ReadonlyArray<Field>
}

export interface SkillOperation {
  readonly method: string
  /** `{name}` stands for one segment. */
  readonly path: string
  readonly tier: Tier
  readonly summary: string
  readonly description: string
  readonly parameters: ReadonlyArray<Parameter>
  /** Null: none is sent. */
  readonly body: Body | null
  /** Fields of the answer that is a success. */
  readonly answer: ReadonlyArray<Field>
  readonly status: string
}

/** Depth to which nested fields are described. */
const maxDepth = 2

const resolved = (schema: Json | undefined, schemas: JsonMap): JsonMap => {
  const map = asMap(schema)
  const name = referredBy(map)
  return name === null ? map : { ...asMap(schemas[name]), ...(map["description"] === undefined ? {} : map) }
}

const typeOf = (schema: Json | undefined, schemas: JsonMap): string => {
  const map = resolved(schema, schemas)
  const choices = [...listOf(map["enum"]), ...("const" in map ? [map["const"] ?? null] : [])]
  if (choices.length > 0) return choices.map((value) => JSON.stringify(value)).join(" or ")
  const branches = [...listOf(map["anyOf"]), ...listOf(map["oneOf"])]
  if (branches.length > 0) return [...new Set(branches.map((branch) => typeOf(branch, schemas)))].join(" or ")
  const type = map["type"]
  if (type === "array") return `list of ${typeOf(map["items"], schemas)}`
  if (Array.isArray(type)) return type.join(" or ")
  return typeof type === "string" ? type : "anything"
}

/** The schema within a list, or of the one branch that is no null: where fields are. */
const within = (schema: Json | undefined, schemas: JsonMap): JsonMap => {
  const map = resolved(schema, schemas)
  if (map["type"] === "array") return within(map["items"], schemas)
  const branches = listOf(map["anyOf"]).filter((branch) => asMap(branch)["type"] !== "null")
  return branches.length === 1 ? within(branches[0], schemas) : map
}

const fieldsOf = (schema: Json | undefined, schemas: JsonMap, before = "", depth = 1): ReadonlyArray<Field> => {
  const { properties, required } = within(schema, schemas)
  const fields: Array<Field> = []
  for (const [name, property] of Object.entries(asMap(properties))) {
    fields.push({
      name: before + name,
      type: typeOf(property, schemas),
      required: listOf(required).includes(name),
      meaning: String(asMap(property)["description"] ?? resolved(property, schemas)["description"] ?? "")
    })
    if (depth < maxDepth) fields.push(...fieldsOf(property, schemas, `${before}${name}.`, depth + 1))
  }
  return fields
}

const parameterOf = (parameter: JsonMap, schemas: JsonMap): Parameter | null => {
  const { description = "", example = null, in: place, name, required, schema } = parameter
  if (place !== "path" && place !== "query") return null
  return {
    name: String(name),
    in: place,
    required: required === true,
    type: typeOf(schema, schemas),
    meaning: String(description),
    example
  }
}

const bodyOf = (body: Json | undefined, schemas: JsonMap): Body | null => {
  const [first] = Object.entries(asMap(asMap(body)["content"]))
  if (first === undefined) return null
  const [contentType, media] = first
  const { example = null, schema } = asMap(media)
  return { contentType, example, fields: fieldsOf(schema, schemas) }
}

export const operationOf = (document: JsonMap, method: string, path: string, tier: Tier): SkillOperation | null => {
  const operation = asMap(document["paths"])[path]
  const found = asMap(asMap(operation)[method.toLowerCase()])
  if (!isMap(operation) || found["operationId"] === undefined) return null
  const schemas = asMap(asMap(document["components"])["schemas"])
  const [status = "200", answer] = Object.entries(asMap(found["responses"])).find(([code]) => code < "300") ?? []
  return {
    method,
    path,
    tier,
    summary: String(found["summary"] ?? ""),
    description: String(found["description"] ?? ""),
    parameters: listOf(found["parameters"]).flatMap((each) => parameterOf(asMap(each), schemas) ?? []),
    body: bodyOf(found["requestBody"], schemas),
    answer: fieldsOf(asMap(asMap(asMap(answer)["content"])["application/json"])["schema"], schemas),
    status
  }
}
