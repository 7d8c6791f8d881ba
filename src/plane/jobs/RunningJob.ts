/** A job that runs as a request of the pipeline without a client: what the pipeline tells of it is stored before the next step is taken. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { MediaJob, MediaOutput } from "../../subjects/mediaJobs/entity.ts"
import type { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import type { Timers } from "../../platform/Timers.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { MediaJobRepo } from "../../subjects/mediaJobs/repo.ts"
import type { Pipeline } from "../Pipeline.ts"
import type { ClientReply, Exchange } from "../request/Exchange.ts"
import { identityHeaders } from "../request/Headers.ts"
import { makeInnerReply } from "../request/InnerReply.ts"
import type { AcceptedJob, JobHandle } from "../request/JobHandle.ts"
import type { StopSignal } from "../request/StopSignal.ts"
import * as FiberId from "effect/FiberId"
import { fateOf, type JobFate } from "./JobFate.ts"
import { connectionGone, type JobEnd, kept, over, secondsIn } from "./JobRecords.ts"
import { jobView, outputsIn, problemIn } from "./JobViews.ts"

/** Services that a job runs with. */
export interface JobServices {
  readonly pipeline: Pick<typeof Pipeline.Service, "serve">
  readonly repo: Pick<typeof MediaJobRepo.Service, "insert" | "save">
  readonly settings: Pick<typeof GatewaySettings.Service, "current">
  readonly stop: Pick<typeof StopSignal.Service, "isStopping">
  readonly timers: Pick<typeof Timers.Service, "monotonicMs" | "nowMs" | "soon">
  readonly runFork: typeof Effect.runFork
  /** Jobs whose requests are in the pipeline. */
  readonly running: Map<string, RunningJob>
}

export interface RunOptions {
  readonly job: MediaJob
  readonly exchange: Omit<Exchange, "job" | "reply">
  readonly accepted: AcceptedJob | null
  /** Client that is sent the beginning of the job, or its failure; null: the job is stored already. */
  readonly client: ClientReply | null
  /** Status of the answer that it has begun. */
  readonly acceptedStatus: 200 | 202
}

export const logged = <A>(writing: Effect.Effect<A, StoreError>): Effect.Effect<void> =>
  Effect.catchAll(Effect.asVoid(writing), (error) => Effect.logError(`A job could not be stored: ${error.message}`))

const accept = (client: ClientReply, job: MediaJob, status: 200 | 202): void => {
  if (client.isClosed()) return
  const body = JSON.stringify(jobView(job, ""))
  const headers = identityHeaders(job.requestId)
  headers.push("Content-Type", "application/json", "Content-Length", String(Buffer.byteLength(body)))
  client.head(status, headers)
  client.end(body)
}

export class RunningJob implements JobHandle {
  readonly id: string
  readonly deadlineMs: number
  readonly isDetached = true
  readonly accepted: AcceptedJob | null
  readonly reply = makeInnerReply()
  readonly ended = Deferred.unsafeMake<MediaJob>(FiberId.none)
  isCancelled = false
  readonly #services: JobServices
  readonly #options: RunOptions
  /** The job is on file. */
  readonly #stored = Deferred.unsafeMake<void>(FiberId.none)
  #job: MediaJob
  #isOpen: boolean
  #hasCalled = false
  #status = 502
  #head: Array<string> = []
  #body = ""
  #outputs: ReadonlyArray<MediaOutput> | null = null
  #seconds: string | null = null

  constructor(services: JobServices, options: RunOptions) {
    const { accepted, client, job } = options
    const { settings, timers } = services
    this.#services = services
    this.#options = options
    this.#job = job
    this.#isOpen = client === null
    this.id = job.id
    this.accepted = accepted
    const leftMs = job.createdAtMs + settings.current().media.jobMaxMs - timers.nowMs()
    this.deadlineMs = timers.monotonicMs() + Math.max(1, leftMs)
    if (client === null) Deferred.unsafeDone(this.#stored, Effect.void)
  }

  readonly opened = (): void => {
    const { acceptedStatus, client, exchange } = this.#options
    if (this.#isOpen || client === null) return
    this.#isOpen = true
    const storing = Effect.matchEffect(this.#services.repo.insert(kept(exchange.principal, this.#job)), {
      onFailure: (error) =>
        Effect.zipRight(
          Effect.logError(`A job could not be stored: ${error.message}`),
          Effect.sync(() => client.cut())
        ),
      onSuccess: () => Effect.sync(() => accept(client, this.#job, acceptedStatus))
    })
    this.#services.runFork(Effect.zipRight(storing, Deferred.succeed(this.#stored, undefined)))
  }

  readonly submitting: JobHandle["submitting"] = ({ account, model }) =>
    Effect.zipRight(
      Deferred.await(this.#stored),
      Effect.suspend(() => {
        this.#hasCalled = true
        return this.#save({
          ...this.#job,
          submittedAtMs: this.#services.timers.nowMs(),
          provider: account.spec.id,
          connectionId: account.connection.id,
          providerModel: model,
          ticket: null
        })
      })
    )

  readonly waiting: JobHandle["waiting"] = (_, { progress, status, ticket }, price) =>
    Effect.suspend(() => {
      this.#hasCalled = true
      const job = this.#job
      const next: MediaJob = { ...job, status, progress: progress ?? job.progress, ticket: { ...ticket, price } }
      const isSame =
        job.status === next.status &&
        job.progress === next.progress &&
        JSON.stringify(job.ticket) === JSON.stringify(next.ticket)
      return isSame ? Effect.void : this.#save(next)
    })

  readonly finished: JobHandle["finished"] = (_, answer) =>
    Effect.sync(() => {
      this.#hasCalled = true
      this.#outputs = outputsIn(answer)
      this.#seconds = secondsIn(answer)
    })

  /** Runs the job to its end. True: it has to be tried again, because its connection could not be called now. */
  run(): Effect.Effect<boolean> {
    return Effect.gen(this, function* () {
      this.#services.running.set(this.id, this)
      yield* this.#answered()
      this.#services.running.delete(this.id)
      const { client } = this.#options
      if (!this.#isOpen && client !== null) {
        // Not even begun: the client hears why.
        client.head(this.#status, this.#head)
        client.end(this.#body)
        return false
      }
      yield* Deferred.await(this.#stored)
      const { settings, stop, timers } = this.#services
      const fate = fateOf({
        status: this.#status,
        hasCalled: this.#hasCalled,
        isCancelled: this.isCancelled,
        isStopping: stop.isStopping(),
        isInTime: timers.monotonicMs() < this.deadlineMs,
        accepted: this.accepted
      })
      if (fate === "at_start" || fate === "soon") return fate === "soon"
      const job = over(this.#job, this.#endAs(fate), timers.nowMs(), settings.current().media.keepJobsMs)
      yield* this.#save(job)
      yield* Deferred.succeed(this.ended, job)
      return false
    })
  }

  #save(next: MediaJob): Effect.Effect<void> {
    this.#job = next
    return logged(this.#services.repo.save(kept(this.#options.exchange.principal, next)))
  }

  /** Serves the request of the job; its answer is kept here. The fiber is resumed at the end of the turn in which the request is over. */
  #answered(): Effect.Effect<void> {
    return Effect.async((resume) => {
      const { pipeline, timers } = this.#services
      const reply: ClientReply = {
        ...this.reply,
        head: (status, headers) => {
          this.#status = status
          this.#head = headers
        },
        write: (chunk) => {
          this.#body += chunk.toString()
          return true
        },
        end: (chunk) => {
          this.#body += chunk.toString()
        }
      }
      pipeline.serve({ ...this.#options.exchange, job: this, reply }, () => timers.soon(() => resume(Effect.void)))
    })
  }

  #endAs(fate: Exclude<JobFate, "at_start" | "soon">): JobEnd {
    switch (fate) {
      case "completed":
        return { status: "completed", progress: 100, outputs: this.#outputs, seconds: this.#seconds }
      case "cancelled":
        return { status: "cancelled" }
      case "gone":
        return { status: "failed", problem: connectionGone(this.#job.provider) }
      case "failed":
        return { status: "failed", problem: problemIn(this.#body) }
    }
  }
}
