/**
 * Table of every route of the service, and its router: a request is matched once, by its normalised path, for both planes. Needs neither
 * the contract nor the handlers, so that requests before the management plane is loaded are matched here too.
 */
import * as FindMyWay from "find-my-way-ts"
import { type NormalPath, normalisePath, pathOf } from "../kernel/text/NormalPath.ts"
import { type EdgeRoute, edgeRoutes } from "./EdgeRoutes.ts"
import { type ManagementRoute, managementRoutes } from "./ManagementRoutes.ts"

export type Route = EdgeRoute | ManagementRoute

/** Routes in the order in which `Allow` names their methods. */
export const routes: ReadonlyArray<Route> = [...managementRoutes, ...edgeRoutes]

/** Parameters of a path, by name; `*` is the rest. Decoded, in their own letter case. */
export type Parameters = Readonly<Record<string, string>>

export interface Found {
  readonly _tag: "Found"
  readonly route: Route
  readonly parameters: Parameters
  /** Parameters of the query; one that is given several times is a list. */
  readonly query: Readonly<Record<string, string | Array<string>>>
}

export type Match =
  | Found
  /** The path has routes for other methods only. */
  | { readonly _tag: "WrongMethod"; readonly routes: readonly [Route, ...ReadonlyArray<Route>] }
  | { readonly _tag: "Unknown" }
  /** The path has no legitimate meaning. */
  | { readonly _tag: "Malformed" }

const unknown: Match = { _tag: "Unknown" }
const malformed: Match = { _tag: "Malformed" }

const isRest = (path: string): boolean => path.endsWith("/*")

/** All routes at one path of the table. */
interface Place {
  readonly routes: readonly [Route, ...ReadonlyArray<Route>]
  readonly byMethod: ReadonlyMap<string, Route>
}

/** Lists the routes with a free rest that also match the path. */
const wider = (path: string): ReadonlyArray<Route> =>
  routes.filter((route) => isRest(route.path) && route.path !== path && path.startsWith(route.path.slice(0, -1)))

const placeOf = (path: string, own: readonly [Route, ...ReadonlyArray<Route>]): Place => {
  const byMethod = new Map<string, Route>()
  for (const route of [...wider(path), ...own]) byMethod.set(route.method, route)
  const others = [...byMethod.values()].filter((route) => route !== own[0])
  const get = byMethod.get("GET")
  if (get !== undefined) byMethod.set("HEAD", get)
  return { routes: [own[0], ...others], byMethod }
}

/** The router is asked for paths only: which methods a path has is known of it then, and a wrong one needs no second search. */
const anyMethod = "GET"

const makeRouter = (): FindMyWay.Router<Place> => {
  const made = FindMyWay.make<Place>({
    // Paths are normalised before they come here.
    caseSensitive: true,
    ignoreDuplicateSlashes: false,
    ignoreTrailingSlash: false,
    maxParamLength: Number.POSITIVE_INFINITY
  })
  const byPath = new Map<string, [Route, ...Array<Route>]>()
  for (const route of routes) {
    const known = byPath.get(route.path)
    if (known === undefined) byPath.set(route.path, [route])
    else known.push(route)
  }
  for (const [path, own] of byPath) made.on(anyMethod, path as FindMyWay.PathInput, placeOf(path, own))
  return made
}

/** Router, made for the first request: the start does not wait for it. */
let router: FindMyWay.Router<Place> | null = null

const noParameters: Parameters = {}

/** Reads the parameters from the normalised path, not from the router's, which is in lower case. */
const parametersOf = (route: Route, path: NormalPath): Parameters => {
  const parameters: Record<string, string> = {}
  for (const [index, segment] of route.path.slice(1).split("/").entries()) {
    if (segment.startsWith(":")) {
      // What follows a dash, as in `:tool-settings`, is in the path as it is; the router has compared it.
      const dash = segment.indexOf("-")
      const given = path[index] ?? ""
      if (dash === -1) parameters[segment.slice(1)] = given
      else parameters[segment.slice(1, dash)] = given.slice(0, given.length - (segment.length - dash))
    }
    if (segment === "*") parameters["*"] = path.slice(index).join("/")
  }
  return parameters
}

const hasParameters = (route: Route): boolean => route.path.includes(":") || isRest(route.path)

/** A path that normalising would leave as it is. */
const usual = /^(?:\/[0-9_a-z-]+)+$/

const spelled = (path: NormalPath): string =>
  `/${path.map((segment) => encodeURIComponent(segment.toLowerCase())).join("/")}`

const queryOf = (url: string): string => {
  const mark = url.indexOf("?")
  return mark === -1 ? "" : url.slice(mark)
}

/** Hot: finds the route of a request target. Letter case does not matter outside parameters; HEAD is answered where GET is. */
export const match = (method: string, url: string): Match => {
  // Most targets are a path alone, and need no normalising.
  const isWhole = usual.test(url)
  const path = isWhole ? url : pathOf(url)
  const isUsual = isWhole || usual.test(path)
  const segments = isUsual ? null : normalisePath(path)
  if (!isUsual && segments === null) return malformed
  router ??= makeRouter()
  const found = router.find(anyMethod, isWhole ? url : (segments === null ? path : spelled(segments)) + queryOf(url))
  if (found === undefined) return unknown
  const { byMethod, routes: all } = found.handler
  const route = byMethod.get(method)
  if (route === undefined) return { _tag: "WrongMethod", routes: all }
  return {
    _tag: "Found",
    route,
    parameters: hasParameters(route) ? parametersOf(route, segments ?? path.slice(1).split("/")) : noParameters,
    query: found.searchParams
  }
}

/** A route at the path of a request, whatever its method: its wire is the format of errors. */
export const routeAt = (found: Match): Route | null => {
  switch (found._tag) {
    case "Found":
      return found.route
    case "WrongMethod":
      return found.routes[0]
    default:
      return null
  }
}
