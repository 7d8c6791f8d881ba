/**
 * Any web page can make a browser call this machine, under a host name of its choice (DNS rebinding). While no key is required, a
 * request that another site made, or that uses a host name that is not the gateway's own, is refused. Pure.
 */
import { readOrigin } from "../../kernel/text/Origins.ts"
import type { Denied } from "./Access.ts"
import { headerOf, type RequestHeaders } from "./Credentials.ts"
import { isOwnHost } from "./Loopback.ts"

/** Rules from the configuration and the settings. */
export interface SiteRules {
  /** The name or address the gateway listens on; null when that is every address of the machine. */
  readonly boundHost: string | null
  /** The setting `allowedHosts`, in lower case, IPv6 addresses without brackets. */
  readonly allowedHosts: ReadonlySet<string>
  /** `CORS_ORIGINS` and the setting `corsOrigins`, in lower case. */
  readonly origins: ReadonlySet<string>
}

const denied = (code: string, message: string): Denied => ({ _tag: "Denied", status: 403, code, message })

const unnamed = "the page's origin"

/** Names the origin, so that the owner can allow it. `null`, which sandboxed pages send, names no page. */
const foreignSite = (origin: string | null): Denied => {
  const page = origin === null ? null : readOrigin(origin)
  return denied(
    "cross_site_request",
    `Pages of other sites may not call this gateway while no API key is required. Name ${page ?? unnamed} in CORS_ORIGINS or corsOrigins (PATCH /api/settings), or set REQUIRE_API_KEY=true and send a key.`
  )
}

/** Long enough for any name in DNS. */
const maxNameChars = 253

const foreignHost = (name: string): Denied =>
  denied(
    "host_not_allowed",
    `While no API key is required, this gateway does not answer to the name '${name.slice(0, maxNameChars)}'. Add it to allowedHosts (PATCH /api/settings), or set REQUIRE_API_KEY=true and send a key.`
  )

/** The name of a `Host` header, in lower case: without port, IPv6 addresses without brackets. */
const nameOf = (host: string): string => {
  const lower = host.toLowerCase()
  if (!lower.startsWith("[")) return lower.replace(/:\d{0,5}$/, "")
  const end = lower.indexOf("]")
  return end < 0 ? lower : lower.slice(1, end)
}

const unmapped = (address: string): string => address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "")

const hostOfOrigin = (origin: string): string | null => {
  const start = origin.indexOf("://")
  return start < 0 ? null : origin.slice(start + 3)
}

/** Checks whether the operator named this origin. */
export const isNamedOrigin = (origin: string, rules: SiteRules): boolean => rules.origins.has(origin.toLowerCase())

/** An origin that is neither the host it calls nor named; null when there is none. For routes that refuse other pages whether or not they have a key. */
export const foreignOriginOf = (headers: RequestHeaders, rules: SiteRules): string | null => {
  const origin = headerOf(headers, "origin")
  if (origin === null || isNamedOrigin(origin, rules)) return null
  return hostOfOrigin(origin.toLowerCase()) === headerOf(headers, "host")?.toLowerCase() ? null : origin
}

/**
 * The headers of a browser that another site has sent here, as those of one that came by itself. For a page that is there for this; a script, a
 * frame or a picture of another site stays one.
 */
export const asVisit = (headers: RequestHeaders): RequestHeaders =>
  headerOf(headers, "sec-fetch-mode") === "navigate" && headerOf(headers, "sec-fetch-dest") === "document"
    ? { ...headers, "sec-fetch-site": "none" }
    : headers

/**
 * Null when the request is allowed. `localAddress` gives the address of this machine that the connection came to; it is called only
 * when nothing else decides. `tunnelHosts`: the names of open tunnels, for a request that came through one; the names of this machine are not the
 * gateway's there. Null: it did not. A request without `Host` was not made by a browser.
 */
export const judgeSite = (
  headers: RequestHeaders,
  localAddress: () => string | null,
  rules: SiteRules,
  tunnelHosts: ReadonlySet<string> | null = null
): Denied | null => {
  const host = headerOf(headers, "host")
  if (host !== null && (tunnelHosts !== null || !isOwnHost(host))) {
    const name = nameOf(host)
    const isOwn =
      rules.allowedHosts.has(name) ||
      (tunnelHosts === null
        ? name === rules.boundHost || name === unmapped(localAddress() ?? "")
        : tunnelHosts.has(name))
    if (!isOwn) return foreignHost(name)
  }
  const origin = headerOf(headers, "origin")
  if (origin !== null && isNamedOrigin(origin, rules)) return null
  const site = headerOf(headers, "sec-fetch-site")
  if (site === "cross-site" || site === "same-site") return foreignSite(origin)
  return origin === null || hostOfOrigin(origin.toLowerCase()) === host?.toLowerCase() ? null : foreignSite(origin)
}
