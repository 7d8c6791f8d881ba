/**
 * Requests to untrusted addresses: what a plugin fetches, and the servers of captured requests. The rules are those of `PublicFetch`, for any method: private and metadata
 * addresses are refused by the address that is connected to, and a redirect is followed only to the same origin.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Flags } from "../../subjects/flags/service.ts"
import type { SentSecrets } from "../../kernel/secrets/SentSecrets.ts"
import type { Timers } from "../../platform/Timers.ts"
import type { UpstreamRequest } from "./Call.ts"
import type { Dns } from "./Dns.ts"
import { judgeUrl } from "./OutboundPolicy.ts"
import {
  maxRedirects,
  nextUrl,
  publicCalls,
  type PublicFetchError,
  RedirectRefused,
  UrlBlocked,
  withoutFragment
} from "./PublicFetch.ts"
import { collect, type RequestLimits, TimedOut, type UpstreamResponse } from "./Upstream.ts"
import type { UpstreamSettings } from "./UpstreamSettings.ts"

export interface GuardedRequest {
  readonly url: string
  readonly method: UpstreamRequest["method"]
  /** Name, value, name, value, … Without those that the transport adds. */
  readonly headers: ReadonlyArray<string>
  readonly body: string | null
  /** The credentials in it: the answer comes without them. */
  readonly secrets: SentSecrets
  /** `manual`: the answer is the redirect itself. */
  readonly redirect: "follow" | "manual" | "error"
}

export interface GuardedAnswer extends UpstreamResponse {
  /** Address of the last request. */
  readonly url: string
  readonly isRedirected: boolean
}

export class GuardedFetch extends Context.Tag("gateway/net/egress/GuardedFetch")<
  GuardedFetch,
  {
    /** A whole answer. `mayCall` is asked for every address that is called. Limits hold for all redirects together. Interruption aborts the call. */
    readonly send: (
      request: GuardedRequest,
      limits: RequestLimits,
      mayCall: (url: URL) => boolean
    ) => Effect.Effect<GuardedAnswer, PublicFetchError>
  }
>() {}

/** Methods whose redirects are followed: nothing is sent twice. */
const repeatable: ReadonlySet<string> = new Set(["GET", "HEAD"])

export const make: Effect.Effect<
  Context.Tag.Service<GuardedFetch>,
  never,
  Flags | Dns | Timers | UpstreamSettings
> = Effect.gen(function* () {
  const { call, policy } = yield* publicCalls

  const hop = (
    text: string,
    request: GuardedRequest,
    maxBytes: number,
    mayCall: (url: URL) => boolean,
    redirects: number
  ): Effect.Effect<GuardedAnswer, PublicFetchError> =>
    Effect.suspend(() => {
      const verdict = judgeUrl(withoutFragment(text), policy())
      if (verdict._tag === "Blocked") return new UrlBlocked({ reason: verdict.reason })
      const { url } = verdict
      if (!mayCall(url)) return new UrlBlocked({ reason: "private" })
      const sent: UpstreamRequest = {
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: request.headers,
        body: request.body,
        secrets: request.secrets,
        owner: null
      }
      return Effect.flatMap(
        collect(call(url), sent, maxBytes),
        (answer): Effect.Effect<GuardedAnswer, PublicFetchError> => {
          const done = Effect.succeed({ ...answer, url: url.href, isRedirected: redirects > 0 })
          if (request.redirect === "manual") return done
          const next = nextUrl(answer, url)
          if (next === null) return done
          if (next instanceof RedirectRefused) return next
          if (request.redirect === "error" || !repeatable.has(request.method) || next.origin !== url.origin) {
            return new RedirectRefused({ reason: "elsewhere" })
          }
          if (redirects === maxRedirects) return new RedirectRefused({ reason: "too_many" })
          return hop(next.href, request, maxBytes, mayCall, redirects + 1)
        }
      )
    })

  const send: typeof GuardedFetch.Service.send = Effect.fn("GuardedFetch.send")(
    (request, { maxBytes, timeoutMs }, mayCall) =>
      Effect.timeoutFail(hop(request.url, request, maxBytes, mayCall, 0), {
        duration: timeoutMs,
        onTimeout: (): PublicFetchError => new TimedOut({ timeoutMs })
      })
  )
  return GuardedFetch.of({ send })
})

export const layer: Layer.Layer<GuardedFetch, never, Flags | Dns | Timers | UpstreamSettings> = Layer.effect(
  GuardedFetch,
  make
)
