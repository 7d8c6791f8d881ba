/**
 * The cookie of an admin session: its name, its attributes, and how it is read. Where the gateway is asked over TLS its name says so, and the
 * browser lets no page without TLS set it. Pure.
 */
import { requestedAddress, headerOf, requestedPrefix, type RequestHeaders } from "../Credentials.ts"
import { cookieNames, type CookieName } from "../entity.ts"
import { isOwnHost } from "../Loopback.ts"

/** Returns the scheme that the page of this request has by its own word; null where the browser says none, or another site's. */
const schemeOfPage = (headers: RequestHeaders): string | null => {
  const origin = headerOf(headers, "origin")
  if (origin === null || !URL.canParse(origin)) return null
  const { host, protocol } = new URL(origin)
  return host === headerOf(headers, "host")?.toLowerCase() ? protocol : null
}

const isForwardedByTls = (headers: RequestHeaders): boolean => headerOf(headers, "x-forwarded-proto") === "https"

/**
 * Checks whether a browser reaches the gateway over TLS: by what it says of its page, by the proxy's word, or by `publicUrl`. A forged header can
 * only make the cookie stricter.
 */
const isOverTls = (headers: RequestHeaders): boolean => {
  if (isForwardedByTls(headers)) return true
  const scheme = schemeOfPage(headers)
  return scheme === null ? requestedAddress(headers)?.startsWith("https:") === true : scheme === "https:"
}

/** Checks whether this request can have come without TLS: one of the gateway's own machine can, whatever address others use. */
const mayBePlain = (headers: RequestHeaders): boolean =>
  !isOverTls(headers) || (!isForwardedByTls(headers) && isOwnHost(headerOf(headers, "host") ?? ""))

/** The values of a request's session cookies, by name; those that are none are left out. */
const cookiesOf = (headers: RequestHeaders): ReadonlyMap<CookieName, string> => {
  const found = new Map<CookieName, string>()
  for (const part of headerOf(headers, "cookie")?.split(";") ?? []) {
    const [given, value] = part.trim().split("=", 2)
    const name = cookieNames.find((known) => known === given)
    if (name !== undefined && value !== undefined && !found.has(name) && /^[\w-]{43}$/.test(value)) {
      found.set(name, value)
    }
  }
  return found
}

/** The session cookie of a request, or null. Over TLS one that a page without it could have set does not count. */
export const cookieOf = (headers: RequestHeaders): string | null => {
  const found = cookiesOf(headers)
  const bound = found.get("__Host-gateway_session") ?? found.get("__Secure-gateway_session")
  if (bound !== undefined) return bound
  return mayBePlain(headers) ? (found.get("gateway_session") ?? null) : null
}

interface CookieShape {
  readonly name: CookieName
  readonly options: {
    readonly httpOnly: true
    readonly sameSite: "strict"
    readonly path: string
    readonly secure: boolean
  }
}

const shapeOf = (name: CookieName, prefix: string): CookieShape => ({
  name,
  options: {
    httpOnly: true,
    sameSite: "strict",
    // The name with `__Host-` is for the whole host; below a path of a proxy the cookie is not for what else is served there.
    path: name === "__Host-gateway_session" ? "/" : prefix || "/",
    secure: name !== "gateway_session"
  }
})

/** The cookie that a login sets. */
export const newCookie = (headers: RequestHeaders): CookieShape => {
  const prefix = requestedPrefix(headers)
  if (!isOverTls(headers)) return shapeOf("gateway_session", prefix)
  return shapeOf(prefix === "" ? "__Host-gateway_session" : "__Secure-gateway_session", prefix)
}

/** The cookies that a logout takes away: those that came, and that which a login would set. */
export const endedCookies = (headers: RequestHeaders): ReadonlyArray<CookieShape> => {
  const names = new Set([newCookie(headers).name, ...cookiesOf(headers).keys()])
  return Array.from(names, (name) => shapeOf(name, requestedPrefix(headers)))
}
