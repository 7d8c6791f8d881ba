/**
 * Schemas of tools whose root is a union: some makers refuse `anyOf`, `oneOf` and `allOf` there whatever the rest
 * (https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use,
 * https://developers.openai.com/api/docs/guides/structured-outputs#root-objects-must-not-be-anyof). The branches become one object: members of
 * all, and required what every branch requires. Pure, linear in the schema.
 */
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../../json/Json.ts"

const unions = ["anyOf", "oneOf", "allOf"] as const

/** Branches in branches, and references to references. */
const maxDepth = 8
/** Branches that are looked at in all. */
const maxBranches = 1_000

export const hasUnion = (schema: JsonObject | undefined): boolean =>
  schema !== undefined && unions.some((union) => isArray(schema[union]))

interface Shape {
  readonly properties: ReadonlyMap<string, ReadonlyArray<Json>>
  readonly required: ReadonlySet<string>
  /** Further members are allowed. */
  readonly isOpen: boolean
}

const addTo = (into: Map<string, Array<Json>>, name: string, schema: Json): void => {
  const known = into.get(name)
  if (known === undefined) into.set(name, [schema])
  else if (!known.some((other) => JSON.stringify(other) === JSON.stringify(schema))) known.push(schema)
}

const namesIn = (value: Json | undefined): ReadonlySet<string> =>
  new Set(isArray(value) ? value.flatMap((name) => stringOr(name) ?? []) : [])

const joined = (shapes: ReadonlyArray<Shape>, required: ReadonlySet<string>, isOpen: boolean): Shape => {
  const properties = new Map<string, Array<Json>>()
  for (const shape of shapes)
    for (const [name, schemas] of shape.properties) for (const schema of schemas) addTo(properties, name, schema)
  return { properties, required, isOpen }
}

const everyOf = (shapes: ReadonlyArray<Shape>): Shape =>
  joined(
    shapes,
    new Set(shapes.flatMap(({ required }) => [...required])),
    shapes.every(({ isOpen }) => isOpen)
  )

const anyOf = (shapes: ReadonlyArray<Shape>): Shape => {
  const [first, ...others] = shapes
  const shared = [...(first?.required ?? [])].filter((name) => others.every(({ required }) => required.has(name)))
  return joined(
    shapes,
    new Set(shared),
    shapes.some(({ isOpen }) => isOpen)
  )
}

class Reader {
  readonly #root: JsonObject
  #branches = 0

  constructor(root: JsonObject) {
    this.#root = root
  }

  /** Resolves a reference inside of the schema. */
  #resolved(schema: JsonObject): JsonObject {
    const path = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(stringOr(schema["$ref"]) ?? "")
    const defs = path === null ? undefined : this.#root[path[1] ?? ""]
    const found = isObject(defs) ? defs[path?.[2] ?? ""] : undefined
    return isObject(found) ? found : schema
  }

  shape(given: JsonObject, depth = 0): Shape {
    const schema = this.#resolved(given)
    const { additionalProperties, properties, required } = schema
    const own: Shape = {
      properties: new Map(
        isObject(properties) ? Object.entries(properties).map(([name, value]) => [name, [value ?? {}]]) : []
      ),
      required: namesIn(required),
      isOpen: additionalProperties !== false
    }
    if (depth >= maxDepth) return own
    const parts = unions.flatMap((union): ReadonlyArray<Shape> => {
      const branches = this.#branchesOf(schema[union], depth)
      if (branches.length === 0) return []
      return [union === "allOf" ? everyOf(branches) : anyOf(branches)]
    })
    // A branch that is closed names its own members only; together they are closed when each is.
    const isOpen =
      parts.length === 0
        ? own.isOpen
        : additionalProperties === undefined
          ? parts.every((part) => part.isOpen)
          : own.isOpen
    return parts.length === 0 ? own : { ...everyOf([own, ...parts]), isOpen }
  }

  /** Branches that are objects: no other value can be a tool's arguments. */
  #branchesOf(branches: Json | undefined, depth: number): ReadonlyArray<Shape> {
    if (!isArray(branches)) return []
    return branches.flatMap((branch) => {
      this.#branches += 1
      if (!isObject(branch) || this.#branches > maxBranches) return []
      const { type } = this.#resolved(branch)
      const isObjectType = type === undefined || type === "object" || (isArray(type) && type.includes("object"))
      return isObjectType ? this.shape(branch, depth + 1) : []
    })
  }
}

const schemaOf = (schemas: ReadonlyArray<Json>): Json => {
  const [only = {}] = schemas
  return schemas.length === 1 ? only : { anyOf: schemas }
}

/** The schema with its branches as one object; the same object where its root is no union. */
export const withoutUnion = (schema: JsonObject): JsonObject => {
  if (!hasUnion(schema)) return schema
  const { properties, required, isOpen } = new Reader(schema).shape(schema)
  const { allOf: _all, anyOf: _any, oneOf: _one, ...rest } = schema
  return {
    ...rest,
    type: "object",
    properties: Object.fromEntries([...properties].map(([name, schemas]) => [name, schemaOf(schemas)])),
    ...(required.size === 0 ? {} : { required: [...required] }),
    ...(isOpen ? {} : { additionalProperties: false })
  }
}
