/**
 * One call that is a job of the provider (`wire/PolledJob`): submit, poll until it is over, fetch the result. Until the submit is
 * accepted it fails like any call. Polls that fail in passing are repeated, a limited number of times in a row. A job that is given up
 * (the client left, the time is over, it cannot be asked about any more) is cancelled at the provider.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { Timeouts } from "../../subjects/resilience/entity.ts"
import type * as PublicFetch from "../../net/egress/PublicFetch.ts"
import type * as Upstream from "../../net/egress/Upstream.ts"
import { parseJson, isObject, type JsonObject } from "../../wire/json/Json.ts"
import type { FetchedBody, JobRequest, JobStep, JobTicket, PolledJob } from "../../wire/PolledJob.ts"
import {
  type AttemptFailure,
  type AttemptResult,
  type BodyReader,
  failed,
  failureInAnswer,
  ownFailure,
  transportReason
} from "./AttemptResult.ts"
import { errorReader } from "./ErrorReader.ts"
import { jobAddress } from "./JobAddress.ts"
import type { UpstreamCall } from "./UpstreamCall.ts"

/** Observer of a job while it runs, given by the feature that keeps the job. */
export interface JobObserver {
  /** Runs before it is sent to the provider. */
  readonly submitting: Effect.Effect<void>
  /** Runs when the provider has accepted it, or reports it in another way than before, and before the next poll. */
  readonly waiting: (step: Extract<JobStep, { readonly _tag: "Waiting" }>) => Effect.Effect<void>
  /** Runs when the job is over, with this answer, and before the client gets it. */
  readonly finished: (answer: JsonObject) => Effect.Effect<void>
  /** Tells whether the job is left running at the provider when it is interrupted now, because it will be resumed. */
  readonly staysOnInterrupt: () => boolean
  /** Goes on with a job that was accepted before; null: submit it. */
  readonly resumed: JobTicket | null
}

export const unobserved: JobObserver = {
  submitting: Effect.void,
  waiting: () => Effect.void,
  finished: () => Effect.void,
  staysOnInterrupt: () => false,
  resumed: null
}

export interface JobCallInput {
  readonly job: PolledJob
  readonly call: UpstreamCall
  readonly timeouts: Pick<Timeouts, "firstByteMs">
  /** Milliseconds that are left for all of it. */
  readonly leftMs: number
  /** Reads the answer of the last step. */
  readonly reader: () => BodyReader
  /** Reads the headers of each answer of the upstream, which may report limits. */
  readonly onHeaders: (header: (name: string) => string | null) => void
  readonly observer: JobObserver
}

/** Pauses between polls. */
const usualPollMs = { first: 500, longest: 10_000 }
const growth = 1.5

/** Polls in a row that may fail in passing. */
const mostFailedPolls = 6
/** A longer wait that a provider asks for is cut to this. */
const mostRetryAfterMs = 60_000
/** Time limit of one poll. */
const pollTimeoutMs = 30_000
const cancelTimeoutMs = 10_000

/** Answers about a job are small. */
const mostAnswerBytes = 16 * 1_048_576
/** Most bytes of all bodies of a result that is fetched. */
const mostResultBytes = 128 * 1_048_576
/** Requests before the job itself. */
const mostSubmits = 4

/** Failures of a poll that say nothing of the job. It may not be known everywhere at once, hence 404. */
const passing: ReadonlySet<number> = new Set([404, 408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529])

/** Failures of a poll that stay as they are: the address may not be asked, or what is there cannot be taken. */
const lasting: ReadonlySet<string> = new Set(["blocked", "answer_too_large"])

const tooMany = ownFailure(502, "bad_answer", "The upstream asked for too many requests before the job.")
const badAddress = ownFailure(502, "bad_answer", "The upstream named an address that cannot be read.")
const notJson = ownFailure(502, "not_json", "The upstream's answer is not JSON.")
const unreadable = ownFailure(502, "bad_answer", "The upstream's answer about the job cannot be read.")
const noResult = ownFailure(502, "bad_answer", "What the upstream gave as the result of the job is none.")
const tooLarge = (limitBytes: number): AttemptFailure =>
  ownFailure(502, "answer_too_large", `The upstream's answer is larger than ${limitBytes / 1_048_576} MiB.`)

type Answer = Upstream.UpstreamResponse

const failureOf = (error: PublicFetch.PublicFetchError): AttemptFailure => {
  switch (error._tag) {
    case "TransportFailure":
      return transportReason(error)
    case "TimedOut":
      return ownFailure(504, "first_byte_timeout", `The upstream did not answer within ${error.timeoutMs} ms.`)
    case "ResponseTooLarge":
      return tooLarge(error.limitBytes)
    case "UrlBlocked":
    case "RedirectRefused":
      return ownFailure(502, "blocked", "The upstream names an address for the result that may not be fetched.")
  }
}

const isGood = ({ status }: Answer): boolean => status >= 200 && status < 300

const withoutContent = (headers: ReadonlyArray<string>): Array<string> =>
  headers.filter((_, i) => (headers[i - (i % 2)] ?? "").toLowerCase() !== "content-type")

/** The client's request with another body and at another address. */
const requestAbout = (call: UpstreamCall, { body, method }: JobRequest, origin: string, path: string) => {
  const headers = withoutContent(call.request.headers)
  if (body !== undefined) headers.push("content-type", "application/json")
  const { owner, secrets } = call.request
  return { origin, path, method, headers, body: body === undefined ? null : JSON.stringify(body), secrets, owner }
}

const jsonOf = ({ body }: Answer): JsonObject | null => {
  const parsed = parseJson(body.toString("utf8"))
  return isObject(parsed) ? parsed : null
}

/** Milliseconds; 0 without a wait that can be read. */
const retryAfterMs = ({ headers }: Answer): number => {
  const seconds = headers.get("retry-after") ?? ""
  return /^\d{1,6}$/.test(seconds) ? Math.min(Number(seconds) * 1000, mostRetryAfterMs) : 0
}

const typeOf = ({ headers }: Answer): string =>
  (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""

/** Grows up to the longest pause, and differs a little each time: jobs that began together are not asked about together. */
export const pollSchedule = ({ first, longest } = usualPollMs) =>
  Schedule.exponential(first, growth).pipe(Schedule.either(Schedule.spaced(longest)), Schedule.jittered)

/** Clients by which a job is run. */
export interface JobClients {
  readonly upstream: Pick<typeof Upstream.Upstream.Service, "request">
  readonly publicFetch: Pick<typeof PublicFetch.PublicFetch.Service, "get">
}

/** The step that was reached, with the answer that reported it; or the end of the job. */
type Reached = { readonly step: JobStep | null; readonly answer: Answer | null } | AttemptResult

/** The upstream's own words. */
const refusal = (call: UpstreamCall, { body, headers, status }: Answer): AttemptResult => {
  const reader = errorReader(call, status, headers)
  reader.data(body)
  return reader.end()
}

/** A job as it runs, with the ticket by which it is asked about and cancelled now. */
class RunningJob {
  readonly #clients: JobClients
  readonly #input: JobCallInput
  #ticket: JobTicket | null

  constructor(clients: JobClients, input: JobCallInput) {
    this.#clients = clients
    this.#input = input
    this.#ticket = input.observer.resumed
  }

  #own(request: Upstream.UpstreamRequest, timeoutMs: number, maxBytes: number) {
    return this.#clients.upstream.request(request, { timeoutMs, maxBytes }).pipe(
      Effect.tap(({ headers }) => Effect.sync(() => this.#input.onHeaders((name) => headers.get(name)))),
      Effect.mapError(failureOf)
    )
  }

  #send(request: JobRequest, timeoutMs: number, maxBytes: number): Effect.Effect<Answer, AttemptFailure> {
    const { call, job } = this.#input
    const address = jobAddress(request.url, call.request.origin, job.ownHosts)
    if (address === null) return Effect.fail(badAddress)
    if (address._tag === "Own")
      return this.#own(requestAbout(call, request, address.origin, address.path), timeoutMs, maxBytes)
    // A foreign address is only fetched from, and without the credential.
    if (request.method !== "GET") return Effect.fail(badAddress)
    return Effect.mapError(
      this.#clients.publicFetch.get(address.url, { timeoutMs, maxBytes }, () => true),
      failureOf
    )
  }

  #told(answer: Buffer | string): AttemptResult {
    const reader = this.#input.reader()
    reader.data(typeof answer === "string" ? Buffer.from(answer) : answer)
    return reader.end()
  }

  readonly #submit = Effect.fnUntraced(function* (this: RunningJob) {
    const { call, job, leftMs, observer, timeouts } = this.#input
    const { body, origin, path } = call.request
    // The duration of an upload depends on its sender.
    const isUpload = body !== null && typeof body !== "string" && !Buffer.isBuffer(body)
    yield* observer.submitting
    let answer = yield* this.#own(call.request, isUpload ? leftMs : timeouts.firstByteMs, mostAnswerBytes)
    let from = origin + path
    for (let count = 0; count < mostSubmits; count += 1) {
      if (!isGood(answer)) return refusal(call, answer)
      const parsed = jsonOf(answer)
      if (parsed === null) return failed(notJson)
      const step = job.submitted(parsed, from, call.next ?? {})
      if (step?._tag !== "Submit") return { step, answer }
      from = step.request.url
      answer = yield* this.#send(step.request, timeouts.firstByteMs, mostAnswerBytes)
    }
    return failed(tooMany)
  })

  /** The next step that is known; a failure where it cannot be asked about any more. */
  readonly #polls = Effect.fnUntraced(function* (this: RunningJob, first: JobTicket) {
    const { call, job, observer, timeouts } = this.#input
    const driver = yield* Schedule.driver(pollSchedule(job.pollMs))
    const pause = Effect.ignore(driver.next(undefined))
    let asked = first
    let failures = 0
    for (;;) {
      yield* pause
      const polled = yield* Effect.either(
        this.#send(asked.poll, Math.min(pollTimeoutMs, timeouts.firstByteMs), mostAnswerBytes)
      )
      const answer = polled._tag === "Right" ? polled.right : null
      const parsed = answer !== null && isGood(answer) ? jsonOf(answer) : null
      const step = parsed === null ? null : job.polled(parsed, asked)
      if (step?._tag === "Waiting") {
        failures = 0
        asked = step.ticket
        this.#ticket = step.ticket
        yield* observer.waiting(step)
        continue
      }
      if (step !== null) return { step, answer }
      failures += 1
      if (polled._tag === "Left" && (polled.left === badAddress || lasting.has(polled.left.reason)))
        return failed(polled.left)
      if (answer !== null && !isGood(answer) && (!passing.has(answer.status) || failures > mostFailedPolls))
        return refusal(call, answer)
      if (failures > mostFailedPolls) return failed(polled._tag === "Left" ? polled.left : unreadable)
      if (answer !== null) yield* Effect.sleep(retryAfterMs(answer))
    }
  })

  readonly #fetched = Effect.fnUntraced(function* (
    this: RunningJob,
    { read, requests }: Extract<JobStep, { readonly _tag: "Fetch" }>
  ) {
    const { call, observer, timeouts } = this.#input
    const bodies: Array<FetchedBody> = []
    let leftBytes = mostResultBytes
    for (const request of requests) {
      const answer = yield* this.#send(request, timeouts.firstByteMs, leftBytes)
      if (!isGood(answer)) return refusal(call, answer)
      leftBytes -= answer.body.length
      bodies.push({ type: typeOf(answer), bytes: answer.body })
    }
    const result = read(bodies)
    if (result === null) return failed(noResult)
    yield* observer.finished(result)
    return this.#told(JSON.stringify(result))
  })

  readonly #flow = Effect.fnUntraced(function* (this: RunningJob) {
    const { call, observer } = this.#input
    let reached: Reached = observer.resumed === null ? yield* this.#submit() : yield* this.#polls(observer.resumed)
    for (;;) {
      if ("_tag" in reached) return reached
      const { answer, step }: Exclude<Reached, AttemptResult> = reached
      switch (step?._tag) {
        case "Waiting":
          this.#ticket = step.ticket
          yield* observer.waiting(step)
          reached = yield* this.#polls(step.ticket)
          break
        case "Fetch":
          this.#ticket = null
          return yield* this.#fetched(step)
        case "Done":
          this.#ticket = null
          yield* observer.finished(step.answer)
          return this.#told(JSON.stringify(step.answer))
        case "Failed":
          this.#ticket = null
          return failed(
            failureInAnswer(step.problem, "answer", call.wire, answer?.body.toString("utf8", 0, 65_536) ?? "")
          )
        default:
          // The codec reports what it is instead of a job.
          return this.#told(answer?.body ?? Buffer.alloc(0))
      }
    }
  })

  /** Cancels the job in the background: the request that gave it up does not wait for it. */
  readonly #cancel = Effect.suspend(() => {
    const request = this.#ticket?.cancel ?? null
    this.#ticket = null
    return request === null
      ? Effect.void
      : Effect.asVoid(
          Effect.forkDaemon(
            Effect.interruptible(Effect.ignoreLogged(this.#send(request, cancelTimeoutMs, mostAnswerBytes)))
          )
        )
  })

  readonly #late = Effect.suspend(() => {
    const running = this.#ticket
    const fate =
      running === null
        ? ""
        : running.cancel === null
          ? " The provider has no way to cancel it: it may still be finished, and billed."
          : " It was cancelled at the provider."
    const message = `The job was not finished within ${Math.round(this.#input.leftMs)} ms.${fate}`
    return Effect.as(this.#cancel, failed(ownFailure(504, "total_timeout", message)))
  })

  run(): Effect.Effect<AttemptResult> {
    const { leftMs, observer } = this.#input
    return this.#flow().pipe(
      Effect.catchAll((failure) => Effect.succeed(failed(failure))),
      Effect.tap(() => this.#cancel),
      Effect.timeoutOption(Duration.millis(leftMs)),
      Effect.flatMap((result) => (result._tag === "Some" ? Effect.succeed(result.value) : this.#late)),
      Effect.onInterrupt(() => (observer.staysOnInterrupt() ? Effect.void : this.#cancel))
    )
  }
}

export const runJob = (clients: JobClients, input: JobCallInput): Effect.Effect<AttemptResult> =>
  new RunningJob(clients, input).run()
