/**
 * Jobs that make videos and music, for clients that come back for the result. Each is a request of the ordinary pipeline whose client is
 * the gateway itself; its state is stored before the next step is taken. After a restart a job that a provider has accepted is resumed, one
 * that was not yet sent is sent, and one of which that is not known fails: nothing is submitted twice.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Schedule from "effect/Schedule"
import { ApiKeys } from "../../subjects/auth/ApiKeys.ts"
import { mayKeepContent, onFile, type OnFile, operatorsOwn } from "../../domain/ContentPermission.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { BodyTooLarge, LimitReached } from "../../domain/Errors.ts"
import {
  isOver,
  type MediaJob,
  type JobKind,
  type MediaJobKind,
  type MediaJobProblem,
  type MediaOutput
} from "../../subjects/mediaJobs/entity.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { makeFairPlaces } from "../../kernel/collections/FairPlaces.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Timers } from "../../platform/Timers.ts"
import type { StoreError } from "../../store/Errors.ts"
import { MediaJobRepo } from "../../subjects/mediaJobs/repo.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { Unreadable } from "../../wire/json/Bounds.ts"
import { readForeignBody } from "../../wire/json/LargeBodies.ts"
import { maxTopMembers } from "../../wire/json/Excess.ts"
import { isObject } from "../../wire/json/Json.ts"
import { secondsOf } from "../../wire/media/jobs/Outputs.ts"
import { music } from "../../wire/media/music/Codec.ts"
import { backgroundResponses } from "../../wire/responses/Codec.ts"
import { videos } from "../../wire/media/videos/Codec.ts"
import type { WireCodec } from "../../wire/WireCodec.ts"
import { Pipeline } from "../Pipeline.ts"
import { BackgroundPipeline, type BegunResponse } from "../request/BackgroundPipeline.ts"
import { apiKeyIdOf, type ClientReply, type Exchange } from "../request/Exchange.ts"
import { identityHeaders } from "../request/Headers.ts"
import { type InnerReply, makeInnerReply } from "../request/InnerReply.ts"
import type { AcceptedJob, JobHandle } from "../request/JobHandle.ts"
import { StopSignal } from "../request/StopSignal.ts"
import { type JobPage, jobView, measuresOf, outputsIn, problemIn } from "./JobViews.ts"

export class MediaJobs extends Context.Tag("gateway/plane/jobs/MediaJobs")<
  MediaJobs,
  {
    /**
     * Serves a request for a video or music: answers when it is done or, with `"async": true`, at once with the id of a job, and
     * `accepted` as the status of that.
     */
    readonly serve: (exchange: Exchange, kind: MediaJobKind, accepted?: 200 | 202) => void
    /** Lists the jobs that are not deleted yet. */
    readonly list: (owner: string, kind: MediaJobKind, query: JobListQuery) => Effect.Effect<JobPage, StoreError>
    /** Null: the owner has none of that id. */
    readonly find: (owner: string, kind: JobKind, id: string) => Effect.Effect<MediaJob | null, StoreError>
    /** Ends a job that runs, also at the provider. The job as it is then; null: the owner has none of that id. */
    readonly cancel: (owner: string, kind: MediaJobKind, id: string) => Effect.Effect<MediaJob | null, StoreError>
    /** Waits until a running job is over; ends at once where none runs. */
    readonly over: (id: string) => Effect.Effect<void>
    /** Forgets a job that is over. */
    readonly remove: (owner: string, id: string) => Effect.Effect<boolean, StoreError>
  }
>() {}

/** A page begins behind the job `after`; null: with the first one. */
export interface JobListQuery {
  readonly after: string | null
  readonly limit: number
  readonly order: "asc" | "desc"
}

const codecs: Readonly<Record<JobKind, WireCodec>> = { videos, music, responses: backgroundResponses }

/** Builds the request by which a job at its provider is polled: only its form matters. */
const formOf = ({ id, kind, model, request }: MediaJob, isKept: boolean): Pick<Exchange, "body" | "path" | "wire"> => {
  if (kind === "responses") {
    const asked = { model, input: `response ${id}`, store: false }
    return { wire: "responses", path: "/v1/responses", body: Buffer.from(JSON.stringify(asked)) }
  }
  const asked = isKept ? (request ?? {}) : { ...request, prompt: unknownPrompt }
  return { wire: "chat", path: `/v1/${kind}/generations`, body: Buffer.from(JSON.stringify(asked)) }
}

/** Prompt of a job whose request is not stored. */
const unknownPrompt = "-"

const notKept = {
  message:
    "The gateway was restarted before a provider had the job, and its API key has 'noLog': the request was not kept. Send it again.",
  type: "invalid_request_error",
  code: "request_not_kept"
}

/** The job as it is stored: without words where they may not be kept. What it has made is kept until it is fetched. */
const withoutWords = (job: MediaJob): MediaJob => {
  const { problem, request } = job
  const model = request?.["model"]
  return {
    ...job,
    request: { ...measuresOf(request ?? {}), ...(typeof model === "string" ? { model } : {}) },
    problem: problem === null ? null : { ...problem, message: "The provider did not make it." }
  }
}

const kept = (principal: Principal, job: MediaJob): OnFile<MediaJob> =>
  onFile(mayKeepContent(principal), job, withoutWords)

/** Prepares a job that is over for storage, with a text of the gateway's own. */
const ownWords = (job: MediaJob): OnFile<MediaJob> => onFile(operatorsOwn, job, withoutWords)

/** The request is stored until the job is over. */
const mostRequestBytes = 16 * 1_048_576
const retryAfterMs = 10_000
/** Jobs that are over are looked through for what has expired this often. */
const sweepMs = 600_000
/** A connection that cannot be called when a job is gone on with may be called later. */
const resumePauseMs = 15_000

const unknownFate = (provider: string | null): MediaJobProblem => ({
  message: `The gateway ended while the job was sent to ${provider ?? "a provider"}. Whether it runs there is not known, so that it was not sent again. Ask for it anew.`,
  type: "server_error",
  code: "submit_interrupted"
})
const connectionGone = (provider: string | null): MediaJobProblem => ({
  message: `The connection that the job was submitted to at ${provider ?? "a provider"} was removed, or the request does not lead to it any more: how the job stands there cannot be asked. It was not submitted elsewhere.`,
  type: "invalid_request_error",
  code: "connection_gone"
})
const keyGone: MediaJobProblem = {
  message: "The API key of the job was removed.",
  type: "invalid_request_error",
  code: "key_removed"
}

interface Running {
  readonly reply: InnerReply
  isCancelled: boolean
  readonly ended: Deferred.Deferred<MediaJob>
}

interface RunOptions {
  readonly job: MediaJob
  readonly exchange: Omit<Exchange, "job" | "reply">
  readonly accepted: AcceptedJob | null
  /** Client that is sent the beginning of the job, or its failure; null: the job is stored already. */
  readonly client: ClientReply | null
  /** Status of the answer that it has begun. */
  readonly acceptedStatus: 200 | 202
}

export const make = Effect.gen(function* () {
  const background = yield* BackgroundPipeline
  const keys = yield* ApiKeys
  const ids = yield* IdGen
  const pipeline = yield* Pipeline
  const repo = yield* MediaJobRepo
  const settings = yield* GatewaySettings
  const stop = yield* StopSignal
  const timers = yield* Timers
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  const running = new Map<string, Running>()

  const media = () => settings.current().media
  const places = makeFairPlaces(() => media().maxJobs)

  const logged = <A>(writing: Effect.Effect<A, StoreError>): Effect.Effect<void> =>
    Effect.catchAll(Effect.asVoid(writing), (error) => Effect.logError(`A job could not be stored: ${error.message}`))

  const over = (job: MediaJob, change: Pick<MediaJob, "status"> & Partial<MediaJob>): MediaJob => {
    const nowMs = timers.nowMs()
    const request = measuresOf(job.request ?? {})
    return { ...job, request, ticket: null, endedAtMs: nowMs, expiresAtMs: nowMs + media().keepJobsMs, ...change }
  }

  const accept = (client: ClientReply, job: MediaJob, status: 200 | 202): void => {
    if (client.isClosed()) return
    const body = JSON.stringify(jobView(job, ""))
    const headers = identityHeaders(job.requestId)
    headers.push("Content-Type", "application/json", "Content-Length", String(Buffer.byteLength(body)))
    client.head(status, headers)
    client.end(body)
  }

  /** Runs a job to its end. True: it has to be tried again, because its connection could not be called now. */
  const run = ({ accepted, acceptedStatus, client, exchange, job: begun }: RunOptions): Effect.Effect<boolean> =>
    Effect.gen(function* () {
      const reply = makeInnerReply()
      const stored = yield* Deferred.make<void>()
      const answered = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<MediaJob>()
      const own: Running = { reply, isCancelled: false, ended }
      running.set(begun.id, own)
      let job = begun
      let isOpen = client === null
      let hasCalled = false
      let status = 502
      let head: Array<string> = []
      let body = ""
      let outputs: ReadonlyArray<MediaOutput> | null = null
      let seconds: string | null = null
      if (client === null) Deferred.unsafeDone(stored, Effect.void)

      const save = (next: MediaJob): Effect.Effect<void> => {
        job = next
        return logged(repo.save(kept(exchange.principal, next)))
      }
      const handle: JobHandle = {
        id: begun.id,
        deadlineMs: timers.monotonicMs() + Math.max(1, begun.createdAtMs + media().jobMaxMs - timers.nowMs()),
        isDetached: true,
        accepted,
        opened: () => {
          if (isOpen || client === null) return
          isOpen = true
          const storing = Effect.matchEffect(repo.insert(kept(exchange.principal, job)), {
            onFailure: (error) =>
              Effect.zipRight(
                Effect.logError(`A job could not be stored: ${error.message}`),
                Effect.sync(() => client.cut())
              ),
            onSuccess: () => Effect.sync(() => accept(client, job, acceptedStatus))
          })
          runFork(Effect.zipRight(storing, Deferred.succeed(stored, undefined)))
        },
        submitting: ({ account, model }) =>
          Effect.zipRight(
            Deferred.await(stored),
            Effect.suspend(() => {
              hasCalled = true
              return save({
                ...job,
                submittedAtMs: timers.nowMs(),
                provider: account.spec.id,
                connectionId: account.connection.id,
                providerModel: model,
                ticket: null
              })
            })
          ),
        waiting: (_, { progress, status: told, ticket }, price) =>
          Effect.suspend(() => {
            hasCalled = true
            const priced = { ...ticket, price }
            const next: MediaJob = { ...job, status: told, progress: progress ?? job.progress, ticket: priced }
            const isSame =
              job.status === next.status &&
              job.progress === next.progress &&
              JSON.stringify(job.ticket) === JSON.stringify(next.ticket)
            return isSame ? Effect.void : save(next)
          }),
        finished: (_, answer) =>
          Effect.sync(() => {
            hasCalled = true
            outputs = outputsIn(answer)
            const length = secondsOf(answer["seconds"])
            seconds = length === null ? null : String(length)
          })
      }
      pipeline.serve(
        {
          ...exchange,
          job: handle,
          reply: {
            ...reply,
            head: (answer, headers) => {
              status = answer
              head = headers
            },
            write: (chunk) => {
              body += chunk.toString()
              return true
            },
            end: (chunk) => {
              body += chunk.toString()
            }
          }
        },
        // The fiber is resumed at the end of the turn in which the request is over.
        () => timers.soon(() => Deferred.unsafeDone(answered, Effect.void))
      )
      yield* Deferred.await(answered)
      running.delete(begun.id)
      if (!isOpen && client !== null) {
        // Not even begun: the client hears why.
        client.head(status, head)
        client.end(body)
        return false
      }
      yield* Deferred.await(stored)
      // Ended by the end of the gateway, before a provider was asked: the next start goes on.
      if (stop.isStopping() && !hasCalled && status !== 200) return false
      const isHeldBack = accepted !== null && !hasCalled && (status === 503 || status === 429)
      if (isHeldBack && !own.isCancelled && timers.monotonicMs() < (handle.deadlineMs ?? 0)) return true
      const end =
        status === 200
          ? over(job, { status: "completed", progress: 100, outputs, seconds })
          : own.isCancelled
            ? over(job, { status: "cancelled" })
            : over(job, {
                status: "failed",
                problem:
                  accepted !== null && !hasCalled && status === 404 ? connectionGone(job.provider) : problemIn(body)
              })
      yield* save(end)
      yield* Deferred.succeed(ended, end)
      return false
    })

  const jobOf = (exchange: Exchange, kind: MediaJobKind, request: JsonObject): MediaJob => ({
    id: exchange.requestId,
    owner: apiKeyIdOf(exchange) ?? "",
    kind,
    requestId: exchange.requestId,
    model: typeof request["model"] === "string" ? request["model"] : "",
    request,
    status: "queued",
    progress: null,
    provider: null,
    connectionId: null,
    providerModel: null,
    ticket: null,
    outputs: null,
    seconds: null,
    problem: null,
    createdAtMs: exchange.receivedMs,
    submittedAtMs: null,
    endedAtMs: null,
    expiresAtMs: null
  })

  /**
   * Makes the handle of a job that its client waits for: only outputs that the client can fetch through the gateway
   * alone are stored.
   */
  const waitedFor = (exchange: Exchange, kind: MediaJobKind): JobHandle => ({
    id: exchange.requestId,
    deadlineMs: null,
    isDetached: false,
    accepted: null,
    opened: () => {},
    submitting: () => Effect.void,
    waiting: () => Effect.void,
    finished: ({ account, model }, answer) => {
      const outputs = outputsIn(answer)
      if (!outputs.some(({ content }) => content !== undefined)) return Effect.void
      const length = secondsOf(answer["seconds"])
      const job = over(jobOf(exchange, kind, { model }), {
        status: "completed",
        provider: account.spec.id,
        connectionId: account.connection.id,
        providerModel: model,
        outputs,
        seconds: length === null ? null : String(length)
      })
      return logged(repo.insert(kept(exchange.principal, job)))
    }
  })

  const serve: typeof MediaJobs.Service.serve = (exchange, kind, acceptedStatus = 202) => {
    const request = readForeignBody(exchange.body, maxTopMembers)
    if (request instanceof Unreadable || !isObject(request) || request["async"] !== true) {
      return pipeline.serve({ ...exchange, job: waitedFor(exchange, kind) })
    }
    if (exchange.body.length > mostRequestBytes) {
      return pipeline.refuse(exchange, new BodyTooLarge({ limitBytes: mostRequestBytes }))
    }
    const leave = places.enter(apiKeyIdOf(exchange) ?? "")
    if (leave === null) {
      const message = `Too many jobs of this caller run already (of ${media().maxJobs} in all, setting media.maxJobs). Wait until one of them is over.`
      return pipeline.refuse(exchange, new LimitReached({ message, retryAfterMs }))
    }
    const { reply, ...asked } = exchange
    const job = jobOf(exchange, kind, request)
    runFork(
      Effect.ensuring(run({ job, exchange: asked, accepted: null, acceptedStatus, client: reply }), Effect.sync(leave))
    )
  }

  const principalOf = (owner: string): Principal | null => {
    if (owner === "") return { _tag: "Anonymous" }
    const key = keys.get(owner)
    return key === null ? null : { _tag: "Key", key }
  }

  const accepted = ({ connectionId, provider, providerModel, ticket }: MediaJob): AcceptedJob | null =>
    ticket === null || connectionId === null || provider === null || providerModel === null
      ? null
      : { connectionId, provider, model: providerModel, ticket }

  /** A job of the time before the start. */
  const goOn = (job: MediaJob): Effect.Effect<void> =>
    Effect.gen(function* () {
      const principal = principalOf(job.owner)
      const at = accepted(job)
      if (principal === null)
        return yield* logged(repo.save(ownWords(over(job, { status: "failed", problem: keyGone }))))
      if (at === null && job.submittedAtMs !== null) {
        return yield* logged(repo.save(ownWords(over(job, { status: "failed", problem: unknownFate(job.provider) }))))
      }
      const isKept = mayKeepContent(principal) !== null
      if (at === null && !isKept)
        return yield* logged(repo.save(ownWords(over(job, { status: "failed", problem: notKept }))))
      const receivedMs = timers.nowMs()
      // A usage row of its own: that of the first request may be on file.
      const requestId = ids.next(receivedMs)
      const renewed = { ...job, requestId }
      yield* logged(repo.save(kept(principal, renewed)))
      const exchange: RunOptions["exchange"] = {
        requestId,
        receivedMs,
        startedMs: timers.monotonicMs(),
        ...formOf(job, isKept),
        codec: codecs[job.kind],
        method: "POST",
        fromPath: null,
        atOnce: null,
        headers: {},
        principal,
        madeFor: "resumed"
      }
      const isHeldBack = yield* run({ job: renewed, exchange, accepted: at, acceptedStatus: 202, client: null })
      if (isHeldBack) yield* Effect.zipRight(Effect.sleep(resumePauseMs), goOn(renewed))
    })

  const cancel: typeof MediaJobs.Service.cancel = Effect.fn("MediaJobs.cancel")(function* (owner, kind, id) {
    const job = yield* repo.find(owner, kind, id, timers.nowMs())
    const own = running.get(id)
    if (job === null || isOver(job) || own === undefined) return job
    own.isCancelled = true
    own.reply.leave()
    return yield* Deferred.await(own.ended)
  })

  /** Responses that were begun, until they are on file. */
  const begun = new Map<string, MediaJob>()

  /** Polls a job in its turn: a limited number at once. */
  const inTurn = (job: MediaJob): Effect.Effect<void> =>
    Effect.suspend(() => {
      const leave = places.enter(job.owner)
      return leave === null
        ? Effect.zipRight(Effect.sleep(resumePauseMs), inTurn(job))
        : Effect.ensuring(goOn(job), Effect.sync(leave))
    })

  /**
   * Stores a response that its provider makes in the background: it is polled until it is over, so that it is billed
   * even if its client does not come back.
   */
  const note = ({ connectionId, isOpen, model, principal, provider, requestedModel, ticket }: BegunResponse): void => {
    const nowMs = timers.nowMs()
    const job: MediaJob = {
      id: ticket.id,
      owner: principal._tag === "Key" ? principal.key.id : "",
      kind: "responses",
      requestId: ids.next(nowMs),
      model: requestedModel,
      request: { model: requestedModel },
      status: isOpen ? "in_progress" : "completed",
      progress: null,
      provider,
      connectionId,
      providerModel: model,
      ticket: isOpen ? ticket : null,
      outputs: null,
      seconds: null,
      problem: null,
      createdAtMs: nowMs,
      submittedAtMs: nowMs,
      endedAtMs: isOpen ? null : nowMs,
      expiresAtMs: isOpen ? null : nowMs + media().keepJobsMs
    }
    begun.set(job.id, job)
    const stored = Effect.ensuring(
      logged(repo.insert(kept(principal, job))),
      Effect.sync(() => begun.delete(job.id))
    )
    runFork(isOpen ? Effect.zipRight(stored, inTurn(job)) : stored)
  }
  background.attach(note)

  const find: typeof MediaJobs.Service.find = (owner, kind, id) =>
    Effect.suspend(() => {
      const job = begun.get(id)
      if (job !== undefined && job.owner === owner && job.kind === kind) return Effect.succeed(job)
      return repo.find(owner, kind, id, timers.nowMs())
    })

  const open = yield* repo.open
  const goOnInPlace = (job: MediaJob): Effect.Effect<void> =>
    Effect.acquireUseRelease(
      Effect.sync(() => places.hold(job.owner)),
      () => goOn(job),
      (leave) => Effect.sync(leave)
    )
  yield* Effect.forkScoped(Effect.forEach(open, goOnInPlace, { concurrency: "unbounded", discard: true }))
  yield* Effect.forkScoped(
    Effect.repeat(logged(Effect.suspend(() => repo.removeExpired(timers.nowMs()))), Schedule.spaced(sweepMs))
  )

  return MediaJobs.of({
    serve,
    find,
    over: (id) => {
      const own = running.get(id)
      return own === undefined ? Effect.void : Effect.asVoid(Deferred.await(own.ended))
    },
    list: (owner, kind, query) =>
      Effect.map(repo.page({ ...query, owner, kind, limit: query.limit + 1 }, timers.nowMs()), (rows) => ({
        jobs: rows.slice(0, query.limit),
        hasMore: rows.length > query.limit
      })),
    cancel,
    remove: repo.remove
  })
})

export const layer: Layer.Layer<
  MediaJobs,
  StoreError,
  ApiKeys | BackgroundPipeline | GatewaySettings | IdGen | MediaJobRepo | Pipeline | StopSignal | Timers
> = Layer.scoped(MediaJobs, make)
