/** The headers of a captured request that may go into one of our own: none that says who sent it, or how it was sent. Pure. */
import type { RequestHeaders } from "../../subjects/auth/Credentials.ts"

const left = new Set([
  "authorization",
  "proxy-authorization",
  "x-api-key",
  "x-goog-api-key",
  "api-key",
  "cookie",
  "host",
  "origin",
  "referer",
  "connection",
  "keep-alive",
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "accept-encoding",
  "expect",
  "te",
  "trailer",
  "upgrade"
])

const isLeft = (name: string): boolean =>
  left.has(name) || name.startsWith("sec-") || name.startsWith("x-forwarded-") || name.startsWith("proxy-")

const holdsMask = (value: string | ReadonlyArray<string>): boolean =>
  typeof value === "string" ? value.includes("***") : value.some(holdsMask)

/** Names in lower case. What was masked is no value any more, and left out. */
export const ownHeaders = (headers: RequestHeaders): RequestHeaders => {
  const own: Record<string, string | ReadonlyArray<string>> = {}
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase()
    if (value !== undefined && !isLeft(name) && !holdsMask(value)) own[name] = value
  }
  return own
}
