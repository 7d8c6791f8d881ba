/** `fetch` of plugins. */
import * as Effect from "effect/Effect"
import { type GuardedFetch, type GuardedRequest } from "../../../../net/egress/GuardedFetch.ts"
import { blockMessage } from "../../../../net/egress/OutboundPolicy.ts"
import type { PublicFetchError } from "../../../../net/egress/PublicFetch.ts"
import { version } from "../../../../platform/Version.ts"
import { isArray, type JsonObject } from "../../../../wire/json/Json.ts"
import { fetchLimits } from "../Limits.ts"
import { noSecrets } from "../../../../kernel/secrets/SentSecrets.ts"
import { type HostRefusal, type HostResult, refusal } from "./HostCalls.ts"

const maxHeaders = 64
const maxHeaderChars = 8_192

/** Pattern of the headers that the transport sets, or that are about the connection. */
const reserved =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|accept-encoding|proxy-.*|sec-.*)$/
const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
// oxlint-disable-next-line no-control-regex -- they end a header
const badValue = /[\0-\x08\x0a-\x1f\x7f]|[^\0-\xff]/

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] as const
const isMethod = (value: unknown): value is GuardedRequest["method"] => methods.some((method) => method === value)

/**
 * Checks whether a host is one of a list: a name, a name with a port, or `*.` and the name above all that are meant. Without a port any port is
 * meant.
 */
export const isListed = (hosts: ReadonlyArray<string>, url: URL): boolean => {
  const name = url.hostname.toLowerCase().replace(/\.$/, "")
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port
  return hosts.some((listed) => {
    const match = /^(.*?)(?::(\d{1,5}))?$/.exec(
      listed.startsWith("[") ? listed.replace("]:", "]\0:") : listed.toLowerCase()
    )
    const host = (match?.[1] ?? "").replace("\0", "").toLowerCase()
    const isHost = host.startsWith("*.") ? name.endsWith(host.slice(1)) && name.length > host.length - 1 : name === host
    return isHost && (match?.[2] === undefined || match[2] === port)
  })
}

const headersOf = (given: unknown): ReadonlyArray<string> | null => {
  if (!isArray(given) || given.length > maxHeaders) return null
  const headers = ["accept-encoding", "identity"]
  let hasAgent = false
  let chars = 0
  for (const pair of given) {
    const [name, value] = isArray(pair) ? pair : []
    if (typeof name !== "string" || typeof value !== "string") return null
    chars += name.length + value.length
    if (!token.test(name) || reserved.test(name) || badValue.test(value) || chars > maxHeaderChars) return null
    hasAgent ||= name === "user-agent"
    headers.push(name, value)
  }
  return hasAgent ? headers : [...headers, "user-agent", `gateway/${version}`]
}

const messageOf = (error: PublicFetchError): string => {
  switch (error._tag) {
    case "UrlBlocked":
      return blockMessage[error.reason]
    case "RedirectRefused":
      return "The answer redirects to another place, which is not followed"
    case "ResponseTooLarge":
      return `The answer is larger than ${fetchLimits.maxBytes} bytes, the limit`
    case "TimedOut":
      return `No whole answer within ${fetchLimits.timeoutMs} ms`
    case "TransportFailure":
      return "The request failed on its way"
  }
}

export const makeFetch =
  (guarded: typeof GuardedFetch.Service, hosts: ReadonlyArray<string> | null) =>
  ({ body, headers, method, redirect, url }: JsonObject): Effect.Effect<HostResult, HostRefusal> => {
    const invalid = (what: string) => refusal(`fetch: ${what}`, null, "TypeError")
    const sent = headersOf(headers)
    if (typeof url !== "string") return invalid("an address is missing")
    if (!isMethod(method)) return invalid(`the method must be one of ${methods.join(", ")}`)
    if (sent === null) return invalid("a header is not allowed, or there are too many")
    if (body !== null && typeof body !== "string") return invalid("the body must be a text")
    const way = redirect === "manual" || redirect === "error" ? redirect : "follow"
    // What a plugin sends is its own.
    const request: GuardedRequest = { url, method, headers: sent, body, secrets: noSecrets, redirect: way }
    return guarded
      .send(request, fetchLimits, (to) => hosts === null || isListed(hosts, to))
      .pipe(
        Effect.map((answer): HostResult => ({
          value: {
            status: answer.status,
            statusText: "",
            url: answer.url,
            redirected: answer.isRedirected,
            headers: [...answer.headers].map(([name, value]) => [name, value])
          },
          blob: Uint8Array.from(answer.body)
        })),
        Effect.mapError((error) => refusal(`fetch failed: ${messageOf(error)}`, null, "TypeError"))
      )
  }
