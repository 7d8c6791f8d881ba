/** Jobs that make videos and music, for clients that come back: their state, their bytes, their end. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Proxy from "../../subjects/proxies/entity.ts"
import type { JobRoute } from "../../contract/EdgeRoutes.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { describe, type ErrorView, errorView, type InferenceError } from "../../contract/domain/Errors.ts"
import { isOver, type MediaJob, type MediaJobKind } from "../../subjects/mediaJobs/entity.ts"
import { Upstream } from "../../net/egress/Upstream.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { deletedView, jobListView, jobView } from "../../plane/jobs/JobViews.ts"
import { MediaJobs } from "../../plane/jobs/MediaJobs.ts"
import type { ClientReply } from "../../plane/request/Exchange.ts"
import { errorHeaders, identityHeaders } from "../../plane/request/Headers.ts"
import { lockedView } from "../../plane/request/LockedView.ts"
import { Timers } from "../../platform/Timers.ts"
import type { Account } from "../../plane/providers/Catalog.ts"
import type { RefreshFailed } from "../../plane/providers/oauth/RefreshFailed.ts"
import { TokenRefresh } from "../../plane/providers/oauth/TokenRefresh.ts"
import { Settings } from "../../plane/resilience/Settings.ts"
import type { StoreError } from "../../store/Errors.ts"
import { requestWaitMs, waitingAtMost } from "../../store/engine/WriteQueue.ts"
import { codecs } from "../../wire/Codec.ts"
import { contentAddress, streamContent, variantOf } from "./JobContent.ts"
import { jobListOf } from "./JobList.ts"

export interface JobCall {
  readonly requestId: string
  readonly identity: Principal | InferenceError
  readonly job: string
  /** The gateway's own address as the caller used it; empty: unknown. */
  readonly address: string
  readonly query: () => URLSearchParams
  readonly reply: ClientReply
}

export class JobEndpoint extends Context.Tag("gateway/entry/jobs/JobEndpoint")<
  JobEndpoint,
  { readonly handle: (route: JobRoute, call: JobCall) => void }
>() {}

/** Kinds of output of the jobs of a route. */
export const jobKinds: Readonly<Record<JobRoute["key"], MediaJobKind>> = {
  "inference.videoJobs": "videos",
  "inference.video": "videos",
  "inference.deleteVideo": "videos",
  "inference.cancelVideo": "videos",
  "inference.videoContent": "videos",
  "inference.song": "music",
  "inference.deleteSong": "music",
  "inference.cancelSong": "music",
  "inference.songContent": "music"
}

const notFound = (id: string): ErrorView =>
  errorView(404, `There is no job '${id.slice(0, 100)}'. Jobs are kept for a day after they are over.`, {
    code: "job_not_found"
  })

const withoutAccount = errorView(410, "The connection that made it is no longer there.", { code: "content_gone" })

const withoutToken = (failed: RefreshFailed): ErrorView =>
  errorView(503, failed.message, {
    code: "token_refresh_failed",
    ...(failed._tag === "RefreshTransient" ? { retryAfterMs: failed.retryAfterMs } : {})
  })

const ownerOf = (principal: Principal): string => (principal._tag === "Key" ? principal.key.id : "")

const refuse = ({ reply, requestId }: JobCall, view: ErrorView): void => {
  const body = JSON.stringify(codecs.chat.renderError(view, requestId))
  reply.head(view.status, errorHeaders(requestId, view, Buffer.byteLength(body)))
  reply.end(body)
}

const json = ({ reply, requestId }: JobCall, value: unknown): void => {
  const body = JSON.stringify(value)
  const headers = identityHeaders(requestId)
  headers.push("Content-Type", "application/json", "Content-Length", String(Buffer.byteLength(body)))
  reply.head(200, headers)
  reply.end(body)
}

/** Answers with what jobs have made. */
const makeContent = Effect.gen(function* () {
  const gateway = yield* GatewaySettings
  const settings = yield* Settings
  const timers = yield* Timers
  const tokens = yield* TokenRefresh
  const upstream = yield* Upstream
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())

  const content = (call: JobCall, job: MediaJob): void => {
    const { connectionId, outputs, status } = job
    if (status !== "completed" || outputs === null) {
      const message = isOver(job)
        ? `The job is ${status}: it has made nothing.`
        : `The job is ${status}: ask for its bytes when it is completed.`
      return refuse(call, errorView(409, message, { code: "job_not_completed" }))
    }
    const variant = variantOf(call.query())
    if (variant instanceof Error) return refuse(call, describe(variant))
    const index = Number(call.query().get("index") ?? 0)
    const output = outputs[index]
    if (output === undefined) {
      return refuse(
        call,
        errorView(404, `The job has made ${outputs.length} pieces, counted from 0.`, { param: "index" })
      )
    }
    if (variant !== null && output.content === undefined) {
      const message = `The provider has made no ${variant} of it.`
      return refuse(call, errorView(404, message, { code: "variant_not_found", param: "variant" }))
    }
    if (output.url !== undefined) {
      call.reply.head(302, [...identityHeaders(call.requestId), "Location", output.url, "Content-Length", "0"])
      return call.reply.end("")
    }
    if (output.b64_json !== undefined) {
      const bytes = Buffer.from(output.b64_json, "base64")
      const type = job.kind === "videos" ? "video/mp4" : "audio/mpeg"
      call.reply.head(200, [
        ...identityHeaders(call.requestId),
        "Content-Type",
        type,
        "Content-Length",
        String(bytes.length)
      ])
      return call.reply.end(bytes)
    }
    const known = tokens.current(connectionId ?? "")
    if (known === null || output.content === undefined) return refuse(call, withoutAccount)
    const address = contentAddress(output.content, variant)
    runFork(
      Effect.match(tokens.ensureFresh(known.connection), {
        onSuccess: () => stream(call, address, tokens.current(known.connection.id) ?? known),
        onFailure: (failed) => refuse(call, withoutToken(failed))
      })
    )
  }

  /** The bytes, with the credential of the account that made them. */
  const stream = (call: JobCall, address: string, account: Account): void => {
    const endpoint = account.endpoints[account.wires[0] ?? "chat"]
    if (endpoint === undefined) return refuse(call, withoutAccount)
    const { firstByteMs, idleMs } = settings.current().timeouts
    streamContent(upstream, timers, {
      requestId: call.requestId,
      reply: call.reply,
      endpoint,
      owner: Proxy.ownerOf(account.connection, call.identity._tag === "Key" ? call.identity.key.id : null),
      address,
      maxBytes: gateway.current().media.maxAnswerMb * 1_048_576,
      silentMs: Math.min(firstByteMs, idleMs),
      refuse: ({ code, message, status: refused }) => refuse(call, errorView(refused, message, { code }))
    })
  }

  return content
})

export const make = Effect.gen(function* () {
  const jobs = yield* MediaJobs
  const content = yield* makeContent
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())

  /** Runs `work`, and answers with `then`, or that there is no such job. */
  const answer = <A>(call: JobCall, work: Effect.Effect<A | null, StoreError>, then: (found: A) => void): void => {
    const failed = (cause: unknown) =>
      lockedView(cause) ?? errorView(500, "The gateway could not read the job. Its log says why.")
    runFork(
      Effect.matchCauseEffect(waitingAtMost(requestWaitMs)(work), {
        onSuccess: (found) => Effect.sync(() => (found === null ? refuse(call, notFound(call.job)) : then(found))),
        onFailure: (cause) =>
          Effect.zipRight(
            Effect.logError(`A request for a job failed (${call.requestId})`, cause),
            Effect.sync(() => refuse(call, failed(Cause.squash(cause))))
          )
      })
    )
  }

  const list = (call: JobCall, owner: string, kind: MediaJobKind): void => {
    const query = jobListOf(call.query())
    if (query instanceof Error) return refuse(call, describe(query))
    answer(call, jobs.list(owner, kind, query), (page) => json(call, jobListView(page, call.address)))
  }

  const cancelled = (call: JobCall, job: MediaJob): void => {
    if (job.status === "cancelled") return json(call, jobView(job, call.address))
    refuse(call, errorView(409, `The job is ${job.status} already.`, { code: "job_over" }))
  }

  const remove = (call: JobCall, owner: string, kind: MediaJobKind): void =>
    answer(call, jobs.find(owner, kind, call.job), (job) => {
      if (!isOver(job))
        return answer(call, jobs.cancel(owner, kind, call.job), (ended) => json(call, jobView(ended, call.address)))
      answer(call, Effect.as(jobs.remove(owner, call.job), job), (removed) => json(call, deletedView(removed)))
    })

  return JobEndpoint.of({
    handle: (route, call) => {
      if (call.identity instanceof Error) return refuse(call, describe(call.identity))
      const owner = ownerOf(call.identity)
      const kind = jobKinds[route.key]
      switch (route.key) {
        case "inference.videoJobs":
          return list(call, owner, kind)
        case "inference.video":
        case "inference.song":
          return answer(call, jobs.find(owner, kind, call.job), (job) => json(call, jobView(job, call.address)))
        case "inference.deleteVideo":
        case "inference.deleteSong":
          return remove(call, owner, kind)
        case "inference.cancelVideo":
        case "inference.cancelSong":
          return answer(call, jobs.find(owner, kind, call.job), (job) =>
            isOver(job)
              ? refuse(call, errorView(409, `The job is ${job.status} already.`, { code: "job_over" }))
              : answer(call, jobs.cancel(owner, kind, call.job), (ended) => cancelled(call, ended))
          )
        case "inference.videoContent":
        case "inference.songContent":
          return answer(call, jobs.find(owner, kind, call.job), (job) => content(call, job))
      }
    }
  })
})

export const layer: Layer.Layer<
  JobEndpoint,
  never,
  GatewaySettings | MediaJobs | Settings | Timers | TokenRefresh | Upstream
> = Layer.effect(JobEndpoint, make)
