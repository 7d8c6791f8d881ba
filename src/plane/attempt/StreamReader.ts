/**
 * Relays a streamed answer to the client. Nothing is sent before the first content, except a beginning of more than 1 MiB, and one that
 * lasts longer than 15 seconds on the last target. From then on bytes are sent as they arrive, and an answer that does not end properly
 * ends with an error event in the client's own wire.
 */
import type { WireCodec, StreamFacts } from "../../wire/WireCodec.ts"
import { errorView } from "../../contract/domain/Errors.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import { scrubber } from "../../kernel/secrets/Scrub.ts"
import {
  type AttemptFailure,
  type AttemptResult,
  type BodyReader,
  failed,
  ownFailure,
  failureInAnswer
} from "./AttemptResult.ts"
import { type AnswerReport, reportOf } from "../request/AnswerReport.ts"
import type { Work, ClientReply } from "../request/Exchange.ts"
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

/** The relay of one stream. A class, because one is made per stream. */
class StreamReading implements BodyReader {
  readonly #options: StreamReaderOptions
  readonly #source: StreamSource
  readonly #work: Work
  readonly #codec: WireCodec
  readonly #reply: ClientReply
  readonly #requestId: string
  readonly #facts: StreamFacts
  readonly #held = makeHoldBack()
  readonly #openedMs: number
  #committed = false
  #firstMs: number | null = null
  /** Number of events so far: comments keep a socket busy, but are no sign that an answer is being made. */
  #heard = 0
  /** Characters of the answer when the finish reason came; null before. */
  #saidAtStop: number | null = null

  constructor(options: StreamReaderOptions) {
    this.#options = options
    const { source, work } = this.#options
    this.#source = source
    this.#work = work
    const { codec, reply, requestId } = this.#work.exchange
    this.#codec = codec
    this.#reply = reply
    this.#requestId = requestId
    const { facts } = this.#source
    this.#facts = facts
    this.#openedMs = options.monotonicMs()
  }

  /** Named where the reason of the end is not the upstream's own. */
  #inferred(): ReadonlyArray<string> | undefined {
    return this.#facts.stop?.isInferred === true ? [reasonMember[this.#codec.name]] : undefined
  }

  /** Names of the members that the request lost, and of the blocks of the answer left out so far. */
  #dropped(): ReadonlyArray<string> {
    const lost = this.#source.lost?.() ?? []
    return lost.length === 0 ? this.#options.dropped : [...this.#options.dropped, ...lost]
  }

  #completed(body: Buffer | string): AttemptResult {
    return {
      _tag: "Completed",
      form: "relayed",
      body,
      report: reportOf(this.#facts),
      firstContentMs: this.#firstMs,
      dropped: this.#dropped(),
      ...optional("mapped", this.#inferred())
    }
  }

  /**
   * Makes the result of a failure. After the commit the client is sent the wire's own error event; before it the
   * failure is not visible to the client.
   */
  #brokenBy(failure: AttemptFailure, relayed: Buffer | string): AttemptResult {
    if (!this.#committed) {
      // A continuation is written into a cut stream once: it cannot be undone.
      if (this.#work.resumption === undefined || relayed.length === 0) return failed(failure)
      this.#begin()
    }
    if (relayed.length > 0) this.#reply.write(relayed)
    const clean = scrubber(this.#options.secrets())
    const view = errorView(failure.status, clean(failure.message), clientErrorInStream(failure.words, clean))
    return {
      _tag: "Broken",
      ending: this.#codec.renderStreamError(view, this.#requestId),
      failure,
      report: reportOf(this.#facts),
      firstContentMs: this.#firstMs,
      ...optional("sent", this.#source.sent)
    }
  }

  #problemResult(problem: NonNullable<StreamFacts["problem"]>, bytes: Buffer | string): AttemptResult {
    return this.#brokenBy(failureInAnswer(problem, "stream", this.#options.wire), bytes)
  }

  #begin(): void {
    this.#committed = true
    this.#options.commit(this.#inferred(), this.#dropped())
  }

  #noteContent(): void {
    if (this.#firstMs !== null || !(this.#facts.content || this.#isUnderWay())) return
    this.#firstMs = this.#options.monotonicMs()
    this.#options.contentBegins()
  }

  #said(): number {
    return this.#facts.textChars + this.#facts.toolArgChars + this.#facts.reasoningChars
  }

  #noteStop(): void {
    if (
      this.#saidAtStop !== null ||
      this.#firstMs === null ||
      (this.#facts.stop === null && this.#facts.stopRead !== true)
    )
      return
    this.#saidAtStop = this.#said()
    this.#options.stopped()
  }

  #isUnderWay(): boolean {
    return this.#options.isUnderWay?.() === true
  }

  #isHeld(): boolean {
    if (this.#isUnderWay()) return false
    const waitedLong = this.#options.monotonicMs() - this.#openedMs >= maxHoldBackMs
    // A wire that sends a tool call in one piece has nothing to send before its end.
    if (this.#facts.content)
      return this.#held.bytes() === 0 ? !waitedLong : this.#held.bytes() < this.#options.cautionBytes
    return this.#held.bytes() < maxHoldBackBytes && !(this.#options.lastChance && waitedLong)
  }

  /** The last bytes of a whole answer; they are sent after the request is settled. */
  #whole(bytes: Buffer | string): AttemptResult {
    if (this.#committed) return this.#completed(bytes)
    if (!this.#facts.content && !this.#options.lastChance) {
      return failed(ownFailure(502, "empty_answer", "The upstream's stream has no content."))
    }
    this.#held.add(bytes)
    this.#noteContent()
    this.#begin()
    return this.#completed(this.#held.take())
  }

  data(chunk: Buffer): boolean {
    const bytes = this.#source.push(chunk)
    if (this.#facts.problem !== null) {
      this.#options.finish(this.#problemResult(this.#facts.problem, bytes))
      return true
    }
    if (this.#facts.terminated && this.#facts.stop !== null) {
      this.#options.finish(this.#whole(bytes))
      return true
    }
    if (!this.#committed) {
      this.#held.add(bytes)
      this.#noteContent()
      this.#noteStop()
      if (this.#isHeld()) return true
      this.#begin()
      return this.#reply.write(this.#held.take())
    }
    this.#noteContent()
    this.#noteStop()
    if (this.#facts.events > this.#heard) {
      this.#heard = this.#facts.events
      this.#options.alive()
    }
    return bytes.length === 0 || this.#reply.write(bytes)
  }

  end(): AttemptResult {
    const bytes = this.#source.end()
    if (this.#facts.problem !== null) return this.#problemResult(this.#facts.problem, bytes)
    if (this.#facts.stop !== null && this.#facts.terminated) return this.#whole(bytes)
    // The upstream said why it stopped and only left out the mark: the answer is whole.
    if (this.#facts.stop !== null) return this.#whole(bytes.toString() + this.#codec.endMark)
    return this.#brokenBy(
      this.#facts.terminated
        ? ownFailure(502, "incomplete_answer", "The upstream's stream ended without a finish reason.")
        : ownFailure(502, "truncated_stream", "The upstream's stream ended before the answer was complete."),
      ""
    )
  }

  /** Judges a broken stream: behind the finish reason only the end mark and the usage can be lost, unless more was said behind it. */
  broken(failure: AttemptFailure): AttemptResult {
    return this.#saidAtStop === this.#said() && this.#facts.problem === null ? this.end() : this.#brokenBy(failure, "")
  }

  report(): AnswerReport {
    return reportOf(this.#facts)
  }

  release(): void {
    if (this.#committed || this.#firstMs === null) return
    this.#begin()
    this.#reply.write(this.#held.take())
  }

  firstContentMs(): number | null {
    return this.#firstMs
  }
}

export const streamReader = (options: StreamReaderOptions): BodyReader => new StreamReading(options)
