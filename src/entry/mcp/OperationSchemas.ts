/** The input and output of endpoints as schemas of tools, made of what the API document says about them. Pure. */
import { type Written, write } from "../../contract/document/Written.ts"
import {
  asMap,
  closed,
  type Json,
  type JsonMap,
  listOf,
  namesWithin,
  referredBy
} from "../../contract/document/JsonSchemas.ts"
import type { ManagementKey } from "../../contract/ManagementRoutes.ts"

/** Place in which the endpoint takes an input. */
export type Place = "path" | "query" | "body"

export interface OperationSchemas {
  readonly summary: string
  readonly description: string
  readonly input: JsonMap
  /** Null: the answer has no body, or one that is no object. */
  readonly output: JsonMap | null
  readonly places: ReadonlyMap<string, Place>
  readonly hasBody: boolean
}

interface Field {
  readonly name: string
  readonly place: Place
  readonly schema: Json
  readonly isRequired: boolean
}

const refPrefix = "#/components/schemas/"

/** References into the document, as references into the schema's own definitions. */
const local = (part: Json): Json => {
  if (Array.isArray(part)) return part.map(local)
  if (typeof part !== "object" || part === null) return part
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [
      key,
      key === "$ref" && typeof value === "string" && value.startsWith(refPrefix)
        ? `#/$defs/${value.slice(refPrefix.length)}`
        : local(value)
    ])
  )
}

/** The schema with all that it refers to. */
const standalone = (schema: JsonMap, { schemas }: Written): JsonMap => {
  const names = [...namesWithin(schema, schemas)]
  const definitions = Object.fromEntries(names.map((name) => [name, local(schemas[name] ?? {})]))
  return { ...asMap(local(schema)), ...(names.length === 0 ? {} : { $defs: definitions }) }
}

const resolved = (schema: JsonMap, { schemas }: Written): JsonMap => {
  const name = referredBy(schema)
  return name === null ? schema : (schemas[name] ?? {})
}

const jsonSchemaOf = (content: Json | undefined): JsonMap =>
  asMap(asMap(asMap(asMap(content)["content"])["application/json"])["schema"])

const isNull = (schema: Json): boolean => asMap(schema)["type"] === "null"

/** A body that may be null is one that may be left out. */
const bodySchemaOf = (requestBody: Json | undefined, written: Written): JsonMap => {
  const schema = jsonSchemaOf(requestBody)
  const branch = listOf(schema["anyOf"]).find((one) => !isNull(one))
  return resolved(branch === undefined ? schema : asMap(branch), written)
}

const parameterFields = (parameters: Json | undefined): ReadonlyArray<Field> =>
  listOf(parameters).map((parameter) => {
    const { description, in: place, name, required, schema } = asMap(parameter)
    const words = description === undefined ? {} : { description }
    return {
      name: String(name),
      place: place === "path" ? "path" : "query",
      schema: { ...words, ...asMap(schema) },
      isRequired: required === true
    }
  })

const bodyFields = (schema: JsonMap): ReadonlyArray<Field> => {
  const required = new Set(listOf(schema["required"]))
  return Object.entries(asMap(schema["properties"])).map(([name, property]) => ({
    name,
    place: "body",
    schema: property,
    isRequired: required.has(name)
  }))
}

const answerOf = (responses: Json | undefined, written: Written): JsonMap | null => {
  const success = Object.entries(asMap(responses)).find(([status]) => status.startsWith("2"))
  const schema = jsonSchemaOf(success?.[1])
  const object = resolved(schema, written)
  return object["type"] === "object" ? standalone(object, written) : null
}

let cached: Written | null = null

export interface Chosen {
  /** The inputs a tool has; absent: all. */
  readonly only?: ReadonlyArray<string>
  /** Inputs that it needs although the endpoint does not. */
  readonly required?: ReadonlyArray<string>
}

export const schemasOf = (key: ManagementKey, { only, required: more = [] }: Chosen = {}): OperationSchemas => {
  const written = (cached ??= write())
  const { operation } = written.operationOf(key)
  const body = bodySchemaOf(operation["requestBody"], written)
  const byName = new Map<string, Field>()
  const parameters = parameterFields(operation["parameters"])
  const [inQuery, inPath] = ["query", "path"].map((place) => parameters.filter((one) => one.place === place))
  // Of one name at several places, the last counts.
  for (const one of [...(inQuery ?? []), ...bodyFields(body), ...(inPath ?? [])]) {
    if (only === undefined || only.includes(one.name)) byName.set(one.name, one)
  }
  const fields = [...byName.values()]
  const required = fields.filter(({ isRequired, name }) => isRequired || more.includes(name)).map(({ name }) => name)
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]))
  return {
    summary: String(operation["summary"] ?? ""),
    description: String(operation["description"] ?? ""),
    input: standalone(
      asMap(closed({ type: "object", properties, ...(required.length === 0 ? {} : { required }) })),
      written
    ),
    output: answerOf(operation["responses"], written),
    places: new Map(fields.map(({ name, place }) => [name, place])),
    hasBody: operation["requestBody"] !== undefined
  }
}
