/**
 * Runs one upstream call from the first byte sent to a result: only here do the events of the socket, the timers and a client that
 * disconnects meet. Plain callbacks; `AttemptRunner` wraps one run in one `Effect.async`.
 */
import type { Mutable } from "effect/Types"
import { requestedAddress } from "../../subjects/auth/Credentials.ts"
import { isBodySource, telling } from "../../net/egress/BodySource.ts"
import type * as Upstream from "../../net/egress/Upstream.ts"
import type { TransportFailure } from "../../net/egress/TransportFailure.ts"
import type { UpstreamHeaders } from "../../net/egress/UpstreamHeaders.ts"
import type { UpstreamSink } from "../../net/egress/UpstreamSink.ts"
import type { Timer, Timers } from "../../platform/Timers.ts"
import type { ResilienceSettings, Timeouts } from "../../subjects/resilience/entity.ts"
import { secretsOf } from "../providers/Catalog.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { EncodeContext, StreamFacts } from "../../wire/WireCodec.ts"
import { answerReader } from "./AnswerReader.ts"
import { errorReader } from "./ErrorReader.ts"
import {
  type AttemptFailure,
  type AttemptResult,
  type BodyReader,
  failed,
  ownFailure,
  transportReason
} from "./AttemptResult.ts"
import type { MediaFacts, Traces } from "../request/Headers.ts"
import { type AnswerReport, noReport } from "../request/AnswerReport.ts"
import { shutdown } from "../../contract/domain/Errors.ts"
import type { Work } from "../request/Exchange.ts"
import { beginsJson, firstByteReader } from "./FirstByte.ts"
import type { StopSignal } from "../request/StopSignal.ts"
import { streamReader } from "./StreamReader.ts"
import { type RecordDelivered, streamSource } from "./StreamRelay.ts"
import { mediaReader } from "./MediaReader.ts"
import type { AnswerWatch } from "../state/kept/AnswerWatch.ts"
import { passedHeaders } from "./PassedHeaders.ts"
import type { UpstreamCall } from "./UpstreamCall.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

export interface CallInput {
  readonly work: Work
  readonly call: UpstreamCall
  readonly target: Target
  readonly timeouts: Timeouts
  /** Monotonic time at which the whole request must be over. */
  readonly deadlineMs: number
  /** No other target is left: an empty but well-formed answer is then the answer. */
  readonly lastChance: boolean
  readonly watch: AnswerWatch
  /** Keeps what the client has of a stream that another target may have to go on with; null where none may. */
  readonly recorder?: RecordDelivered | null
  /** Reads the headers of each answer of the upstream, which may report limits. */
  readonly onHeaders: (header: (name: string) => string | null) => void
  /** Gets the state of a stream that begins to be read; absent: it is not asked for. */
  readonly reads?: (facts: StreamFacts) => void
  /** The largest answer that is relayed without being looked at. */
  readonly maxMediaBytes: number
  /** Setting for how long the beginning of a stream is held back; null: not at all. */
  readonly holdBack: ResilienceSettings["streamRecovery"] | null
  readonly stop: Pick<typeof StopSignal.Service, "onStop">
  /** Headers of a streamed answer, asked for at the commit. */
  readonly streamHeaders: (traces: Traces) => Array<string>
  /** The same of an answer that is no text. */
  readonly mediaHeaders: (traces: Traces, media: MediaFacts) => Array<string>
}

const nothing = (): void => {}

type ClockAndTimers = typeof Timers.Service

/** Time in ms that an upstream may take to close its body after the end mark, before its socket is given up. */
const lingerMs = 1_000

/**
 * Time in ms that an upstream may take for its end after the finish reason. Not every wire has a mark, not every server
 * closes.
 */
const afterStopMs = 10_000

/** `call`: null where no tools are named. */
export const encodeContext = (
  work: Work,
  model: string,
  timers: ClockAndTimers,
  call: Pick<UpstreamCall, "toolNames" | "callIds"> | null
): EncodeContext => {
  const context: Mutable<EncodeContext> = {
    nowMs: timers.nowMs(),
    fallbackId: work.exchange.job?.id ?? work.exchange.requestId,
    model,
    wantsUsage: work.envelope.wantsUsage,
    request: work.asked,
    ownAddress: () => requestedAddress(work.exchange.headers) ?? "",
    elapsedMs: () => Math.round(timers.monotonicMs() - work.exchange.startedMs)
  }
  if (call !== null && call.toolNames !== null) context.toolNames = call.toolNames
  if (call !== null && call.callIds !== null) context.callIds = call.callIds
  return context
}

const bytesOf = ({ body }: Upstream.UpstreamRequest): number =>
  body === null ? 0 : typeof body === "string" ? Buffer.byteLength(body) : isBodySource(body) ? body.bytes : body.length

/** Notes in a result what was sent for it: no prompt has more tokens. The call's reader has made the report for this result alone. */
const noteSent = (result: AttemptResult, sentBytes: number): AttemptResult => {
  const report: Mutable<AnswerReport> | null = "report" in result ? result.report : null
  if (report !== null && report.usage !== null) report.sentBytes = sentBytes
  return result
}

/** The request, with word of each piece of its body that the upstream takes. */
const watched = (request: Upstream.UpstreamRequest, sending: () => void): Upstream.UpstreamRequest => {
  const { body } = request
  return isBodySource(body) ? { ...request, body: telling(body, sending) } : request
}

/** One call as it runs. A class, because one is made per call. */
class RunningCall implements UpstreamSink {
  readonly #upstream: typeof Upstream.Upstream.Service
  readonly #timers: ClockAndTimers
  readonly #input: CallInput
  readonly #done: (result: AttemptResult) => void
  readonly #sentBytes: number
  /** Timer until content comes: one is enough, for the nearer limit. */
  #waiting: Timer
  #running: Upstream.UpstreamCall | null = null
  #reader: BodyReader | null = null
  #settled = false
  #idle: Timer | null = null
  #total: Timer | null = null
  #linger: Timer | null = null
  #caution: Timer | null = null
  /** The client reads slower than the upstream writes: its slowness is not the upstream's silence. */
  #paused = false
  /** Headers of the upstream that a client of its own wire reads. */
  #passed: ReadonlyArray<string> = []
  #noLongerListen = nothing
  #noLongerDrain = nothing
  #noLongerStop = nothing

  constructor(
    upstream: typeof Upstream.Upstream.Service,
    timers: ClockAndTimers,
    input: CallInput,
    done: (result: AttemptResult) => void
  ) {
    this.#upstream = upstream
    this.#timers = timers
    this.#input = input
    this.#done = done
    this.#sentBytes = bytesOf(input.call.request)
    this.#waiting = this.#untilContent()
  }

  start(): void {
    const { call, stop, work } = this.#input
    this.#running = this.#upstream.dispatch(
      watched(call.request, () => this.#sending()),
      this
    )
    this.#noLongerListen = work.exchange.reply.onClose(() => {
      if (this.#settled) return
      const reader = this.#reader
      this.#running?.abort()
      this.#settle({
        _tag: "Aborted",
        report: reader?.report() ?? noReport,
        firstContentMs: reader?.firstContentMs() ?? null
      })
    })
    if (!this.#settled)
      this.#noLongerStop = stop.onStop(() =>
        this.#giveUp(ownFailure(503, shutdown.code, `${asSentence(shutdown.message)}`))
      )
  }

  cancel(): void {
    this.#settled = true
    this.#stopTimers()
    this.#running?.abort()
  }

  onHeaders(status: number, headers: UpstreamHeaders): void {
    this.#input.onHeaders((name) => headers.get(name))
    this.#reader = this.#readerFor(status, headers)
  }

  onData(chunk: Buffer): boolean {
    const reader = this.#reader
    if (this.#settled || reader === null) return true
    this.#paused = !reader.data(chunk)
    if (reader.isTooLarge?.() === true) {
      this.#running?.abort()
      this.#settle(reader.end())
    }
    return !this.#paused
  }

  onEnd(): void {
    this.#linger?.cancel()
    if (!this.#settled && this.#reader !== null) this.#settle(this.#reader.end())
  }

  onFail(failure: TransportFailure): void {
    this.#linger?.cancel()
    if (!this.#settled) this.#settle(this.#brokenBy(transportReason(failure)))
  }

  #brokenBy(failure: AttemptFailure): AttemptResult {
    return this.#reader === null ? failed(failure) : this.#reader.broken(failure)
  }

  #stopTimers(): void {
    this.#waiting.cancel()
    this.#total?.cancel()
    this.#idle?.cancel()
    this.#caution?.cancel()
    this.#noLongerListen()
    this.#noLongerDrain()
    this.#noLongerStop()
  }

  #settle(result: AttemptResult): void {
    if (this.#settled) return
    this.#settled = true
    this.#stopTimers()
    this.#done(noteSent(result, this.#sentBytes))
  }

  /** Gives up on the upstream for a reason of ours. */
  #giveUp(failure: AttemptFailure): void {
    if (this.#settled) return
    this.#running?.abort()
    this.#settle(this.#brokenBy(failure))
  }

  #tooLong(): void {
    const { totalMs } = this.#input.timeouts
    this.#giveUp(ownFailure(504, "total_timeout", `The request was not finished within ${totalMs} ms.`))
  }

  #remainingMs(): number {
    return Math.max(1, this.#input.deadlineMs - this.#timers.monotonicMs())
  }

  #untilContent(): Timer {
    const { firstByteMs } = this.#input.timeouts
    const leftMs = this.#remainingMs()
    if (leftMs <= firstByteMs) return this.#timers.after(leftMs, () => this.#tooLong())
    return this.#timers.after(firstByteMs, () =>
      this.#giveUp(ownFailure(504, "first_byte_timeout", `The upstream sent no content within ${firstByteMs} ms.`))
    )
  }

  /** The upstream takes the files of the request: its time for an answer begins when it has them. */
  #sending(): void {
    if (this.#settled || this.#reader !== null) return
    this.#waiting.cancel()
    this.#waiting = this.#untilContent()
  }

  /**
   * Sets the timer for the deadline. As long as more than the longest silence is left, silence ends the call first, and
   * every sign of life comes by here.
   */
  #watchDeadline(): void {
    if (this.#total !== null) return
    const leftMs = this.#remainingMs()
    if (leftMs <= this.#input.timeouts.idleMs) this.#total = this.#timers.after(leftMs, () => this.#tooLong())
  }

  #keepWaiting(): void {
    this.#idle?.restart()
    this.#watchDeadline()
  }

  #silent(): void {
    if (this.#paused) return this.#keepWaiting()
    const { idleMs } = this.#input.timeouts
    this.#giveUp(ownFailure(504, "idle_timeout", `The upstream sent nothing for ${idleMs} ms.`))
  }

  #startRelaying(): void {
    this.#waiting.cancel()
    this.#idle = this.#timers.after(this.#input.timeouts.idleMs, () => this.#silent())
    this.#watchDeadline()
  }

  #endSoon(): void {
    this.#idle?.cancel()
    const limitMs = Math.min(this.#input.timeouts.idleMs, afterStopMs)
    this.#idle = this.#timers.after(limitMs, () => this.#silent())
  }

  #resumeOnDrain(): void {
    this.#noLongerDrain = this.#input.work.exchange.reply.onDrain(() => {
      this.#paused = false
      this.#running?.resume()
    })
  }

  #context(): EncodeContext {
    const { call, target, work } = this.#input
    return encodeContext(work, target.model, this.#timers, call)
  }

  #openStream(): BodyReader {
    const { call, holdBack, lastChance, recorder, target, watch, work } = this.#input
    const { account } = target
    const source = streamSource(work.exchange.codec, call, this.#context(), watch, recorder ?? null)
    this.#input.reads?.(source.facts)
    return streamReader({
      work,
      wire: call.wire,
      source,
      dropped: call.dropped,
      lastChance,
      secrets: () => secretsOf(account.connection, account.spec),
      monotonicMs: this.#timers.monotonicMs,
      isUnderWay: () => watch.isUnderWay?.() === true,
      cautionBytes: holdBack?.holdBackBytes ?? 0,
      contentBegins: () => {
        this.#startRelaying()
        if (holdBack !== null) this.#caution = this.#timers.after(holdBack.holdBackMs, () => this.#reader?.release())
      },
      commit: (mapped, dropped) => this.#commit(mapped, dropped),
      alive: () => this.#keepWaiting(),
      stopped: () => this.#endSoon(),
      finish: (result) => {
        this.#settle(result)
        // Its last chunk usually follows at once and keeps the socket usable; if not, the socket goes.
        this.#linger = this.#timers.after(lingerMs, () => this.#running?.abort())
      }
    })
  }

  #commit(mapped: ReadonlyArray<string> | undefined, dropped: ReadonlyArray<string>): void {
    const { call, streamHeaders, work } = this.#input
    const passed = this.#passed
    this.#resumeOnDrain()
    const traces = {
      ...call,
      dropped,
      ...(mapped === undefined ? {} : { mapped: [...(call.mapped ?? []), ...mapped] })
    }
    work.exchange.reply.head(200, streamHeaders(passed.length === 0 ? traces : { ...traces, passed }))
  }

  /** A whole answer has begun with its first byte; from then on it may take its time, as long as it comes. */
  #openAnswer(): BodyReader {
    const { call, lastChance, watch, work } = this.#input
    return answerReader({
      work,
      call,
      context: this.#context(),
      lastChance,
      monotonicMs: this.#timers.monotonicMs,
      watch,
      passed: this.#passed,
      heard: (chunk) => {
        if (this.#idle !== null) this.#keepWaiting()
        else if (beginsJson(chunk)) this.#startRelaying()
      }
    })
  }

  #openMedia(type: string, headers: UpstreamHeaders): BodyReader {
    const { call, maxMediaBytes, mediaHeaders, work } = this.#input
    const { codec, reply } = work.exchange
    const usage = codec.mediaUsage?.(work.asked) ?? null
    const length = headers.get("content-length")
    return mediaReader({
      reply,
      usage: codec.estimatesUsage === true ? null : usage,
      length,
      maxBytes: maxMediaBytes,
      dropped: call.dropped,
      monotonicMs: this.#timers.monotonicMs,
      commit: () => {
        this.#startRelaying()
        this.#resumeOnDrain()
        reply.head(200, mediaHeaders(call, { type, length, usage }))
      },
      alive: () => this.#keepWaiting(),
      exceeded: (failure) => this.#giveUp(failure)
    })
  }

  #readerFor(status: number, headers: UpstreamHeaders): BodyReader {
    const { call, work } = this.#input
    if (status < 200 || status >= 300) return errorReader(call, status, headers)
    if (call.sameWire) this.#passed = passedHeaders(headers)
    if (call.codec.relaysMedia === true) {
      const type = headers.get("content-type") ?? "application/octet-stream"
      if (/^application\/(?:[^;]*\+)?json\b/i.test(type)) return this.#openAnswer()
      if (!work.envelope.stream || !/^text\/event-stream\b/i.test(type)) return this.#openMedia(type, headers)
    }
    if (!work.envelope.stream) return this.#openAnswer()
    const type = headers.get("content-type") ?? ""
    return firstByteReader(call.codec.name, type.includes("application/json"), {
      stream: () => this.#openStream(),
      answer: () => this.#openAnswer()
    })
  }
}

/** Starts the call; `done` is called exactly once. The returned function cancels it without a result. */
export const startCall = (
  upstream: typeof Upstream.Upstream.Service,
  timers: ClockAndTimers,
  input: CallInput,
  done: (result: AttemptResult) => void
): (() => void) => {
  const call = new RunningCall(upstream, timers, input, done)
  call.start()
  return () => call.cancel()
}
