/**
 * Proof that a request with the session cookie was made by our own page. The token is an HMAC keyed by the cookie's secret value: a
 * foreign page can make the browser send the cookie, but cannot read it, so it cannot know the token.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import { headerOf } from "./Credentials.ts"
import type { RequestHeaders } from "./Credentials.ts"

const purpose = "gateway-csrf-v1"

const safeMethods = new Set(["GET", "HEAD", "OPTIONS"])

export const isSafeMethod = (method: string): boolean => safeMethods.has(method)

const tokenBytes = (cookieValue: string): Buffer => createHmac("sha256", cookieValue).update(purpose).digest()

/** The token that belongs to a session cookie. */
export const csrfTokenOf = (cookieValue: string): string => tokenBytes(cookieValue).toString("base64url")

export const isCsrfToken = (cookieValue: string, token: string | null): boolean => {
  if (token === null) return false
  const given = Buffer.from(token, "base64url")
  const expected = tokenBytes(cookieValue)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

const hostOfOrigin = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null)

/** Checks whether a browser says that a page of the gateway's own address made this request. Other clients do not say so. */
export const isOwnPage = (headers: RequestHeaders): boolean =>
  headerOf(headers, "sec-fetch-site") === "same-origin" && !isCrossSite(headers)

/**
 * Checks whether the headers of a browser show that another site made this request. Clients that are not browsers send neither
 * header and pass; a browser sends at least one of them with every unsafe request.
 */
export const isCrossSite = (headers: RequestHeaders): boolean => {
  const site = headerOf(headers, "sec-fetch-site")
  if (site !== null && site !== "same-origin" && site !== "none") return true
  const origin = headerOf(headers, "origin")
  return origin !== null && hostOfOrigin(origin) !== headerOf(headers, "host")?.toLowerCase()
}
