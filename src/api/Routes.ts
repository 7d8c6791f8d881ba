/**
 * The one table of every route of the service: who may call it, in which wire it answers, how large its body may be.
 * Management routes come from `GatewayApi`; an endpoint without a tier does not compile. Those of the raw edge are in `EdgeRoutes.ts`.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type { WireName } from "../domain/Wire.ts"
import type { NormalPath } from "../kernel/NormalPath.ts"
import { GatewayApi } from "./Api.ts"
import { edgeRoutes } from "./EdgeRoutes.ts"

/**
 * - `public`: anyone.
 * - `inference`: an API key, when keys are required.
 * - `scrape`: anyone on this machine; from elsewhere any API key, unless the setting `metricsPublic` is on.
 * - `manage`: an admin session, the admin key, or a key of scope `manage` or `admin`.
 * - `session`: an admin session only.
 * - `loopback`: as `manage`, and only over a direct connection from this machine.
 */
export type Tier = "public" | "inference" | "scrape" | "manage" | "session" | "loopback"

export interface Route {
  /** `<group>.<endpoint>`, unique. */
  readonly key: string
  readonly method: string
  /** Pattern with `:name` for one segment. */
  readonly path: string
  readonly tier: Tier
  /** The wire format of answers and errors; null for the management format. */
  readonly wire: WireName | null
  /** Null: the configured `GATEWAY_MAX_BODY_MB`, which also caps the others. */
  readonly maxBodyBytes: number | null
}

/** `<group>.<endpoint>` of every endpoint of an API. */
export type EndpointKey<Api> =
  Api extends HttpApi.HttpApi<infer _Id, infer Groups, infer _E, infer _R> ? GroupKey<Groups> : never

type GroupKey<Group> = Group extends HttpApiGroup.HttpApiGroup.Any
  ? `${HttpApiGroup.HttpApiGroup.Name<Group>}.${HttpApiEndpoint.HttpApiEndpoint.Name<HttpApiGroup.HttpApiGroup.Endpoints<Group>>}`
  : never

/** Who may call each management endpoint. */
const managementTiers: Readonly<Record<EndpointKey<typeof GatewayApi>, Tier>> = {
  "auth.login": "public",
  "auth.logout": "session",
  "providers.list": "manage",
  "providers.create": "manage",
  "providers.validate": "manage",
  "providers.get": "manage",
  "providers.update": "manage",
  "providers.remove": "manage",
  "providers.test": "manage",
  "providers.models": "manage",
  "providerNodes.list": "manage",
  "providerNodes.create": "manage",
  "providerNodes.get": "manage",
  "providerNodes.update": "manage",
  "providerNodes.remove": "manage",
  "providerModels.list": "manage",
  "providerModels.create": "manage",
  "providerModels.update": "manage",
  "providerModels.remove": "manage",
  "combos.list": "manage",
  "combos.create": "manage",
  "combos.auto": "manage",
  "combos.get": "manage",
  "combos.update": "manage",
  "combos.remove": "manage",
  "modelAliases.list": "manage",
  "modelAliases.set": "manage",
  "modelAliases.remove": "manage",
  "quotaGroups.list": "manage",
  "quotaGroups.create": "manage",
  "quotaGroups.get": "manage",
  "quotaGroups.update": "manage",
  "quotaGroups.remove": "manage",
  "keys.list": "manage",
  "keys.create": "manage",
  "keys.get": "manage",
  "keys.update": "manage",
  "keys.remove": "manage",
  "pricing.get": "manage",
  "pricing.update": "manage",
  "usage.logs": "manage",
  "usage.connection": "manage",
  "routing.explain": "manage",
  "routing.decision": "manage",
  "routing.simulate": "manage",
  "routing.replay": "manage",
  "routingSettings.get": "manage",
  "routingSettings.update": "manage",
  "resilience.get": "manage",
  "resilience.update": "manage",
  "resilience.breakers": "manage",
  "resilience.reset": "manage",
  "resilience.modelCooldowns": "manage",
  "resilience.clearModelCooldowns": "manage",
  "resilience.clearCooldowns": "manage",
  "rateLimits.status": "manage",
  "rateLimits.settings": "manage",
  "system.ping": "public",
  "system.health": "manage",
  "system.openapi": "public",
  "flags.list": "session",
  "flags.set": "session",
  "flags.clear": "session",
  "gatewaySettings.get": "manage",
  "gatewaySettings.update": "manage",
  "gatewaySettings.put": "manage"
}

const managementBodyBytes = 10 * 1_048_576
const loginBodyBytes = 16 * 1024

const management: ReadonlyArray<Route> = (() => {
  const routes: Array<Route> = []
  const tiers = new Map<string, Tier>(Object.entries(managementTiers))
  HttpApi.reflect(GatewayApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const key = `${group.identifier}.${endpoint.name}`
      routes.push({
        key,
        method: endpoint.method,
        path: endpoint.path,
        // The type of the table makes a missing tier impossible; were it forced, nobody could call the route.
        tier: tiers.get(key) ?? "loopback",
        wire: null,
        maxBodyBytes: key === "auth.login" ? loginBodyBytes : managementBodyBytes
      })
    }
  })
  return routes
})()

/** The routes of the raw edge, in the shape of the table. */
const edge: ReadonlyArray<Route> = edgeRoutes.map(({ key, method, path, tier, wire }) => ({
  key,
  method,
  path,
  tier,
  wire,
  maxBodyBytes: method === "GET" ? 0 : null
}))

export const routes: ReadonlyArray<Route> = [...management, ...edge]

export type Match =
  | {
      readonly _tag: "Found"
      readonly route: Route
      /** The path as the table spells it, with the request's own parameters. */
      readonly canonicalPath: string
      readonly params: Readonly<Record<string, string>>
    }
  | { readonly _tag: "WrongMethod"; readonly allow: ReadonlyArray<string> }
  | { readonly _tag: "Unknown" }

interface Pattern {
  readonly path: string
  readonly segments: ReadonlyArray<string>
  readonly byMethod: Map<string, Route>
}

const isParam = (segment: string): boolean => segment.startsWith(":")

/** Patterns by number of segments; those without parameters come first, so that `/api/usage/logs` wins over `/api/usage/:id`. */
const byLength: ReadonlyMap<number, ReadonlyArray<Pattern>> = (() => {
  const byPath = new Map<string, Pattern>()
  for (const route of routes) {
    const known = byPath.get(route.path)
    if (known !== undefined) known.byMethod.set(route.method, route)
    else {
      const segments = route.path.split("/").filter((segment) => segment !== "")
      byPath.set(route.path, { path: route.path, segments, byMethod: new Map([[route.method, route]]) })
    }
  }
  const table = new Map<number, Array<Pattern>>()
  const params = (pattern: Pattern): number => pattern.segments.filter(isParam).length
  for (const pattern of [...byPath.values()].toSorted((a, b) => params(a) - params(b))) {
    const group = table.get(pattern.segments.length)
    if (group === undefined) table.set(pattern.segments.length, [pattern])
    else group.push(pattern)
  }
  return table
})()

const fits = (pattern: Pattern, lowerCase: NormalPath): boolean =>
  pattern.segments.every((segment, index) => isParam(segment) || segment === lowerCase[index])

/** Finds the route of a request. Letter case does not matter outside parameters; HEAD is answered where GET is. */
export const match = (method: string, path: NormalPath): Match => {
  const lowerCase = path.map((segment) => segment.toLowerCase())
  const pattern = byLength.get(path.length)?.find((candidate) => fits(candidate, lowerCase))
  if (pattern === undefined) return { _tag: "Unknown" }
  const route = pattern.byMethod.get(method === "HEAD" ? "GET" : method)
  if (route === undefined) return { _tag: "WrongMethod", allow: [...pattern.byMethod.keys()] }
  const params: Record<string, string> = {}
  const spelled = pattern.segments.map((segment, index) => {
    if (!isParam(segment)) return segment
    const value = path[index] ?? ""
    params[segment.slice(1)] = value
    return encodeURIComponent(value)
  })
  return { _tag: "Found", route, canonicalPath: `/${spelled.join("/")}`, params }
}
