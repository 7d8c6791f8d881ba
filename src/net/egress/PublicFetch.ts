/**
 * Calls a URL that others chose: one in a request, the receiver of a webhook. The URL is not trusted: no credential is sent but the one
 * that the caller gives for it, private and metadata addresses are refused, and every redirect that is followed is checked like the first
 * URL, with its name and all addresses. No connection is kept.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { isIP } from "node:net"
import { Flags } from "../../subjects/flags/service.ts"
import { bothSecrets, noSecrets, secretsInHeaders } from "../../kernel/secrets/SentSecrets.ts"
import { type Timer, Timers } from "../../platform/Timers.ts"
import { version } from "../../platform/Version.ts"
import { startCall, type UpstreamCall, type UpstreamRequest, type UpstreamSink } from "./Call.ts"
import { makeConnector } from "./Connector.ts"
import { Dns } from "./Dns.ts"
import { type Connection, makeOriginPool } from "./OriginPool.ts"
import { type BlockReason, judgeAddress, judgeUrl, maxUrlChars, requestPolicy } from "./OutboundPolicy.ts"
import { hopSecrets } from "./proxy/HopSecrets.ts"
import type { TransportFailure } from "./TransportFailure.ts"
import { collect, type RequestLimits, type ResponseTooLarge, TimedOut, type UpstreamResponse } from "./Upstream.ts"
import { UpstreamSettings } from "./UpstreamSettings.ts"

/** The URL, or one it redirects to, may not be fetched. */
export class UrlBlocked extends Data.TaggedError("UrlBlocked")<{ readonly reason: BlockReason }> {}

/** More redirects than are followed, one without a readable address, one from https down to http, or one to another place where none may be followed. */
export class RedirectRefused extends Data.TaggedError("RedirectRefused")<{
  readonly reason: "too_many" | "unreadable" | "downgrade" | "elsewhere"
}> {}

export type SendError = UrlBlocked | TransportFailure | ResponseTooLarge | TimedOut

export type PublicFetchError = UrlBlocked | RedirectRefused | TransportFailure | ResponseTooLarge | TimedOut

/** The last answer; never a redirect. */
export type Fetched = UpstreamResponse

export type Head = Pick<UpstreamResponse, "status" | "headers">

export class PublicFetch extends Context.Tag("gateway/net/egress/PublicFetch")<
  PublicFetch,
  {
    /**
     * GETs a URL. Limits hold for all redirects together. Answers for which `wantsBody` is false come without their body.
     * Interruption aborts the call. `chosenBy`: who named the URL; it matters where a proxy of the environment would resolve its name.
     */
    readonly get: (
      url: string,
      limits: RequestLimits,
      wantsBody: (head: Head) => boolean,
      chosenBy?: "caller" | "operator"
    ) => Effect.Effect<Fetched, PublicFetchError>
    /**
     * POSTs a body and gives the status of the answer as soon as its head is there; a redirect is not followed. What comes after the head is
     * read for a moment, so that the receiver can finish, and dropped.
     */
    readonly post: (
      url: string,
      message: { readonly headers: ReadonlyArray<string>; readonly body: string },
      timeoutMs: number
    ) => Effect.Effect<number, UrlBlocked | TransportFailure | TimedOut>
    /** POSTs a body and reads the whole answer; a redirect is not followed. */
    readonly send: (
      url: string,
      message: { readonly headers: ReadonlyArray<string>; readonly body: string },
      limits: RequestLimits
    ) => Effect.Effect<Fetched, SendError>
    /**
     * Checks whether the URL may be called now: by its text and, where its name resolves, by all its addresses. Null
     * when it may.
     */
    readonly check: (url: string) => Effect.Effect<BlockReason | null>
  }
>() {}

/** Most bytes of an answer to a POST that are read after its head, and the time limit for them. */
const restBytes = 65_536
const restMs = 1_000
/** Time limit in ms for names, when a URL is checked: the call itself has a limit of its own. */
const resolveMs = 3_000

export const maxRedirects = 3
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export const publicHeaders = ["accept", "*/*", "accept-encoding", "identity", "user-agent", `gateway/${version}`]

export const withoutFragment = (url: string): string => {
  const mark = url.indexOf("#")
  return mark < 0 ? url : url.slice(0, mark)
}

/** Finds the target of a redirect; null when it is none. */
export const nextUrl = (head: Head, from: URL): URL | RedirectRefused | null => {
  if (!redirects.has(head.status)) return null
  const location = head.headers.get("location")
  if (location === null || location.length > maxUrlChars || !URL.canParse(location, from.href))
    return new RedirectRefused({ reason: "unreadable" })
  const to = new URL(location, from)
  return from.protocol === "https:" && to.protocol === "http:" ? new RedirectRefused({ reason: "downgrade" }) : to
}

/** Calls, each on a connection of its own. */
export const publicCalls = Effect.gen(function* () {
  const flags = yield* Flags
  const dns = yield* Dns
  const timers = yield* Timers
  const { connectTimeoutMs, environmentProxy } = yield* UpstreamSettings
  const policy = () => requestPolicy(flags.isOn)
  /** A proxy of the environment must not be the way around the policy; `checked` is for addresses that an operator has named. */
  const call =
    (url: URL, proxiedName: "checked" | "pinned" = "pinned") =>
    (request: UpstreamRequest, sink: UpstreamSink): UpstreamCall => {
      const proxy = environmentProxy?.(url.origin) ?? null
      const connect = makeConnector(url, {
        dns,
        timers,
        connectTimeoutMs,
        policy,
        proxiedName,
        ...(proxy === null ? {} : { proxy })
      })
      const pool = makeOriginPool(url.origin, connect, new Set<Connection>())
      const secrets = proxy === null ? request.secrets : bothSecrets(request.secrets, hopSecrets(proxy))
      const started = startCall(pool, { ...request, secrets }, sink)
      pool.retire()
      return started
    }
  return { call, policy }
})

type PublicCalls = Effect.Effect.Success<typeof publicCalls>

type Message = Parameters<typeof PublicFetch.Service.post>[1]

const requestOf = (
  { origin, pathname, search }: URL,
  rest: Pick<UpstreamRequest, "method" | "headers" | "body" | "secrets">
): UpstreamRequest => ({ origin, path: pathname + search, ...rest, owner: null })

const within = <A, E>(effect: Effect.Effect<A, E>, timeoutMs: number): Effect.Effect<A, E | TimedOut> =>
  Effect.timeoutFail(effect, { duration: timeoutMs, onTimeout: () => new TimedOut({ timeoutMs }) })

/** GETs the URL, and those that it redirects to. */
const makeGet = ({ call, policy }: PublicCalls): typeof PublicFetch.Service.get => {
  const hop = (
    text: string,
    maxBytes: number,
    wantsBody: (head: Head) => boolean,
    proxiedName: "checked" | "pinned",
    left: number
  ): Effect.Effect<Fetched, PublicFetchError> =>
    Effect.suspend(() => {
      const verdict = judgeUrl(withoutFragment(text), policy())
      if (verdict._tag === "Blocked") return new UrlBlocked({ reason: verdict.reason })
      const { url } = verdict
      const request = requestOf(url, { method: "GET", headers: publicHeaders, body: null, secrets: noSecrets })
      const headSuffices = (head: Head): boolean => redirects.has(head.status) || !wantsBody(head)
      return Effect.flatMap(
        collect(call(url, proxiedName), request, maxBytes, headSuffices),
        (answer): Effect.Effect<Fetched, PublicFetchError> => {
          const next = nextUrl(answer, url)
          if (next === null) return Effect.succeed(answer)
          if (next instanceof RedirectRefused) return next
          return left === 0
            ? new RedirectRefused({ reason: "too_many" })
            : hop(next.href, maxBytes, wantsBody, proxiedName, left - 1)
        }
      )
    })
  return Effect.fn("PublicFetch.get")((url, { maxBytes, timeoutMs }, wantsBody, chosenBy = "caller") =>
    within(hop(url, maxBytes, wantsBody, chosenBy === "operator" ? "checked" : "pinned", maxRedirects), timeoutMs)
  )
}

/** Gives the status of the answer to a POST, and reads a little of what comes after the head. */
const makePost = ({ call, policy }: PublicCalls, timers: Context.Tag.Service<Timers>) => {
  /** The status, when the head is there. */
  const statusOf = (url: URL, request: UpstreamRequest): Effect.Effect<number, TransportFailure> =>
    Effect.async((resume) => {
      let restSize = 0
      let limit: Timer | null = null
      const started = call(url, "checked")(request, {
        onHeaders: (status) => {
          limit = timers.after(restMs, () => started.abort())
          resume(Effect.succeed(status))
        },
        onData: (chunk) => {
          restSize += chunk.length
          if (restSize <= restBytes) return true
          limit?.cancel()
          started.abort()
          return false
        },
        onEnd: () => limit?.cancel(),
        onFail: (failure) => {
          limit?.cancel()
          resume(Effect.fail(failure))
        }
      })
      return Effect.sync(() => started.abort())
    })

  return Effect.fn("PublicFetch.post")(
    (
      text: string,
      message: Message,
      timeoutMs: number
    ): Effect.Effect<number, UrlBlocked | TransportFailure | TimedOut> => {
      const verdict = judgeUrl(text, policy())
      if (verdict._tag === "Blocked") return new UrlBlocked({ reason: verdict.reason })
      // Nothing but the status of the answer is given.
      const request = requestOf(verdict.url, { method: "POST", ...message, secrets: noSecrets })
      return within(statusOf(verdict.url, request), timeoutMs)
    }
  )
}

const makeSend = ({ call, policy }: PublicCalls) =>
  Effect.fn("PublicFetch.send")(
    (
      text: string,
      { body, headers }: Message,
      { maxBytes, timeoutMs }: RequestLimits
    ): Effect.Effect<Fetched, SendError> => {
      const verdict = judgeUrl(text, policy())
      if (verdict._tag === "Blocked") return new UrlBlocked({ reason: verdict.reason })
      const request = requestOf(verdict.url, {
        method: "POST",
        headers: ["accept-encoding", "identity", "user-agent", `gateway/${version}`, ...headers],
        body,
        secrets: secretsInHeaders(headers)
      })
      return within(collect(call(verdict.url, "checked"), request, maxBytes), timeoutMs)
    }
  )

const makeCheck = ({ policy }: PublicCalls, dns: Context.Tag.Service<Dns>) =>
  Effect.fn("PublicFetch.check")((text: string): Effect.Effect<BlockReason | null> => {
    const verdict = judgeUrl(text, policy())
    if (verdict._tag === "Blocked") return Effect.succeed(verdict.reason)
    const name = verdict.url.hostname
    if (isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0) return Effect.succeed(null)
    return Effect.tryPromise(() => dns.resolve(name)).pipe(
      Effect.timeout(resolveMs),
      // A name that does not resolve now is judged when it is called.
      Effect.orElseSucceed((): ReadonlyArray<string> => []),
      Effect.map((addresses) => {
        for (const address of addresses) {
          const judged = judgeAddress(address, policy())
          if (judged._tag === "Blocked") return judged.reason
        }
        return null
      })
    )
  })

export const make: Effect.Effect<
  Context.Tag.Service<PublicFetch>,
  never,
  Flags | Dns | Timers | UpstreamSettings
> = Effect.gen(function* () {
  const calls = yield* publicCalls
  return PublicFetch.of({
    get: makeGet(calls),
    post: makePost(calls, yield* Timers),
    send: makeSend(calls),
    check: makeCheck(calls, yield* Dns)
  })
})

export const layer: Layer.Layer<PublicFetch, never, Flags | Dns | Timers | UpstreamSettings> = Layer.effect(
  PublicFetch,
  make
)
