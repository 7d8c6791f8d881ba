/**
 * Responses that were made in the background, by their id: requests about one go to the connection that made it, for the key that made it. The
 * provider's answer is passed on as it is.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { ResponseRoute } from "../../contract/EdgeRoutes.ts"
import { describe, type ErrorView, errorView } from "../../contract/domain/Errors.ts"
import type { MediaJob } from "../../subjects/mediaJobs/entity.ts"
import { ownerOf as callOwnerOf } from "../../subjects/proxies/entity.ts"
import { Upstream, type UpstreamRequest } from "../../net/egress/Upstream.ts"
import { eventScrub } from "../../plane/attempt/EventScrub.ts"
import { MediaJobs } from "../../plane/jobs/MediaJobs.ts"
import { apiKeyIdOf } from "../../plane/request/Exchange.ts"
import { errorHeaders, identityHeaders } from "../../plane/request/Headers.ts"
import { lockedView } from "../../plane/request/LockedView.ts"
import { Timers } from "../../platform/Timers.ts"
import type { Account } from "../../plane/providers/Catalog.ts"
import { TokenRefresh } from "../../plane/providers/oauth/TokenRefresh.ts"
import { Settings } from "../../plane/resilience/Settings.ts"
import { requestWaitMs, waitingAtMost } from "../../store/engine/WriteQueue.ts"
import { codecs } from "../../wire/Codec.ts"
import { underWayIn } from "../../wire/responses/Background.ts"
import { isObject, parseJson } from "../../wire/json/Json.ts"
import type { JobCall } from "./JobEndpoint.ts"

export class ResponseEndpoint extends Context.Tag("gateway/entry/jobs/ResponseEndpoint")<
  ResponseEndpoint,
  { readonly handle: (route: ResponseRoute, call: JobCall) => void }
>() {}

const notFound = (id: string): ErrorView =>
  errorView(
    404,
    `There is no response '${id.slice(0, 100)}'. Responses that were asked for with "background": true are known to the key that asked, for a day after they are over.`,
    { code: "response_not_found" }
  )
const withoutAccount = errorView(410, "The connection that made it is no longer there.", { code: "content_gone" })
const unreachable = errorView(502, "The provider could not be asked about the response. Try again.", {
  code: "upstream_error"
})
const late = errorView(504, "The provider did not answer in time. Try again.", { code: "timeout" })
const refused = errorView(502, "The provider refuses the account that made the response.", { code: "upstream_error" })

const mostAnswerBytes = 64 * 1_048_576
const lookTimeoutMs = 30_000
/** A response that is over is on the bill before it is deleted. */
const settlingMs = 20_000
const mostQueryChars = 2_048

const tails: Readonly<Record<ResponseRoute["key"], string>> = {
  "inference.response": "",
  "inference.deleteResponse": "",
  "inference.cancelResponse": "/cancel",
  "inference.responseItems": "/input_items"
}

/** Parameters that are not passed on to the provider: a key of ours may be in them. */
const ours: ReadonlySet<string> = new Set(["key", "api_key", "api-key", "token"])

const queryFor = (query: URLSearchParams): string => {
  const own = new URLSearchParams([...query].filter(([name]) => !ours.has(name.toLowerCase())))
  const text = own.toString()
  return text === "" || text.length > mostQueryChars ? "" : `?${text}`
}

const isEvents = (type: string): boolean => /^text\/event-stream\b/i.test(type)

const refuse = ({ reply, requestId }: JobCall, view: ErrorView): void => {
  if (reply.isClosed()) return
  const body = JSON.stringify(codecs.responses.renderError(view, requestId))
  reply.head(view.status, errorHeaders(requestId, view, Buffer.byteLength(body)))
  reply.end(body)
}

const requestTo = (
  { identity, query }: JobCall,
  { id, providerModel }: MediaJob,
  account: Account,
  method: ResponseRoute["method"],
  tail: string
): UpstreamRequest | null => {
  const endpoint = account.endpoints.responses
  if (endpoint === undefined) return null
  const [path = "", own] = endpoint.path(providerModel ?? "", false).split("?", 2)
  const asked = queryFor(query())
  const search = own === undefined ? asked : `?${own}${asked.replace("?", "&")}`
  return {
    origin: endpoint.origin,
    path: `${path.replace(/\/+$/, "")}/${encodeURIComponent(id)}${tail}${search}`,
    method,
    headers: [...endpoint.headers, "accept", "*/*", "accept-encoding", "identity"],
    body: null,
    secrets: endpoint.secrets,
    owner: callOwnerOf(account.connection, identity instanceof Error ? null : apiKeyIdOf({ principal: identity }))
  }
}

interface RelayParts {
  readonly settings: typeof Settings.Service
  readonly timers: typeof Timers.Service
  readonly upstream: typeof Upstream.Service
}

/** Hands the provider's answer on. */
const relay = ({ settings, timers, upstream }: RelayParts, call: JobCall, request: UpstreamRequest): void => {
  const { reply, requestId } = call
  const { firstByteMs, idleMs } = settings.current().timeouts
  const scrub = eventScrub(request.secrets, "events", "")
  let status = 0
  let type = ""
  let isOver = false
  let isPaused = false
  let hasBegun = false
  let bytes = 0
  const whole: Array<Buffer> = []
  const finish = (then: () => void): void => {
    if (isOver) return
    isOver = true
    timer.cancel()
    noLongerDrain()
    noLongerClose()
    then()
  }
  const giveUp = (view: ErrorView): void =>
    finish(() => {
      asked.abort()
      if (hasBegun) reply.cut()
      else refuse(call, view)
    })
  const answerWhole = (): void => {
    if (status === 401 || status === 403) return refuse(call, refused)
    const clean = scrub === null ? Buffer.concat(whole) : Buffer.concat([scrub.push(Buffer.concat(whole)), scrub.end()])
    const headers = identityHeaders(requestId)
    headers.push("Content-Type", "application/json", "Content-Length", String(clean.length))
    reply.head(status, headers)
    reply.end(clean)
  }
  const timer = timers.after(firstByteMs, () => (isPaused ? timer.restart() : giveUp(late)))
  let idle = timer
  const asked = upstream.dispatch(request, {
    onHeaders: (told, headers) => {
      status = told
      type = headers.get("content-type") ?? ""
      idle.cancel()
      idle = timers.after(idleMs, () => (isPaused ? idle.restart() : giveUp(late)))
      if (status !== 200 || !isEvents(type)) return
      hasBegun = true
      reply.head(200, [
        ...identityHeaders(requestId),
        "Content-Type",
        "text/event-stream",
        "Cache-Control",
        "no-cache",
        "X-Accel-Buffering",
        "no"
      ])
    },
    onData: (chunk) => {
      if (isOver) return true
      idle.restart()
      if (hasBegun) {
        const clean = scrub === null ? chunk : scrub.push(chunk)
        isPaused = clean.length > 0 && !reply.write(clean)
        return !isPaused
      }
      bytes += chunk.length
      if (bytes > mostAnswerBytes) giveUp(unreachable)
      else whole.push(chunk)
      return true
    },
    onEnd: () =>
      finish(() => {
        idle.cancel()
        if (hasBegun) reply.end(scrub?.end() ?? "")
        else answerWhole()
      }),
    onFail: () => {
      idle.cancel()
      giveUp(unreachable)
    }
  })
  const noLongerDrain = reply.onDrain(() => {
    isPaused = false
    asked.resume()
  })
  const noLongerClose = reply.onClose(() =>
    finish(() => {
      idle.cancel()
      asked.abort()
    })
  )
}

export const make = Effect.gen(function* () {
  const jobs = yield* MediaJobs
  const settings = yield* Settings
  const timers = yield* Timers
  const tokens = yield* TokenRefresh
  const upstream = yield* Upstream
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())

  /** Checks whether the provider says that it is over; without its answer there is no wait. */
  const isOverThere = (request: UpstreamRequest): Effect.Effect<boolean> =>
    upstream.request({ ...request, method: "GET" }, { timeoutMs: lookTimeoutMs, maxBytes: mostAnswerBytes }).pipe(
      Effect.map(({ body, status }) => {
        const answer = parseJson(body.toString("utf8"))
        return status === 200 && isObject(answer) && underWayIn(answer)?.isOpen !== true
      }),
      Effect.orElseSucceed(() => false)
    )

  /** Bills the response before it is deleted. */
  const settled = (route: ResponseRoute, job: MediaJob, request: UpstreamRequest): Effect.Effect<void> =>
    route.key !== "inference.deleteResponse" || job.endedAtMs !== null
      ? Effect.void
      : Effect.flatMap(isOverThere(request), (isOver) =>
          isOver ? Effect.asVoid(Effect.timeoutOption(jobs.over(job.id), settlingMs)) : Effect.void
        )

  const ask = (route: ResponseRoute, call: JobCall): Effect.Effect<void> =>
    Effect.gen(function* () {
      const { identity, job: id } = call
      if (identity instanceof Error) return refuse(call, describe(identity))
      const owner = apiKeyIdOf({ principal: identity }) ?? ""
      const job = yield* waitingAtMost(requestWaitMs)(jobs.find(owner, "responses", id))
      if (job === null) return refuse(call, notFound(id))
      const known = tokens.current(job.connectionId ?? "")
      if (known === null) return refuse(call, withoutAccount)
      yield* tokens.ensureFresh(known.connection)
      const account = tokens.current(known.connection.id) ?? known
      const request = requestTo(call, job, account, route.method, tails[route.key])
      if (request === null) return refuse(call, withoutAccount)
      yield* settled(route, job, request)
      relay({ settings, timers, upstream }, call, request)
    }).pipe(
      Effect.catchAllCause((cause) =>
        Effect.zipRight(
          Effect.logError(`A request for a response failed (${call.requestId})`, cause),
          Effect.sync(() => refuse(call, lockedView(cause) ?? unreachable))
        )
      )
    )

  return ResponseEndpoint.of({ handle: (route, call) => void runFork(ask(route, call)) })
})

export const layer: Layer.Layer<ResponseEndpoint, never, MediaJobs | Settings | Timers | TokenRefresh | Upstream> =
  Layer.effect(ResponseEndpoint, make)
