/** Reads the API key of a request, for all routes (docs/reference/http-api.md, "Authentication"). Pure, on node-style headers. */
import { editorPath } from "../../contract/EdgeRoutes.ts"
import { normalisePath, pathOf } from "../../kernel/text/NormalPath.ts"

/** Header names in lower case, as node:http gives them. */
export type RequestHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** Names of headers in the order they are tried, after `Authorization`. */
const keyHeaders = ["x-api-key", "x-goog-api-key", "api-key"] as const
/** Names of a query that may hold the key of a request to a model. */
export const keyParameters = ["token", "apiKey", "api_key", "key"] as const

/** First value of a header, without surrounding blanks; null when absent or empty. */
export const headerOf = (headers: RequestHeaders, name: string): string | null => {
  const value = headers[name]
  const first = typeof value === "string" ? value : value?.[0]
  return first === undefined ? null : first.trim() || null
}

/**
 * Name of the header for the address of the gateway for its callers, set by `entry/listening/PublicAddress`. No client can send a name with a
 * colon.
 */
export const publicAddressHeader = ":gateway-address"

/** The gateway's address as the caller used it, with its path prefix; null when that is no plain host name with a port. */
export const requestedAddress = (headers: RequestHeaders): string | null =>
  headerOf(headers, publicAddressHeader) ?? requestedHost(headers)

/** The path that a proxy has put before all paths, `/llm`; empty: none. */
export const requestedPrefix = (headers: RequestHeaders): string => {
  const address = headerOf(headers, publicAddressHeader)
  return address !== null && URL.canParse(address) ? new URL(address).pathname.replace(/\/$/, "") : ""
}

/** Scheme and host that the caller used; null when that is no plain host name with a port. */
export const requestedHost = (headers: RequestHeaders): string | null => {
  const host = headerOf(headers, "host")
  if (host === null || !/^[\w.:[\]-]{1,255}$/.test(host)) return null
  return `${headerOf(headers, "x-forwarded-proto") === "https" ? "https" : "http"}://${host}`
}

/** The key of a request to a management route: from this header only, because URLs and other headers end up in logs and histories. */
export const bearerOf = (headers: RequestHeaders): string | null => {
  const authorization = headerOf(headers, "authorization")
  if (authorization === null || !/^bearer(?:\s|$)/i.test(authorization)) return null
  return authorization.slice("bearer".length).trim() || null
}

const parameterOf = (url: string): string | null => {
  const start = url.indexOf("?")
  if (start === -1) return null
  const query = new URLSearchParams(url.slice(start + 1))
  for (const name of keyParameters) {
    const value = query.get(name)
    if (value !== null && value !== "") return value
  }
  return null
}

/** `api/v1/editor`: what is in front of the token. */
const editorPrefix = editorPath.split("/").slice(1, -1)

/** The key in `/api/v1/editor/{token}/…`, however the path is spelled. */
const pathKeyOf = (url: string): string | null => {
  const path = pathOf(url)
  // Hot: other routes end here. A percent sign may hide letters.
  if (!/editor|%/i.test(path)) return null
  const segments = normalisePath(path)
  if (segments === null || !editorPrefix.every((part, index) => segments[index]?.toLowerCase() === part)) return null
  return segments[editorPrefix.length] ?? null
}

/**
 * The key of a request, or null. One in the path wins over all others. An empty `Bearer` counts as none.
 * `url` is the request target with its query.
 */
export const keyOf = (headers: RequestHeaders, url: string): string | null => {
  const token = pathKeyOf(url)
  if (token !== null) return token
  const bearer = bearerOf(headers)
  if (bearer !== null) return bearer
  for (const name of keyHeaders) {
    const value = headerOf(headers, name)
    if (value !== null) return value
  }
  return parameterOf(url)
}
