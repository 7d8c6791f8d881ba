/**
 * Operations of the contract as the library writes them, by `<group>.<endpoint>`, and the schemas they refer to,
 * simplified.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as OpenApi from "@effect/platform/OpenApi"
import * as JsonSchema from "@effect/platform/OpenApiJsonSchema"
import * as Context from "effect/Context"
import * as JSONSchema from "effect/JSONSchema"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import { ComboConfig } from "../../subjects/combos/entity/ConfigSchema.ts"
import { GatewayApi } from "../Api.ts"
import { CompatApi } from "../CompatApi.ts"
import { DocumentedQuery } from "../compat/Described.ts"
import { wireErrorSchemas } from "../compat/WireErrors.ts"
import { IsPaged, RequestExample } from "../Endpoints.ts"
import { PageQuery } from "../Inputs.ts"
import { ListedBy, listQuery } from "../Listing.ts"
import { withDescribedBodies } from "./DescribedBodies.ts"
import { asMap, clean, type Definitions, inlined, type Json, listOf, type JsonMap } from "./JsonSchemas.ts"

export interface WrittenOperation {
  readonly operation: JsonMap
  /** A body as clients send it; undefined: it is made from the examples of its fields. */
  readonly example: Json | undefined
}

export interface Written {
  readonly operationOf: (name: string) => WrittenOperation
  readonly schemas: Definitions
  readonly tags: ReadonlyArray<Json>
  readonly securitySchemes: JsonMap
}

interface Facts {
  readonly example: Json | undefined
  readonly query: ReadonlyArray<Schema.Schema.All>
}

const contract = () => withDescribedBodies(GatewayApi.addHttpApi(CompatApi))

/** Facts of an operation in the contract that the library does not write. */
const factsOf = (api: ReturnType<typeof contract>): ReadonlyMap<string, Facts> => {
  const facts = new Map<string, Facts>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { annotations, name }, group }) => {
      facts.set(`${group.identifier}.${name}`, {
        example: Option.getOrUndefined(Context.getOption(annotations, RequestExample)) as Json | undefined,
        query: [
          ...Option.match(Context.getOption(annotations, ListedBy), {
            onSome: (listing) => [listQuery(listing)],
            onNone: () => (Context.get(annotations, IsPaged) ? [PageQuery] : [])
          }),
          ...Option.toArray(Context.getOption(annotations, DocumentedQuery))
        ]
      })
    }
  })
  return facts
}

const defsPath = "#/components/schemas/"

const queryParameters = (schema: Schema.Schema.All, defs: Record<string, Json>): ReadonlyArray<JsonMap> => {
  const { properties, required } = JsonSchema.makeWithDefs(schema as Schema.Schema<unknown>, {
    defs,
    defsPath
  }) as unknown as JsonMap
  return Object.entries(asMap(properties)).map(([name, property]) => ({
    name,
    in: "query",
    required: listOf(required).includes(name),
    schema: property
  }))
}

/** Leaves examples as they are. */
const tidied = (part: Json, tidy: (schema: Json) => Json): Json => {
  if (Array.isArray(part)) return part.map((entry) => tidied(entry, tidy))
  if (typeof part !== "object" || part === null) return part
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, key === "schema" ? tidy(value) : tidied(value, tidy)])
  )
}

export const write = (): Written => {
  const api = contract()
  const spec = OpenApi.fromApi(api.annotate(HttpApi.AdditionalSchemas, wireErrorSchemas), {
    additionalPropertiesStrategy: "allow"
  }) as unknown as JsonMap
  const { schemas, securitySchemes } = asMap(spec["components"])
  // The contract's combo config is an object of anything, because it is checked field by field behind it.
  const defs: Record<string, Json> = { ...asMap(schemas), ComboConfig: JSONSchema.make(ComboConfig) as unknown as Json }
  const facts = factsOf(api)
  const queries = new Map(
    Array.from(facts, ([name, { query }]) => [name, query.flatMap((schema) => queryParameters(schema, defs))] as const)
  )
  const inline = inlined(defs as Definitions)
  const tidy = (schema: Json): Json => clean(inline(schema))
  const operations = new Map<string, WrittenOperation>()
  for (const item of Object.values(asMap(spec["paths"]))) {
    for (const value of Object.values(asMap(item))) {
      const operation = asMap(value)
      const name = String(operation["operationId"])
      const parameters = [...listOf(operation["parameters"]), ...(queries.get(name) ?? [])]
      operations.set(name, {
        operation: asMap(tidied({ ...operation, parameters }, tidy)),
        example: facts.get(name)?.example
      })
    }
  }
  return {
    operationOf: (name) => {
      const operation = operations.get(name)
      if (operation === undefined) throw new Error(`The contract does not describe '${name}'.`)
      return operation
    },
    schemas: Object.fromEntries(Object.entries(defs).map(([name, schema]) => [name, asMap(tidy(schema))])),
    tags: listOf(spec["tags"]),
    securitySchemes: asMap(securitySchemes)
  }
}
