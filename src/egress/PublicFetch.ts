/**
 * Fetches what a URL inside a request points at. The URL is not trusted: no credential is sent, private and metadata addresses are
 * refused, and every redirect is checked like the first URL, with its name and all addresses. No connection is kept.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Flags } from "../flags/Flags.ts"
import { Timers } from "../platform/Timers.ts"
import { version } from "../platform/Version.ts"
import { startCall, type UpstreamCall, type UpstreamRequest, type UpstreamSink } from "./Call.ts"
import { makeConnector } from "./Connector.ts"
import { Dns } from "./Dns.ts"
import { type Connection, makeOriginPool } from "./OriginPool.ts"
import { type BlockReason, judgeUrl, maxUrlChars, requestPolicy } from "./OutboundPolicy.ts"
import type { TransportFailure } from "./TransportFailure.ts"
import { collect, type RequestLimits, type ResponseTooLarge, TimedOut, type UpstreamResponse } from "./Upstream.ts"
import { UpstreamSettings } from "./UpstreamSettings.ts"

/** The URL, or one it redirects to, may not be fetched. */
export class UrlBlocked extends Data.TaggedError("UrlBlocked")<{ readonly reason: BlockReason }> {}

/** More redirects than are followed, one without a readable address, or one from https down to http. */
export class RedirectRefused extends Data.TaggedError("RedirectRefused")<{
  readonly reason: "too_many" | "unreadable" | "downgrade"
}> {}

export type PublicFetchError = UrlBlocked | RedirectRefused | TransportFailure | ResponseTooLarge | TimedOut

/** The last answer; never a redirect. */
export type Fetched = UpstreamResponse

export type Head = Pick<UpstreamResponse, "status" | "headers">

export class PublicFetch extends Context.Tag("gateway/egress/PublicFetch")<
  PublicFetch,
  {
    /**
     * GETs a URL. Limits hold for all redirects together. Answers for which `wanted` is false come without their body.
     * Interruption aborts the call.
     */
    readonly get: (
      url: string,
      limits: RequestLimits,
      wanted: (head: Head) => boolean
    ) => Effect.Effect<Fetched, PublicFetchError>
  }
>() {}

const maxRedirects = 3
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const headers = ["accept", "*/*", "accept-encoding", "identity", "user-agent", `gateway/${version}`]

const withoutFragment = (url: string): string => {
  const mark = url.indexOf("#")
  return mark < 0 ? url : url.slice(0, mark)
}

/** Where an answer sends us; null when it is no redirect. */
const nextUrl = (head: Head, from: URL): URL | RedirectRefused | null => {
  if (!redirects.has(head.status)) return null
  const location = head.headers.get("location")
  if (location === null || location.length > maxUrlChars || !URL.canParse(location, from.href))
    return new RedirectRefused({ reason: "unreadable" })
  const to = new URL(location, from)
  return from.protocol === "https:" && to.protocol === "http:" ? new RedirectRefused({ reason: "downgrade" }) : to
}

export const make: Effect.Effect<
  Context.Tag.Service<PublicFetch>,
  never,
  Flags | Dns | Timers | UpstreamSettings
> = Effect.gen(function* () {
  const flags = yield* Flags
  const dns = yield* Dns
  const timers = yield* Timers
  const { connectTimeoutMs } = yield* UpstreamSettings
  const policy = () => requestPolicy(flags.isOn)

  /** One call on a connection of its own. */
  const call =
    (url: URL) =>
    (request: UpstreamRequest, sink: UpstreamSink): UpstreamCall => {
      const connect = makeConnector(url, { dns, timers, connectTimeoutMs, policy })
      const pool = makeOriginPool(url.origin, connect, new Set<Connection>())
      const started = startCall(pool, request, sink)
      pool.retire()
      return started
    }

  const hop = (
    text: string,
    maxBytes: number,
    wanted: (head: Head) => boolean,
    left: number
  ): Effect.Effect<Fetched, PublicFetchError> =>
    Effect.suspend(() => {
      const verdict = judgeUrl(withoutFragment(text), policy())
      if (verdict._tag === "Blocked") return new UrlBlocked({ reason: verdict.reason })
      const { url } = verdict
      const request: UpstreamRequest = {
        origin: url.origin,
        path: url.pathname + url.search,
        method: "GET",
        headers,
        body: null
      }
      const headSuffices = (head: Head): boolean => redirects.has(head.status) || !wanted(head)
      return Effect.flatMap(
        collect(call(url), request, maxBytes, headSuffices),
        (answer): Effect.Effect<Fetched, PublicFetchError> => {
          const next = nextUrl(answer, url)
          if (next === null) return Effect.succeed(answer)
          if (next instanceof RedirectRefused) return next
          return left === 0 ? new RedirectRefused({ reason: "too_many" }) : hop(next.href, maxBytes, wanted, left - 1)
        }
      )
    })

  const get = Effect.fn("PublicFetch.get")((url: string, limits: RequestLimits, wanted: (head: Head) => boolean) =>
    hop(url, limits.maxBytes, wanted, maxRedirects).pipe(
      Effect.timeoutFail({
        duration: limits.timeoutMs,
        onTimeout: (): PublicFetchError => new TimedOut({ timeoutMs: limits.timeoutMs })
      })
    )
  )
  return PublicFetch.of({ get })
})

export const layer: Layer.Layer<PublicFetch, never, Flags | Dns | Timers | UpstreamSettings> = Layer.effect(
  PublicFetch,
  make
)
