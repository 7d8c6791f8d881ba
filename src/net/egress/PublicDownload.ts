/**
 * Downloads a file from a public address without holding it in memory. The rules are those of `PublicFetch`: private and metadata
 * addresses are refused, and every redirect is checked like the first address.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Flags } from "../../subjects/flags/service.ts"
import { noSecrets } from "../../kernel/secrets/SentSecrets.ts"
import type { Timers } from "../../platform/Timers.ts"
import type { UpstreamRequest } from "./Call.ts"
import type { Dns } from "./Dns.ts"
import { judgeUrl } from "./OutboundPolicy.ts"
import {
  type Head,
  maxRedirects,
  nextUrl,
  publicCalls,
  publicHeaders,
  RedirectRefused,
  UrlBlocked,
  withoutFragment
} from "./PublicFetch.ts"
import type { TransportFailure } from "./TransportFailure.ts"
import { type RequestLimits, ResponseTooLarge, TimedOut } from "./Upstream.ts"
import type { UpstreamSettings } from "./UpstreamSettings.ts"

/** The answer has another status than 200. */
export class NoSuchFile extends Data.TaggedError("NoSuchFile")<{ readonly status: number }> {}

/** `write` has thrown. */
export class NotWritten extends Data.TaggedError("NotWritten")<{ readonly cause: unknown }> {}

export type DownloadError =
  | UrlBlocked
  | RedirectRefused
  | TransportFailure
  | ResponseTooLarge
  | TimedOut
  | NoSuchFile
  | NotWritten

export class PublicDownload extends Context.Tag("gateway/net/egress/PublicDownload")<
  PublicDownload,
  {
    /** Calls `write` with each piece in order. Limits hold for all redirects together. Interruption aborts the call. */
    readonly get: (
      url: string,
      limits: RequestLimits,
      write: (piece: Buffer) => void
    ) => Effect.Effect<void, DownloadError>
  }
>() {}

export const make = Effect.gen(function* () {
  const { call, policy } = yield* publicCalls

  /** Null: all of it was written; else where the answer leads. */
  const one = (url: URL, maxBytes: number, write: (piece: Buffer) => void): Effect.Effect<URL | null, DownloadError> =>
    Effect.async((resume) => {
      let size = 0
      const request: UpstreamRequest = {
        origin: url.origin,
        path: url.pathname + url.search,
        method: "GET",
        headers: publicHeaders,
        body: null,
        secrets: noSecrets,
        owner: null
      }
      const end = (result: Effect.Effect<URL | null, DownloadError>): boolean => {
        started.abort()
        resume(result)
        return false
      }
      const started = call(url)(request, {
        onHeaders: (status, headers) => {
          const head: Head = { status, headers }
          const next = nextUrl(head, url)
          if (next !== null) return end(next instanceof RedirectRefused ? next : Effect.succeed(next))
          if (status !== 200) return end(new NoSuchFile({ status }))
          if (Number(headers.get("content-length")) > maxBytes)
            return end(new ResponseTooLarge({ limitBytes: maxBytes }))
          return true
        },
        onData: (piece) => {
          size += piece.length
          if (size > maxBytes) return end(new ResponseTooLarge({ limitBytes: maxBytes }))
          try {
            write(piece)
            return true
          } catch (cause) {
            return end(new NotWritten({ cause }))
          }
        },
        onEnd: () => resume(Effect.succeed(null)),
        onFail: (failure) => resume(Effect.fail(failure))
      })
      return Effect.sync(() => started.abort())
    })

  const follow = (
    text: string,
    maxBytes: number,
    write: (piece: Buffer) => void,
    left: number
  ): Effect.Effect<void, DownloadError> =>
    Effect.suspend(() => {
      const verdict = judgeUrl(withoutFragment(text), policy())
      if (verdict._tag === "Blocked") return new UrlBlocked({ reason: verdict.reason })
      return Effect.flatMap(one(verdict.url, maxBytes, write), (next): Effect.Effect<void, DownloadError> => {
        if (next === null) return Effect.void
        return left === 0 ? new RedirectRefused({ reason: "too_many" }) : follow(next.href, maxBytes, write, left - 1)
      })
    })

  const get: typeof PublicDownload.Service.get = Effect.fn("PublicDownload.get")(
    (url, { maxBytes, timeoutMs }, write) =>
      Effect.timeoutFail(follow(url, maxBytes, write, maxRedirects), {
        duration: timeoutMs,
        onTimeout: (): DownloadError => new TimedOut({ timeoutMs })
      })
  )
  return PublicDownload.of({ get })
})

export const layer: Layer.Layer<PublicDownload, never, Flags | Dns | Timers | UpstreamSettings> = Layer.effect(
  PublicDownload,
  make
)
