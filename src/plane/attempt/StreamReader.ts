/**
 * Relays a streamed answer to the client. Nothing is sent before the first content, except a beginning of more than 1 MiB, and one that
 * lasts longer than 15 seconds on the last target. From then on bytes are sent as they arrive, and an answer that does not end properly
 * ends with an error event in the client's own wire.
 */
import { errorView } from "../../domain/Errors.ts"
import type { WireName } from "../../domain/Wire.ts"
import { scrubber } from "../../kernel/secrets/Scrub.ts"
import {
  type AttemptFailure,
  type AttemptResult,
  type BodyReader,
  failed,
  ownFailure,
  failureInAnswer
} from "./AttemptResult.ts"
import { reportOf } from "../request/AnswerReport.ts"
import type { Work } from "../request/Exchange.ts"
import { makeHoldBack, type StreamSource } from "./StreamRelay.ts"
import { clientErrorInStream } from "./ClientError.ts"
import { optional } from "../../wire/json/Json.ts"

/** Most bytes that are held back while waiting for content; a longer preamble is let through. */
const maxHoldBackBytes = 1_048_576
/**
 * Longest that the preamble of a living stream is held back when there is no other target to turn to: from then on the client
 * sees that the upstream is at work (a model may think for minutes before it says a word).
 */
export const maxHoldBackMs = 15_000

/** Names of the members in which clients read the reason of an answer's end. */
const reasonMember: Readonly<Record<WireName, string>> = {
  chat: "finish_reason",
  messages: "stop_reason",
  responses: "status",
  gemini: "finishReason",
  ollama: "done_reason"
}

export interface StreamReaderOptions {
  readonly work: Work
  readonly source: StreamSource
  /** The upstream's. */
  readonly wire: WireName
  readonly dropped: ReadonlyArray<string>
  readonly lastChance: boolean
  /** Bytes of content that are held back until `release`; 0 sends the first at once. */
  readonly cautionBytes: number
  /** Credentials that must never reach the client. */
  readonly secrets: () => ReadonlyArray<string>
  readonly monotonicMs: () => number
  /** The answer is made at its provider whether the client waits or not: no other target is asked any more. */
  readonly isUnderWay?: () => boolean
  /** Sends the head: from here on the target is fixed. */
  readonly commit: (mapped: ReadonlyArray<string> | undefined, dropped: ReadonlyArray<string>) => void
  /** The first content is there. */
  readonly contentBegins: () => void
  /** Upstream bytes with events arrived after the commit. */
  readonly alive: () => void
  /** The finish reason is there: what may still follow follows at once. */
  readonly stopped: () => void
  /** Ends the attempt early: the stream is complete although the upstream's body is not over yet. */
  readonly finish: (result: AttemptResult) => void
}

export const streamReader = (options: StreamReaderOptions): BodyReader => {
  const { source, work } = options
  const { codec, reply, requestId } = work.exchange
  const { facts } = source
  const held = makeHoldBack()
  const openedMs = options.monotonicMs()
  let committed = false
  let firstMs: number | null = null
  /** Number of events so far: comments keep a socket busy, but are no sign that an answer is being made. */
  let heard = 0
  /** Characters of the answer when the finish reason came; null before. */
  let saidAtStop: number | null = null

  /** Named where the reason of the end is not the upstream's own. */
  const inferred = (): ReadonlyArray<string> | undefined =>
    facts.stop?.isInferred === true ? [reasonMember[codec.name]] : undefined

  /** Names of the members that the request lost, and of the blocks of the answer left out so far. */
  const dropped = (): ReadonlyArray<string> => {
    const lost = source.lost?.() ?? []
    return lost.length === 0 ? options.dropped : [...options.dropped, ...lost]
  }

  const completed = (body: Buffer | string): AttemptResult => ({
    _tag: "Completed",
    form: "relayed",
    body,
    report: reportOf(facts),
    firstContentMs: firstMs,
    dropped: dropped(),
    ...optional("mapped", inferred())
  })

  /**
   * Makes the result of a failure. After the commit the client is sent the wire's own error event; before it the
   * failure is not visible to the client.
   */
  const brokenBy = (failure: AttemptFailure, relayed: Buffer | string): AttemptResult => {
    if (!committed) {
      // A continuation is written into a cut stream once: it cannot be undone.
      if (work.resumption === undefined || relayed.length === 0) return failed(failure)
      begin()
    }
    if (relayed.length > 0) reply.write(relayed)
    const clean = scrubber(options.secrets())
    const view = errorView(failure.status, clean(failure.message), clientErrorInStream(failure.words, clean))
    return {
      _tag: "Broken",
      ending: codec.renderStreamError(view, requestId),
      failure,
      report: reportOf(facts),
      firstContentMs: firstMs,
      ...optional("sent", source.sent)
    }
  }

  const problemResult = (problem: NonNullable<typeof facts.problem>, bytes: Buffer | string): AttemptResult =>
    brokenBy(failureInAnswer(problem, "stream", options.wire), bytes)

  const begin = (): void => {
    committed = true
    options.commit(inferred(), dropped())
  }

  const noteContent = (): void => {
    if (firstMs !== null || !(facts.content || isUnderWay())) return
    firstMs = options.monotonicMs()
    options.contentBegins()
  }

  const said = (): number => facts.textChars + facts.toolArgChars + facts.reasoningChars

  const noteStop = (): void => {
    if (saidAtStop !== null || firstMs === null || (facts.stop === null && facts.stopRead !== true)) return
    saidAtStop = said()
    options.stopped()
  }

  const isUnderWay = (): boolean => options.isUnderWay?.() === true

  const isHeld = (): boolean => {
    if (isUnderWay()) return false
    const waitedLong = options.monotonicMs() - openedMs >= maxHoldBackMs
    // A wire that sends a tool call in one piece has nothing to send before its end.
    if (facts.content) return held.bytes() === 0 ? !waitedLong : held.bytes() < options.cautionBytes
    return held.bytes() < maxHoldBackBytes && !(options.lastChance && waitedLong)
  }

  /** The last bytes of a whole answer; they are sent after the request is settled. */
  const whole = (bytes: Buffer | string): AttemptResult => {
    if (committed) return completed(bytes)
    if (!facts.content && !options.lastChance) {
      return failed(ownFailure(502, "empty_answer", "The upstream's stream has no content."))
    }
    held.add(bytes)
    noteContent()
    begin()
    return completed(held.take())
  }

  const data = (chunk: Buffer): boolean => {
    const bytes = source.push(chunk)
    if (facts.problem !== null) {
      options.finish(problemResult(facts.problem, bytes))
      return true
    }
    if (facts.terminated && facts.stop !== null) {
      options.finish(whole(bytes))
      return true
    }
    if (!committed) {
      held.add(bytes)
      noteContent()
      noteStop()
      if (isHeld()) return true
      begin()
      return reply.write(held.take())
    }
    noteContent()
    noteStop()
    if (facts.events > heard) {
      heard = facts.events
      options.alive()
    }
    return bytes.length === 0 || reply.write(bytes)
  }

  const end = (): AttemptResult => {
    const bytes = source.end()
    if (facts.problem !== null) return problemResult(facts.problem, bytes)
    if (facts.stop !== null && facts.terminated) return whole(bytes)
    // The upstream said why it stopped and only left out the mark: the answer is whole.
    if (facts.stop !== null) return whole(bytes.toString() + codec.endMark)
    return brokenBy(
      facts.terminated
        ? ownFailure(502, "incomplete_answer", "The upstream's stream ended without a finish reason.")
        : ownFailure(502, "truncated_stream", "The upstream's stream ended before the answer was complete."),
      ""
    )
  }

  return {
    data,
    end,
    // Behind the finish reason only the end mark and the usage can be lost, unless more was said behind it.
    broken: (failure) => (saidAtStop === said() && facts.problem === null ? end() : brokenBy(failure, "")),
    report: () => reportOf(facts),
    release: () => {
      if (committed || firstMs === null) return
      begin()
      reply.write(held.take())
    },
    firstContentMs: () => firstMs
  }
}
