/**
 * All operations of the service by the skill that describes them, and the paths that lead to the same ones. Made from
 * the API document.
 */
import { asMap, type JsonMap, listOf } from "../../contract/document/JsonSchemas.ts"
import { aliasTag } from "../../contract/document/Texts.ts"
import { managementTable, type ManagementKey } from "../../contract/ManagementRoutes.ts"
import type { Tier } from "../../contract/tiers/Tier.ts"
import type { ApiSkillId } from "../../subjects/skills/entity.ts"
import { operationOf, type SkillOperation } from "./Operations.ts"
import { skillOfRoute } from "./Placement.ts"

interface Place {
  readonly skill: ApiSkillId
  readonly tier: Tier
}

const templated = (path: string): string => path.replaceAll(/:(\w+)/g, "{$1}")

const managementPlaces: ReadonlyMap<string, Place> = new Map(
  (Object.keys(managementTable) as ReadonlyArray<ManagementKey>).map((key) => {
    const { method, path, tier } = managementTable[key]
    return [`${method} ${templated(path)}`, { skill: skillOfRoute({ key }), tier }]
  })
)

/** Places of the routes of clients. */
const edgePlaces: Readonly<Record<string, Place>> = {
  "GET /": { skill: "gw-version-manager", tier: "public" },
  "POST /a2a": { skill: "gw-agents-a2a", tier: "inference" },
  "POST /mcp": { skill: "gw-mcp", tier: "manage" },
  "GET /mcp": { skill: "gw-mcp", tier: "manage" },
  "DELETE /mcp": { skill: "gw-mcp", tier: "manage" },
  "GET /metrics": { skill: "gw-usage-logs", tier: "scrape" }
}

export type ApiIndex = ReadonlyMap<ApiSkillId, ReadonlyArray<SkillOperation>>

/** Routes that other ones need come first; what takes away, last. */
const ranks: Readonly<Record<string, number>> = { GET: 1, POST: 2, PUT: 3, PATCH: 4, DELETE: 5 }

const inOrder = (operations: ReadonlyArray<SkillOperation>): ReadonlyArray<SkillOperation> =>
  operations.toSorted(
    (left, right) => left.path.localeCompare(right.path, "en") || (ranks[left.method] ?? 0) - (ranks[right.method] ?? 0)
  )

export const apiIndex = (document: JsonMap): ApiIndex => {
  const bySkill = new Map<ApiSkillId, Array<SkillOperation>>()
  for (const [path, item] of Object.entries(asMap(document["paths"]))) {
    for (const [method, operation] of Object.entries(asMap(item))) {
      if (listOf(asMap(operation)["tags"]).includes(aliasTag.name)) continue
      const route = `${method.toUpperCase()} ${path}`
      const place = managementPlaces.get(route) ?? edgePlaces[route] ?? { skill: "gw-inference", tier: "inference" }
      const read = operationOf(document, method.toUpperCase(), path, place.tier)
      if (read === null) continue
      const own = bySkill.get(place.skill)
      if (own === undefined) bySkill.set(place.skill, [read])
      else own.push(read)
    }
  }
  return new Map([...bySkill].map(([skill, operations]) => [skill, inOrder(operations)]))
}

/** Lists the management routes that no skill describes, as `METHOD /path`. */
export const missingRoutes = (index: ApiIndex): ReadonlyArray<string> => {
  const told = new Set([...index.values()].flat().map(({ method, path }) => `${method} ${path}`))
  return [...managementPlaces.keys()].filter((route) => !told.has(route)).toSorted()
}

export const routeCount = managementPlaces.size
