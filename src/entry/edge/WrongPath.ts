/**
 * Answers a path without a route: in the wire that the caller probably speaks, with the path it probably meant. Pure. It needs no key, and
 * shows only the public table of routes.
 */
import { type NearRoute, nearRoute } from "../../contract/NearRoute.ts"
import { requestedAddress, headerOf, type RequestHeaders } from "../../subjects/auth/Credentials.ts"
import { pathOnly } from "../../observe/usage/telemetry/Summary.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import { closest } from "../../kernel/text/Closest.ts"
import { geminiActions, geminiPath } from "./GeminiPath.ts"

export interface WrongPath {
  /** Null: the management plane answers. */
  readonly wire: WireName | null
  readonly message: string
}

const maxShownChars = 120

const shortened = (path: string): string => (path.length > maxShownChars ? `${path.slice(0, maxShownChars)}…` : path)

/** Words of a path that only one wire has. */
const wireByPath: ReadonlyArray<readonly [pattern: RegExp, wire: WireName]> = [
  [/v1beta|:(?:stream)?generate/i, "gemini"],
  [/\/messages?\b|\/anthropic\b/i, "messages"],
  [/\/responses?\b/i, "responses"]
]

const isManagement = (path: string): boolean => /^\/+api(?:\/|$)/i.test(path)

const wireOf = (headers: RequestHeaders, path: string, near: NearRoute | null): WireName | null => {
  if (headerOf(headers, "anthropic-version") !== null) return "messages"
  if (headerOf(headers, "x-goog-api-key") !== null) return "gemini"
  if (near?.route.plane === "edge" && near.route.wire !== null) return near.route.wire
  if (isManagement(path)) return null
  return wireByPath.find(([pattern]) => pattern.test(path))?.[1] ?? "chat"
}

const withoutVersion: ReadonlySet<string> = new Set(["messages", "gemini", "ollama"])

/** Names the probable mistake in the client's settings. */
const baseAdvice = (near: NearRoute, headers: RequestHeaders): string => {
  const origin = requestedAddress(headers)
  if (!near.isBaseWrong || near.route.plane !== "edge" || origin === null) return ""
  return withoutVersion.has(near.route.wire ?? "")
    ? ` The client's base URL should probably be ${origin}, without a path.`
    : ` The client's base URL should probably be ${origin}/v1.`
}

const generalAdvice = (headers: RequestHeaders): string => {
  const origin = requestedAddress(headers) ?? "the gateway's address"
  return ` Clients use ${origin}/v1 (OpenAI style) or ${origin} (Anthropic style) as base URL; GET /openapi.json has all routes.`
}

export const wrongPath = (method: string, target: string, headers: RequestHeaders): WrongPath => {
  // A query may hold a key, and so may some paths.
  const path = shortened(pathOnly(target.slice(0, 2_048)))
  const near = nearRoute(method, target)
  const advice =
    near === null ? generalAdvice(headers) : ` Did you mean ${near.method} ${near.path}?${baseAdvice(near, headers)}`
  return {
    wire: wireOf(headers, target.slice(0, 2_048), near),
    message: `There is no route ${method.slice(0, 16)} ${path}.${advice}`
  }
}

/** Answers a path below `/v1beta` that names no known action: null when it names one. */
export const wrongAction = (rest: string): WrongPath | null => {
  const named = geminiPath(rest)
  if (named?.action === null || named === null || geminiActions.includes(named.action)) return null
  const [near] = closest(named.action, geminiActions, 1)
  const all = geminiActions.map((action) => `:${action}`).join(", ")
  return {
    wire: "gemini",
    message:
      `There is no action ':${shortened(pathOnly(named.action))}'. ` +
      (near === undefined ? `A path ends in one of ${all}.` : `Did you mean /v1beta/models/{model}:${near}?`)
  }
}
