/** The route that a wrong path was probably meant for. Pure; only the table of routes is looked at. */
import { closest } from "../kernel/text/Closest.ts"
import { normalisePath } from "../kernel/text/NormalPath.ts"
import { type Route, routes } from "./Routes.ts"

export interface NearRoute {
  readonly method: string
  /** Path of the table, with `{name}` for the parts that a caller chooses. */
  readonly path: string
  readonly route: Route
  /** The path is right behind another beginning: the client's base URL is wrong, not the path that the client adds. */
  readonly isBaseWrong: boolean
}

/** Longer paths are not compared: no route comes near to it. */
const maxChars = 512
const maxSegments = 16

const isStatic = (segment: string): boolean => !segment.startsWith(":") && segment !== "*"

/** The spelling of a route to be recommended: the first of the table, with its version. */
const recommended = (route: Route): Route =>
  routes.find(({ key, method }) => key === route.key && method === route.method) ?? route

/** Writes a path of the table for people. */
const shown = ({ key, path }: Route): string =>
  key === "inference.gemini"
    ? "/v1beta/models/{model}:generateContent"
    : path.replaceAll(/:(\w+)|\*/g, (_, name) => `{${name ?? "name"}}`)

const near = (route: Route, isBaseWrong: boolean): NearRoute => {
  const best = recommended(route)
  return { method: best.method, path: shown(best), route: best, isBaseWrong }
}

/** Checks whether segments in lower case are the path of a route. */
const fits = (route: Route, typed: ReadonlyArray<string>): boolean => {
  const parts = route.path.slice(1).split("/")
  const hasRest = parts.at(-1) === "*"
  return (
    (hasRest ? typed.length >= parts.length : typed.length === parts.length) &&
    parts.every((part, index) => !isStatic(part) || part === typed[index])
  )
}

/** A route whose whole path is the end of this one, or this one with the usual beginning before it. */
const behindAnotherBeginning = (method: string, segments: ReadonlyArray<string>): Route | null => {
  const typed = segments.map((segment) => segment.toLowerCase())
  const ends = [...typed.keys()].slice(1).map((index) => typed.slice(index))
  for (const path of [...ends, ["v1", ...typed], ["api", ...typed]]) {
    // What begins with a name, as the root does, would be the end of every path.
    const found = routes.filter((route) => isStatic(route.path.split("/")[1] ?? "*") && fits(route, path))
    const route = found.find((each) => each.method === method) ?? found[0]
    if (route !== undefined) return route
  }
  return null
}

/** Shorter words are not taken for misspelled ones: too many others are as near. */
const leastMisspelledChars = 4

/** Computes the distance of a word from that of the table: 0 for the same, null for another word. */
const wordDistance = (typed: string, known: string): number | null => {
  if (typed === known) return 0
  if (typed.length < leastMisspelledChars || closest(typed, [known], 1).length === 0) return null
  return 1 + Math.abs(typed.length - known.length)
}

/**
 * Computes the distance of segments from a route; null when it is another one. At least one word has to be the same.
 */
const distance = (route: Route, typed: ReadonlyArray<string>): number | null => {
  const parts = route.path.slice(1).split("/")
  if (parts.length !== typed.length) return null
  let sum = 0
  let same = 0
  for (const [index, part] of parts.entries()) {
    const far = isStatic(part) ? wordDistance(typed[index] ?? "", part) : 0.5
    if (far === null) return null
    if (far === 0) same += 1
    sum += far
  }
  return same === 0 ? null : sum
}

/** The route with the fewest misspelled words; one for the method wins over others. */
const misspelled = (method: string, segments: ReadonlyArray<string>): Route | null => {
  const typed = segments.map((segment) => segment.toLowerCase())
  let best: { readonly route: Route; readonly far: number } | null = null
  for (const route of routes) {
    const far = distance(route, typed)
    if (far === null) continue
    const wins = best === null || far < best.far || (far === best.far && best.route.method !== method)
    if (wins && (best === null || far < best.far || route.method === method)) best = { route, far }
  }
  return best?.route ?? null
}

/** The only route that goes on from where the path ends, such as `/v1/chat/completions` from `/v1/chat`. */
const continued = (segments: ReadonlyArray<string>): Route | null => {
  const beginning = `/${segments.join("/")}/`.toLowerCase()
  const longer = routes.filter(({ path }) => path.startsWith(beginning) && path.split("/").every(isStatic))
  return new Set(longer.map(({ path }) => path)).size === 1 ? (longer[0] ?? null) : null
}

/** Null when no route comes near to the path of the request target. */
export const nearRoute = (method: string, target: string): NearRoute | null => {
  if (target.length > maxChars * 2) return null
  const segments = normalisePath(target)
  if (segments === null || segments.length === 0 || segments.length > maxSegments) return null
  if (segments.reduce((sum, { length }) => sum + length, 0) > maxChars) return null
  const whole = behindAnotherBeginning(method, segments)
  if (whole !== null) return near(whole, true)
  const route = misspelled(method, segments) ?? continued(segments)
  if (route !== null) return near(route, false)
  // Both at once: another beginning, and a misspelled word.
  const rest = segments.slice(1)
  const moved = rest.length < 2 ? null : misspelled(method, rest)
  return moved === null ? null : near(moved, true)
}
