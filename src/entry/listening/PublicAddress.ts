/**
 * The address that callers use where a reverse proxy serves the gateway (docs/operations.md): the setting `publicUrl`, else `GATEWAY_PUBLIC_URL`, or
 * `X-Forwarded-Prefix` of a proxy that is trusted. A path that the proxy has left before the gateway's own is taken away here.
 */
import type { IncomingMessage } from "node:http"
import { headerOf, requestedHost, publicAddressHeader } from "../../subjects/auth/Credentials.ts"
import { peerAddressOf } from "../../subjects/auth/PeerAddress.ts"
import { makeIpRanges } from "../../kernel/IpRanges.ts"

const prefixHeader = "x-forwarded-prefix"
const maxPrefixChars = 256

/** Proxies on this machine are trusted as they are. */
const ownMachine = ["127.0.0.0/8", "::1"]

/** `/llm` from what a proxy sent; null when it is no path of plain names. */
export const readPrefix = (text: string): string | null => {
  if (text.length > maxPrefixChars) return null
  const path = text.trim().replace(/\/+$/, "")
  if (!/^(?:\/[\w~!$&'()*+,;=:@%-][\w.~!$&'()*+,;=:@%-]*)+$/.test(path)) return null
  return /["'<>\\]|%(?![\da-f]{2})/i.test(path) ? null : path
}

/** The path without what is before the gateway's own; the same when that is not there. */
export const withoutPrefix = (url: string, prefix: string): string => {
  if (prefix === "" || !url.startsWith(prefix)) return url
  const rest = url.slice(prefix.length)
  if (rest === "" || rest.startsWith("?")) return `/${rest}`
  return rest.startsWith("/") ? rest : url
}

const prefixOf = (publicUrl: string): string => new URL(publicUrl).pathname.replace(/\/+$/, "")

/** Hot: makes the function that runs for each request and upgrade before anything else reads it. `publicUrlNow`: as it is set at the time. */
export const makePublicAddress = (
  publicUrlNow: () => string | null,
  trustedProxies: ReadonlyArray<string>
): ((request: IncomingMessage) => void) => {
  const isTrusted = makeIpRanges([...ownMachine, ...trustedProxies])
  let known: string | null = null
  let prefix = ""
  return (request) => {
    const { headers } = request
    const publicUrl = publicUrlNow()
    if (publicUrl !== known) {
      known = publicUrl
      prefix = publicUrl === null ? "" : prefixOf(publicUrl)
    }
    if (publicUrl !== null) {
      if (request.url !== undefined) request.url = withoutPrefix(request.url, prefix)
      headers[publicAddressHeader] = publicUrl
      return
    }
    if (headers[prefixHeader] === undefined) return
    const told = readPrefix(headerOf(headers, prefixHeader) ?? "")
    const host = requestedHost(headers)
    if (told === null || host === null || !isTrusted(peerAddressOf(request.socket) ?? "")) return
    headers[publicAddressHeader] = host + told
  }
}
