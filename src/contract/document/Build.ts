/** Puts the OpenAPI document together: every route of the route table, with what the contract says about it. */
import { version } from "../../platform/Version.ts"
import { edgeRoutes } from "../EdgeRoutes.ts"
import { managementRoutes, managementTable } from "../ManagementRoutes.ts"
import { atPath, spellingsOf, wireFailures } from "./EdgeOperations.ts"
import { forForms } from "./Forms.ts"
import { headerComponents, parameterComponents } from "./Headers.ts"
import { asMap, closed, type Definitions, type Json, type JsonMap, namesWithin } from "./JsonSchemas.ts"
import { aliasOf, managementErrors, type Operation, operationOf } from "./Operations.ts"
import { inOrder, pathOrder } from "./Order.ts"
import { info, schemesOf, servers, tagsOf } from "./Texts.ts"
import { write, type Written } from "./Written.ts"

interface Placed {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

/** The parameters in a path that only some spellings of a route have, by the endpoint that describes them. */
const ownerOf: Readonly<Record<string, string>> = { token: "inference.editor", provider: "inference.providerModels" }

/** Pages for people are no part of the API, and the forms of SCIM are described by its own law (RFC 7643) at `/scim/v2/Schemas`. */
const undescribed: ReadonlySet<string> = new Set(["dashboard", "scim"])
const describedRoutes = edgeRoutes.filter(({ handler }) => !undescribed.has(handler))

const edgeOperations = ({ operationOf: written, schemas }: Written): ReadonlyArray<Placed> => {
  const firstPaths = new Map<string, string>()
  const shown = (name: string): Operation => operationOf(name, written(name), schemas)

  const pathParameters = (path: string, { parameters }: Operation): ReadonlyArray<JsonMap> =>
    Object.entries(ownerOf).flatMap(([name, owner]) =>
      path.includes(`{${name}}`) && !parameters.some((parameter) => parameter["name"] === name)
        ? shown(owner).parameters.filter((parameter) => parameter["name"] === name)
        : []
    )

  return describedRoutes.flatMap((route) =>
    spellingsOf(route).map((spelling) => {
      const { endpoint, path } = spelling
      const operation = shown(`${route.wire === null ? "pages" : "inference"}.${endpoint}`)
      const first = firstPaths.get(endpoint) ?? null
      if (first === null) firstPaths.set(endpoint, path)
      const parameters = [...pathParameters(path, operation), ...operation.parameters]
      return { path, method: route.method, operation: atPath(route, spelling, { ...operation, parameters }, first) }
    })
  )
}

const managementOperations = ({ operationOf: written, schemas }: Written): ReadonlyArray<Placed> =>
  inOrder(pathOrder, managementRoutes, ({ key }) => [key, key.slice(0, key.indexOf("."))]).map((route) => {
    const { key, method, path: pattern } = route
    const path = pattern.replaceAll(/:(\w+)/g, "{$1}")
    const operation = operationOf(key, written(key), schemas, method)
    const own = managementTable[key].path.replaceAll(/:(\w+)/g, "{$1}")
    const isAlias = path !== own
    return {
      path,
      method,
      operation: isAlias ? { ...operation, ...aliasOf(key, path, operation, `${method} ${own}`) } : operation
    }
  })

const pathsOf = (operations: ReadonlyArray<Placed>): JsonMap => {
  const paths: Record<string, Record<string, Json>> = {}
  for (const { method, operation, path } of operations) {
    const item = (paths[path] ??= {})
    item[method.toLowerCase()] = operation
  }
  return paths
}

/**
 * Selects the schemas that are used. Those that are only in bodies of the management are closed: these refuse unknown
 * fields.
 */
const schemasOf = (all: Definitions, edge: ReadonlyArray<Placed>, management: ReadonlyArray<Placed>): JsonMap => {
  const within = (parts: ReadonlyArray<Json>) => namesWithin(parts, all)
  const bodies = within(management.map(({ operation }) => asMap(operation["requestBody"])))
  const answers = within([...management.map(({ operation }) => operation.responses), managementErrors])
  const others = within([...edge.map(({ operation }) => operation), wireFailures])
  const names = new Set([...bodies, ...answers, ...others])
  return Object.fromEntries(
    [...names]
      .toSorted()
      .map((name) => [
        name,
        forForms(
          name,
          asMap(bodies.has(name) && !answers.has(name) && !others.has(name) ? closed(all[name] ?? {}) : all[name]),
          bodies.has(name)
        )
      ])
  )
}

/** Shared answers that some operation refers to. */
const responsesOf = (paths: JsonMap): JsonMap => {
  const used = new Set(
    Array.from(JSON.stringify(paths).matchAll(/"#\/components\/responses\/(\w+)"/g), ([, name = ""]) => name)
  )
  return Object.fromEntries(Object.entries({ ...managementErrors, ...wireFailures }).filter(([name]) => used.has(name)))
}

export const build = (): JsonMap => {
  const written = write()
  const edge = edgeOperations(written)
  const management = managementOperations(written)
  const paths = pathsOf([...edge, ...management])
  return {
    openapi: "3.1.0",
    info: { ...info, version },
    servers,
    tags: tagsOf(written.tags),
    paths,
    components: {
      schemas: schemasOf(written.schemas, edge, management),
      responses: responsesOf(paths),
      headers: headerComponents,
      parameters: parameterComponents,
      securitySchemes: schemesOf(written.securitySchemes)
    }
  }
}
