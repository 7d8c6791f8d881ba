/** Tools as `tools/list` shows them: with their schemas whole, or short enough for the context of a model. Pure. */
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../../wire/json/Json.ts"
import type { ListWish, Tool } from "./Tool.ts"

/** Beginning of the address at which all of a tool can be read. */
export const toolUri = "gateway://tools/"

export const viewOf = (tool: Tool): JsonObject => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: tool.inputSchema,
  ...(tool.outputSchema === null ? {} : { outputSchema: tool.outputSchema }),
  annotations: {
    title: tool.title,
    readOnlyHint: tool.effect === "read",
    destructiveHint: tool.effect === "destroy",
    idempotentHint: tool.effect === "read" || tool.isIdempotent,
    openWorldHint: tool.isOpenWorld
  },
  ...tool.passed
})

const mostSentenceChars = 160
/** Characters of one input of a short schema, with what it refers to; of a larger one only its type and what it is for are shown. */
const mostInputChars = 600

/** The first sentence. */
const firstSentence = (text: string): string => {
  const end = text.search(/[.!?](?:\s|$)/)
  const first = end === -1 ? text : text.slice(0, end + 1)
  return first.length > mostSentenceChars ? `${first.slice(0, mostSentenceChars - 1)}…` : first
}

/** A schema without examples, and with first sentences only. */
const withoutWords = (schema: Json): Json => {
  if (isArray(schema)) return schema.map(withoutWords)
  if (!isObject(schema)) return schema
  const short: Record<string, Json> = {}
  for (const [name, value] of Object.entries(schema)) {
    if (name === "examples" && isArray(value)) continue
    short[name] =
      name === "description" && typeof value === "string" ? firstSentence(value) : withoutWords(value ?? null)
  }
  return short
}

const refPrefix = "#/$defs/"

/** The names of the definitions that a schema refers to. */
const referred = (schema: Json): ReadonlyArray<string> => {
  if (isArray(schema)) return schema.flatMap(referred)
  if (!isObject(schema)) return []
  return Object.entries(schema).flatMap(([name, value]) =>
    name === "$ref" && typeof value === "string" && value.startsWith(refPrefix)
      ? [value.slice(refPrefix.length)]
      : referred(value ?? null)
  )
}

/** The same with those that they refer to in turn. */
const reached = (schema: Json, definitions: JsonObject): ReadonlySet<string> => {
  const names = new Set(referred(schema))
  for (const name of names) for (const next of referred(definitions[name] ?? null)) names.add(next)
  return names
}

/** Reduces an input that is too large to its type, where it has one, and its description. */
const outlined = (schema: JsonObject, definitions: JsonObject): JsonObject => {
  const reference = stringOr(schema["$ref"])
  const target = reference === null ? schema : objectOr(definitions[reference.replace(refPrefix, "")])
  const { type } = target
  const description = stringOr(schema["description"]) ?? stringOr(target["description"])
  return { ...(type === undefined ? {} : { type }), ...(description === null ? {} : { description }) }
}

/** The input schema with short words, and whether inputs were taken out of it that are not described whole any more. */
const shortened = (schema: JsonObject): { readonly schema: JsonObject; readonly isOutlined: boolean } => {
  const { $defs, properties, ...rest } = objectOr(withoutWords(schema))
  const definitions = objectOr($defs)
  let isOutlined = false
  const sizeOf = (one: Json): number =>
    [...reached(one, definitions)].reduce(
      (sum, name) => sum + JSON.stringify(definitions[name] ?? null).length,
      JSON.stringify(one).length
    )
  const inputs = Object.fromEntries(
    Object.entries(objectOr(properties)).map(([name, one]) => {
      if (one === undefined || sizeOf(one) <= mostInputChars) return [name, one ?? null]
      isOutlined = true
      return [name, outlined(objectOr(one), definitions)]
    })
  )
  const kept = [...reached([inputs, rest], definitions)].map((name) => [name, definitions[name] ?? null])
  return {
    isOutlined,
    schema: {
      ...rest,
      ...(properties === undefined ? {} : { properties: inputs }),
      ...(kept.length === 0 ? {} : { $defs: Object.fromEntries(kept) as JsonObject })
    }
  }
}

/** Schemas are made once for a tool. */
const shortSchemas = new WeakMap<Tool, ReturnType<typeof shortened>>()
const shortSchemaOf = (tool: Tool): ReturnType<typeof shortened> => {
  const known = shortSchemas.get(tool)
  if (known !== undefined) return known
  const made = shortened(tool.inputSchema)
  shortSchemas.set(tool, made)
  return made
}

/** A tool in the list that a client wants; `isBrief`: descriptions are cut to their first sentences too. */
export const listedAs = (tool: Tool, { schemas }: ListWish, isBrief: boolean): JsonObject => {
  const form = schemas ?? "short"
  if (form === "full") return viewOf(tool)
  const { outputSchema: _, ...view } = viewOf(tool)
  // The text of another server is passed on as they are, unless the operator wants lists brief.
  if (form === "input" || (tool.server !== undefined && !isBrief)) return view
  const { isOutlined, schema } = shortSchemaOf(tool)
  const description = isBrief ? firstSentence(tool.description) : tool.description
  return {
    ...view,
    description: isOutlined ? `${description} Whole schema: ${toolUri}${tool.name}` : description,
    inputSchema: schema
  }
}
