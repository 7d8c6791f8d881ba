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
import { claimed, Claims, type ClaimsShape, disowned, ownedHere } from "../../plane/state/Claims.ts"
import { ApiKeys } from "../../subjects/auth/ApiKeys.ts"
import { mayKeepContent } from "../../contract/domain/ContentPermission.ts"
import { keylessPrincipal, knownCallerOf } from "../../subjects/auth/KnownCallers.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { BodyTooLarge, LimitReached } from "../../contract/domain/Errors.ts"
import { isOver, type MediaJob, type JobKind, type MediaJobKind } from "../../subjects/mediaJobs/entity.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { type FairPlaces, makeFairPlaces } from "../../kernel/collections/FairPlaces.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Timers } from "../../platform/Timers.ts"
import type { StoreError } from "../../store/Errors.ts"
import { MediaJobRepo } from "../../subjects/mediaJobs/repo.ts"
import { Unreadable } from "../../wire/json/Bounds.ts"
import { readForeignBody } from "../../wire/json/LargeBodies.ts"
import { maxTopMembers } from "../../wire/json/Excess.ts"
import { isObject } from "../../wire/json/Json.ts"
import { Pipeline } from "../Pipeline.ts"
import { BackgroundPipeline, type BegunResponse } from "../request/BackgroundPipeline.ts"
import { apiKeyIdOf, type Exchange } from "../request/Exchange.ts"
import type { AcceptedJob, JobHandle } from "../request/JobHandle.ts"
import { StopSignal } from "../request/StopSignal.ts"
import {
  codecs,
  formOf,
  type JobEnd,
  jobOf,
  keyGone,
  kept,
  notKept,
  over,
  ownWords,
  secondsIn,
  unknownFate
} from "./JobRecords.ts"
import { logged, RunningJob, type RunOptions } from "./RunningJob.ts"
import { type JobPage, outputsIn } from "./JobViews.ts"

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

/** The request is stored until the job is over. */
const mostRequestBytes = 16 * 1_048_576
const retryAfterMs = 10_000
/** Jobs that are over are looked through for what has expired this often. */
const sweepMs = 600_000
/** A connection that cannot be called when a job is gone on with may be called later. */
const resumePauseMs = 15_000

const services = Effect.all({
  background: BackgroundPipeline,
  keys: ApiKeys,
  ids: IdGen,
  pipeline: Pipeline,
  repo: MediaJobRepo,
  settings: GatewaySettings,
  stop: StopSignal,
  timers: Timers
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly claims: ClaimsShape
  readonly running: Map<string, RunningJob>
  readonly runFork: typeof Effect.runFork
  readonly places: FairPlaces
  /** Responses that were begun, until they are on file. */
  readonly begun: Map<string, MediaJob>
}

const media = ({ settings }: Deps) => settings.current().media

const ended = (deps: Deps, job: MediaJob, end: JobEnd): MediaJob =>
  over(job, end, deps.timers.nowMs(), media(deps).keepJobsMs)

/** Name of the claim on a job. */
const workOf = ({ id }: MediaJob): string => `job ${id}`

/** Runs a job to its end. True: it has to be tried again, because its connection could not be called now. */
const run = (deps: Deps, options: RunOptions): Effect.Effect<boolean> =>
  ownedHere(deps.claims, workOf(options.job)).pipe(
    Effect.zipRight(Effect.suspend(() => new RunningJob(deps, options).run())),
    Effect.tap((isHeldBack) => (isHeldBack ? Effect.void : disowned(deps.claims, workOf(options.job))))
  )

/**
 * Makes the handle of a job that its client waits for: only outputs that the client can fetch through the gateway
 * alone are stored.
 */
const waitedFor = (deps: Deps, exchange: Exchange, kind: MediaJobKind): JobHandle => ({
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
    const job = ended(deps, jobOf(exchange, kind, { model }), {
      status: "completed",
      provider: account.spec.id,
      connectionId: account.connection.id,
      providerModel: model,
      outputs,
      seconds: secondsIn(answer)
    })
    return logged(deps.repo.insert(kept(exchange.principal, job)))
  }
})

const serve = (deps: Deps, exchange: Exchange, kind: MediaJobKind, acceptedStatus: 200 | 202 = 202): void => {
  const { pipeline, places, runFork } = deps
  const request = readForeignBody(exchange.body, maxTopMembers)
  if (request instanceof Unreadable || !isObject(request) || request["async"] !== true) {
    return pipeline.serve({ ...exchange, job: waitedFor(deps, exchange, kind) })
  }
  if (exchange.body.length > mostRequestBytes) {
    return pipeline.refuse(exchange, new BodyTooLarge({ limitBytes: mostRequestBytes }))
  }
  const leave = places.enter(apiKeyIdOf(exchange) ?? "")
  if (leave === null) {
    const message = `Too many jobs of this caller run already (of ${media(deps).maxJobs} in all, setting media.maxJobs). Wait until one of them is over.`
    return pipeline.refuse(exchange, new LimitReached({ message, retryAfterMs }))
  }
  const { reply, ...asked } = exchange
  const job = jobOf(exchange, kind, request)
  runFork(
    Effect.ensuring(
      run(deps, { job, exchange: asked, accepted: null, acceptedStatus, client: reply }),
      Effect.sync(leave)
    )
  )
}

const principalOf = ({ keys }: Deps, { caller, owner }: MediaJob): Principal | null => {
  if (owner === "") return keylessPrincipal(caller)
  const key = keys.get(owner)
  return key === null ? null : { _tag: "Key", key }
}

const accepted = ({ connectionId, provider, providerModel, ticket }: MediaJob): AcceptedJob | null =>
  ticket === null || connectionId === null || provider === null || providerModel === null
    ? null
    : { connectionId, provider, model: providerModel, ticket }

/** A job of the time before the start. */
const goOn = (deps: Deps, job: MediaJob): Effect.Effect<void> =>
  Effect.gen(function* () {
    const principal = principalOf(deps, job)
    const at = accepted(job)
    if (principal === null)
      return yield* logged(deps.repo.save(ownWords(ended(deps, job, { status: "failed", problem: keyGone }))))
    if (at === null && job.submittedAtMs !== null) {
      return yield* logged(
        deps.repo.save(ownWords(ended(deps, job, { status: "failed", problem: unknownFate(job.provider) })))
      )
    }
    const isKept = mayKeepContent(principal) !== null
    if (at === null && !isKept)
      return yield* logged(deps.repo.save(ownWords(ended(deps, job, { status: "failed", problem: notKept }))))
    const receivedMs = deps.timers.nowMs()
    // A usage row of its own: that of the first request may be on file.
    const requestId = deps.ids.next(receivedMs)
    const renewed = { ...job, requestId }
    yield* logged(deps.repo.save(kept(principal, renewed)))
    const exchange: RunOptions["exchange"] = {
      requestId,
      receivedMs,
      startedMs: deps.timers.monotonicMs(),
      ...formOf(job, isKept),
      codec: codecs[job.kind],
      method: "POST",
      fromPath: null,
      atOnce: null,
      headers: {},
      principal,
      madeFor: "resumed"
    }
    const isHeldBack = yield* run(deps, { job: renewed, exchange, accepted: at, acceptedStatus: 202, client: null })
    if (isHeldBack) yield* Effect.zipRight(Effect.sleep(resumePauseMs), goOn(deps, renewed))
  })

const cancel = Effect.fn("MediaJobs.cancel")(function* (
  { repo, running, timers }: Deps,
  owner: string,
  kind: MediaJobKind,
  id: string
) {
  const job = yield* repo.find(owner, kind, id, timers.nowMs())
  const own = running.get(id)
  if (job === null || isOver(job) || own === undefined) return job
  own.isCancelled = true
  own.reply.leave()
  return yield* Deferred.await(own.ended)
})

/** Polls a job in its turn: a limited number at once. */
const inTurn = (deps: Deps, job: MediaJob): Effect.Effect<void> =>
  Effect.suspend(() => {
    const leave = deps.places.enter(job.owner)
    return leave === null
      ? Effect.zipRight(Effect.sleep(resumePauseMs), inTurn(deps, job))
      : Effect.ensuring(goOn(deps, job), Effect.sync(leave))
  })

/**
 * Stores a response that its provider makes in the background: it is polled until it is over, so that it is billed
 * even if its client does not come back.
 */
const note = (
  deps: Deps,
  { connectionId, isOpen, model, principal, provider, requestedModel, ticket }: BegunResponse
): void => {
  const { begun, ids, repo, runFork, timers } = deps
  const nowMs = timers.nowMs()
  const job: MediaJob = {
    id: ticket.id,
    owner: principal._tag === "Key" ? principal.key.id : "",
    caller: knownCallerOf(principal),
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
    expiresAtMs: isOpen ? null : nowMs + media(deps).keepJobsMs
  }
  begun.set(job.id, job)
  const stored = Effect.ensuring(
    logged(repo.insert(kept(principal, job))),
    Effect.sync(() => begun.delete(job.id))
  )
  const owned = ownedHere(deps.claims, workOf(job))
  runFork(isOpen ? owned.pipe(Effect.zipRight(stored), Effect.zipRight(inTurn(deps, job))) : stored)
}

const find = (
  { begun, repo, timers }: Deps,
  owner: string,
  kind: JobKind,
  id: string
): Effect.Effect<MediaJob | null, StoreError, never> =>
  Effect.suspend(() => {
    const job = begun.get(id)
    if (job !== undefined && job.owner === owner && job.kind === kind) return Effect.succeed(job)
    return repo.find(owner, kind, id, timers.nowMs())
  })

const goOnInPlace = (deps: Deps, job: MediaJob): Effect.Effect<void> =>
  Effect.acquireUseRelease(
    Effect.sync(() => deps.places.hold(job.owner)),
    () => goOn(deps, job),
    (leave) => Effect.sync(leave)
  )

export const make = Effect.gen(function* () {
  const all = yield* services
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  const running = new Map<string, RunningJob>()

  /** Responses that were begun, until they are on file. */
  const begun = new Map<string, MediaJob>()
  const claims = yield* Claims
  const deps: Deps = { ...all, claims, running, runFork, places: makeFairPlaces(() => media(deps).maxJobs), begun }
  deps.background.attach((response) => note(deps, response))

  const open = yield* Effect.filter(yield* deps.repo.open, (job) => claims.own(workOf(job)))
  yield* Effect.forkScoped(
    claimed(
      "media-jobs",
      Effect.forEach(open, (job) => goOnInPlace(deps, job), { concurrency: "unbounded", discard: true })
    )
  )
  yield* Effect.forkScoped(
    claimed(
      "job-retention",
      Effect.repeat(
        logged(Effect.suspend(() => deps.repo.removeExpired(deps.timers.nowMs()))),
        Schedule.spaced(sweepMs)
      )
    )
  )

  return MediaJobs.of({
    serve: (exchange, kind, acceptedStatus) => serve(deps, exchange, kind, acceptedStatus),
    find: (owner, kind, id) => find(deps, owner, kind, id),
    over: (id) => {
      const own = running.get(id)
      return own === undefined ? Effect.void : Effect.asVoid(Deferred.await(own.ended))
    },
    list: (owner, kind, query) =>
      Effect.map(deps.repo.page({ ...query, owner, kind, limit: query.limit + 1 }, deps.timers.nowMs()), (rows) => ({
        jobs: rows.slice(0, query.limit),
        hasMore: rows.length > query.limit
      })),
    cancel: (owner, kind, id) => cancel(deps, owner, kind, id),
    remove: deps.repo.remove
  })
})

export const layer: Layer.Layer<MediaJobs, StoreError, Effect.Effect.Context<typeof services>> = Layer.scoped(
  MediaJobs,
  make
)
