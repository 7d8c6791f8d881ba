/**
 * Runs one upstream call from the first byte sent to a result: only here do the events of the socket, the timers and a client that
 * disconnects meet. Plain callbacks; `AttemptRunner` wraps one run in one `Effect.async`.
 */
import type { Mutable } from "effect/Types"
import { addressAsked } from "../../subjects/auth/Credentials.ts"
import { isBodySource, telling } from "../../net/egress/BodySource.ts"
import type * as Upstream from "../../net/egress/Upstream.ts"
import type { UpstreamHeaders } from "../../net/egress/UpstreamHeaders.ts"
import type { Timer, Timers } from "../../platform/Timers.ts"
import type { ResilienceSettings, Timeouts } from "../../subjects/resilience/entity.ts"
import { secretsOf } from "../providers/Catalog.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { EncodeContext } from "../../wire/WireCodec.ts"
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
import { shutdown } from "../../domain/Errors.ts"
import type { Work } from "../request/Exchange.ts"
import { beginsJson, firstByteReader } from "./FirstByte.ts"
import type { StopSignal } from "../request/StopSignal.ts"
import { streamReader } from "./StreamReader.ts"
import { type RecordDelivered, streamSource } from "./StreamRelay.ts"
import { mediaReader } from "./MediaReader.ts"
import type { AnswerWatch } from "../state/AnswerWatch.ts"
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
    ownAddress: () => addressAsked(work.exchange.headers) ?? "",
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

/** Starts the call; `done` is called exactly once. The returned function cancels it without a result. */
export const startCall = (
  upstream: typeof Upstream.Upstream.Service,
  timers: ClockAndTimers,
  input: CallInput,
  done: (result: AttemptResult) => void
): (() => void) => {
  const { call, timeouts, work } = input
  const { reply } = work.exchange
  const sentBytes = bytesOf(call.request)
  let reader: BodyReader | null = null
  let settled = false
  let idle: Timer | null = null
  let total: Timer | null = null
  let linger: Timer | null = null
  let caution: Timer | null = null
  /** The client reads slower than the upstream writes: its slowness is not the upstream's silence. */
  let paused = false
  /** Headers of the upstream that a client of its own wire reads. */
  let passed: ReadonlyArray<string> = []
  let noLongerListen = nothing
  let noLongerDrain = nothing
  let noLongerStop = nothing

  const stopListening = (): void => {
    noLongerListen()
    noLongerDrain()
    noLongerStop()
  }

  const settle = (result: AttemptResult): void => {
    if (settled) return
    settled = true
    waiting.cancel()
    total?.cancel()
    idle?.cancel()
    caution?.cancel()
    stopListening()
    done(noteSent(result, sentBytes))
  }

  /** Gives up on the upstream for a reason of ours. */
  const giveUp = (failure: AttemptFailure): void => {
    if (settled) return
    running.abort()
    settle(reader === null ? failed(failure) : reader.broken(failure))
  }

  const noContent = (): void =>
    giveUp(ownFailure(504, "first_byte_timeout", `The upstream sent no content within ${timeouts.firstByteMs} ms.`))
  const tooLong = (): void =>
    giveUp(ownFailure(504, "total_timeout", `The request was not finished within ${timeouts.totalMs} ms.`))
  const silent = (): void =>
    giveUp(ownFailure(504, "idle_timeout", `The upstream sent nothing for ${timeouts.idleMs} ms.`))

  const stopping = (): void => giveUp(ownFailure(503, shutdown.code, `${asSentence(shutdown.message)}`))

  const remainingMs = (): number => Math.max(1, input.deadlineMs - timers.monotonicMs())

  const leftMs = remainingMs()
  /** Timer until content comes: one is enough, for the nearer limit. */
  let waiting =
    leftMs <= timeouts.firstByteMs ? timers.after(leftMs, tooLong) : timers.after(timeouts.firstByteMs, noContent)

  /** The upstream takes the files of the request: its time for an answer begins when it has them. */
  const sending = (): void => {
    if (settled || reader !== null) return
    waiting.cancel()
    const leftMs = remainingMs()
    waiting =
      leftMs <= timeouts.firstByteMs ? timers.after(leftMs, tooLong) : timers.after(timeouts.firstByteMs, noContent)
  }

  const context = (): EncodeContext => encodeContext(work, input.target.model, timers, call)

  /**
   * Sets the timer for the deadline. As long as more than the longest silence is left, silence ends the call first, and
   * every sign of life comes by here.
   */
  const watchDeadline = (): void => {
    if (total !== null) return
    const leftMs = remainingMs()
    if (leftMs <= timeouts.idleMs) total = timers.after(leftMs, tooLong)
  }

  const keepWaiting = (): void => {
    idle?.restart()
    watchDeadline()
  }

  const startRelaying = (): void => {
    waiting.cancel()
    idle = timers.after(timeouts.idleMs, () => (paused ? keepWaiting() : silent()))
    watchDeadline()
  }

  const endSoon = (): void => {
    idle?.cancel()
    idle = timers.after(Math.min(timeouts.idleMs, afterStopMs), () => (paused ? keepWaiting() : silent()))
  }

  const openStream = (): BodyReader =>
    streamReader({
      work,
      wire: call.wire,
      source: streamSource(work.exchange.codec, call, context(), input.watch, input.recorder ?? null),
      dropped: call.dropped,
      lastChance: input.lastChance,
      secrets: () => secretsOf(input.target.account.connection, input.target.account.spec),
      monotonicMs: timers.monotonicMs,
      isUnderWay: () => input.watch.isUnderWay?.() === true,
      cautionBytes: input.holdBack?.holdBackBytes ?? 0,
      contentBegins: () => {
        startRelaying()
        if (input.holdBack !== null) caution = timers.after(input.holdBack.holdBackMs, () => reader?.release())
      },
      commit: (mapped, dropped) => {
        noLongerDrain = reply.onDrain(() => {
          paused = false
          running.resume()
        })
        const traces = {
          ...call,
          dropped,
          ...(mapped === undefined ? {} : { mapped: [...(call.mapped ?? []), ...mapped] })
        }
        reply.head(200, input.streamHeaders(passed.length === 0 ? traces : { ...traces, passed }))
      },
      alive: keepWaiting,
      stopped: endSoon,
      finish: (result) => {
        settle(result)
        // Its last chunk usually follows at once and keeps the socket usable; if not, the socket goes.
        linger = timers.after(lingerMs, () => running.abort())
      }
    })

  /** A whole answer has begun with its first byte; from then on it may take its time, as long as it comes. */
  const openAnswer = (): BodyReader =>
    answerReader(work, call, context(), input.lastChance, timers.monotonicMs, input.watch, passed, (chunk) => {
      if (idle !== null) keepWaiting()
      else if (beginsJson(chunk)) startRelaying()
    })

  const openMedia = (type: string, headers: UpstreamHeaders): BodyReader => {
    const { estimatesUsage, mediaUsage } = work.exchange.codec
    const usage = mediaUsage?.(work.asked) ?? null
    const length = headers.get("content-length")
    return mediaReader({
      reply,
      usage: estimatesUsage === true ? null : usage,
      length,
      maxBytes: input.maxMediaBytes,
      dropped: call.dropped,
      monotonicMs: timers.monotonicMs,
      commit: () => {
        startRelaying()
        noLongerDrain = reply.onDrain(() => {
          paused = false
          running.resume()
        })
        reply.head(200, input.mediaHeaders(call, { type, length, usage }))
      },
      alive: keepWaiting,
      exceeded: giveUp
    })
  }

  const readerFor = (status: number, headers: UpstreamHeaders): BodyReader => {
    if (status < 200 || status >= 300) return errorReader(call, status, headers)
    if (call.sameWire) passed = passedHeaders(headers)
    if (call.codec.relaysMedia === true) {
      const type = headers.get("content-type") ?? "application/octet-stream"
      if (/^application\/(?:[^;]*\+)?json\b/i.test(type)) return openAnswer()
      if (!work.envelope.stream || !/^text\/event-stream\b/i.test(type)) return openMedia(type, headers)
    }
    if (!work.envelope.stream) return openAnswer()
    const type = headers.get("content-type") ?? ""
    return firstByteReader(call.codec.name, type.includes("application/json"), {
      stream: openStream,
      answer: openAnswer
    })
  }

  const running = upstream.dispatch(watched(call.request, sending), {
    onHeaders: (status, headers) => {
      input.onHeaders((name) => headers.get(name))
      reader = readerFor(status, headers)
    },
    onData: (chunk) => {
      if (settled || reader === null) return true
      paused = !reader.data(chunk)
      if (reader.isTooLarge?.() === true) {
        running.abort()
        settle(reader.end())
      }
      return !paused
    },
    onEnd: () => {
      linger?.cancel()
      if (!settled && reader !== null) settle(reader.end())
    },
    onFail: (failure) => {
      linger?.cancel()
      const reason = transportReason(failure)
      if (!settled) settle(reader === null ? failed(reason) : reader.broken(reason))
    }
  })

  noLongerListen = reply.onClose(() => {
    if (settled) return
    running.abort()
    settle({ _tag: "Aborted", report: reader?.report() ?? noReport, firstContentMs: reader?.firstContentMs() ?? null })
  })
  if (!settled) noLongerStop = input.stop.onStop(stopping)

  return () => {
    settled = true
    waiting.cancel()
    total?.cancel()
    idle?.cancel()
    caution?.cancel()
    stopListening()
    running.abort()
  }
}
