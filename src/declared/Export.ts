/** What a gateway has → the file that declares it, with references in place of secrets. Pure. */
import type { Present } from "./Plan.ts"
import { nameOfConnection } from "./Plan.ts"
import { escaped, variableFor } from "./Variables.ts"

export interface Exported {
  readonly document: Readonly<Record<string, unknown>>
  /** The variables that it refers to. */
  readonly variables: ReadonlyArray<string>
  /** What a file cannot hold, each with the reason. */
  readonly leftOut: ReadonlyArray<string>
}

const isPlain = (value: unknown): boolean =>
  value === null || value === undefined || (Array.isArray(value) && value.length === 0)

const plainText = (value: unknown): unknown => {
  if (typeof value === "string") return escaped(value)
  if (Array.isArray(value)) return value.map(plainText)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plainText(each)]))
}

/** Without the members that say nothing. */
const told = (record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => (isPlain(value) ? [] : [[name, plainText(value)]]))
  )

export const exported = (present: Present): Exported => {
  const variables = new Set<string>()
  const leftOut: Array<string> = []
  const reference = (...parts: ReadonlyArray<string>): string => {
    const name = variableFor(...parts)
    let free = name
    for (let next = 2; variables.has(free); next += 1) free = `${name}_${next}`
    variables.add(free)
    return `\${${free}}`
  }
  const secretHeaders = (headers: Readonly<Record<string, string>> | null, ...owner: ReadonlyArray<string>) =>
    headers === null
      ? {}
      : { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, reference(...owner, name)])) }

  const nodes = present.nodes.map(({ createdAt: _c, headers, id: _i, updatedAt: _u, ...node }) => ({
    ...told(node),
    ...secretHeaders(headers, node.prefix)
  }))
  const connections = present.connections.flatMap((connection) => {
    const name = nameOfConnection(connection)
    if (connection.source === "env") {
      leftOut.push(`connection ${name}: it comes from the environment`)
      return []
    }
    if (connection.authType === "oauth") {
      leftOut.push(`connection ${name}: its tokens are renewed by the gateway; log in again instead`)
      return []
    }
    const { apiKey, authType, baseUrl, defaultModel, headers, isActive, maxConcurrent, models, priority, quotas } =
      connection
    const { provider, tier, wires } = connection
    const owner = [provider, connection.name]
    return [
      {
        ...told({ provider, name: connection.name, authType, isActive, priority, baseUrl, wires, defaultModel }),
        ...told({ models, tier, maxConcurrent, quotas }),
        ...(apiKey === null ? {} : { apiKey: reference(...owner, "API_KEY") }),
        ...secretHeaders(headers, ...owner)
      }
    ]
  })
  const combos = present.combos.flatMap(({ createdAt: _c, id, name, updatedAt: _u, ...combo }) => {
    if (combo.targets.some(({ connectionId }) => typeof connectionId === "string")) {
      leftOut.push(`combo ${name}: a target names a connection by its id, which another gateway does not have`)
      return []
    }
    return [told({ id, name, ...combo })]
  })
  return { document: { version: 1, nodes, connections, combos }, variables: [...variables], leftOut }
}
