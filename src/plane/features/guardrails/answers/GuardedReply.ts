/**
 * The reply of a client whose answer is checked. Streams are filtered event by event. `conclude` checks a whole answer, or the last bytes of a
 * stream, before it is settled; `end` then sends the checked bytes in place of those it is given, so that features further in see the answer
 * unchanged. An answer that ends without `conclude` is checked in `end`.
 */
import * as Effect from "effect/Effect"
import { describe, type GuardrailBlocked } from "../../../../contract/domain/Errors.ts"
import { Listeners } from "../../../../kernel/collections/Listeners.ts"
import { framingOf } from "../../../reply/Frames.ts"
import type { ClientReply, Trailers, Work } from "../../../request/Exchange.ts"
import { changingHead } from "../../../reply/ReplyHeaders.ts"
import { answerError } from "../../../request/OwnAnswer.ts"
import type { AnswerGuard, Watch } from "./AnswerGuard.ts"
import { makePace, type Pace } from "./Pace.ts"
import type { Steps } from "./Steps.ts"
import { makeStreamFilter, type StreamFilter } from "./StreamFilter.ts"
import { filterWholeIn } from "./WholeFilter.ts"
import { readers } from "./wires/readers.ts"

export const headerName = "X-Gateway-Guardrail"

/** The beginning of a stream that is kept until something is said, so that an answer can still be refused with a status. */
const maxPreambleBytes = 1_048_576

const nothing = (): void => {}

interface Head {
  readonly status: number
  readonly headers: Array<string>
}

/** `Content-Length` is that of the body that goes out. */
const withLength = ({ headers, status }: Head, bytes: number): Head => {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "content-length")
  return at < 0 ? { status, headers } : { status, headers: headers.with(at + 1, String(bytes)) }
}

export type Guardable = Pick<Work, "exchange" | "trail"> & { readonly envelope: Pick<Work["envelope"], "stream"> }

/** The reply of an answer that is looked at on its way to the client. */
export class GuardedReply {
  readonly reply: ClientReply
  readonly #asked: Guardable
  readonly #client: ClientReply
  readonly #guard: AnswerGuard
  readonly #watch: Watch
  readonly #pace: Pace
  readonly #filter: StreamFilter
  readonly #leaving = new Listeners()
  /** True after the end of the answer: before it everything is looked at; afterwards, and in errors, nothing is. */
  #isOver = false
  #isError = false
  #head: Head | null = null
  #headSent = false
  #out: Array<Buffer> = []
  #outBytes = 0
  #says = false
  readonly #body: Array<Buffer> = []
  /** Bytes that replace the end that is to come. */
  #concluded: Buffer | string | null = null
  /** The answer is not given: nothing more of it goes out. */
  #isWithheld = false
  #isRefused = false

  constructor(asked: Guardable, guard: AnswerGuard, watch: Watch) {
    const { codec, reply, wire } = asked.exchange
    this.#asked = asked
    this.#client = reply
    this.#guard = guard
    this.#watch = watch
    this.#pace = makePace(guard.later)
    this.#filter = makeStreamFilter({
      framing: framingOf(codec),
      reader: readers[wire],
      guard: watch.guard,
      found: watch.found,
      unread: watch.unread,
      read: watch.read,
      release: (bytes, isSaid) => {
        this.#says ||= isSaid
        if (!this.#onlyCounts()) this.#keep(bytes)
      }
    })
    this.reply = {
      head: (status, headers) => this.#begin(status, headers),
      write: (chunk) => this.#write(chunk),
      end: (chunk, trailers) => this.#end(chunk, trailers),
      cut: () => {
        if (!this.#isWithheld) this.#client.cut()
      },
      onDrain: (listener) => {
        const noLongerBehind = this.#pace.onCaughtUp(listener)
        const noLongerFull = this.#client.onDrain(listener)
        return () => {
          noLongerBehind()
          noLongerFull()
        }
      },
      onClose: (listener) => this.#onClose(listener),
      isClosed: () => this.#blockedNow() || this.#client.isClosed()
    }
  }

  /** Tells whether the client has the head of its answer: then an error can only be sent in the stream. */
  hasHead(): boolean {
    return this.#headSent
  }

  /** Nothing of a whole answer has come. */
  isUntouched(): boolean {
    return this.#body.length === 0
  }

  /** Looks at what is to come: the last bytes of a stream, or of a whole answer. Why they may not be given; null where they may. */
  concludeWith(rest: Buffer | string): Effect.Effect<GuardrailBlocked | null> {
    return Effect.async((resume) => this.#conclude(rest, (blocked) => resume(Effect.succeed(blocked))))
  }

  /**
   * Returns the bytes that replace the end that is to come; null before `concludeWith`, and where the answer is not
   * given.
   */
  concluded(): Buffer | string | null {
    return this.#concluded
  }

  /** Lets nothing more of the answer out. */
  withhold(): void {
    this.#isWithheld = true
  }

  /** Ends the answer with an error, once. */
  refuse(error: GuardrailBlocked): void {
    const { exchange, trail } = this.#asked
    this.withhold()
    if (this.#isRefused || this.#client.isClosed()) return
    this.#isRefused = true
    if (this.#headSent) return this.#client.end(exchange.codec.renderStreamError(describe(error), exchange.requestId))
    const reply = changingHead(this.#client, (_, headers) => this.#marked(headers))
    answerError({ ...exchange, reply }, error, trail.headers)
  }

  #begin(status: number, headers: Array<string>): void {
    if (this.#isWithheld) return
    const { mayCall, texts } = this.#guard
    this.#head = { status, headers }
    this.#isError ||= status !== 200
    // A stream that may be refused, and a whole answer, begin with the first bytes that are known to be allowed out.
    const isFree = this.#isStream()
      ? this.#isOver || (texts?.mode !== "block" && mayCall === null)
      : this.#isOver && this.#concluded === null
    if (this.#isError || isFree) this.#sendHead()
  }

  #write(chunk: Buffer | string): boolean {
    if (this.#isWithheld || this.#blockedNow() || (this.#concluded !== null && !this.#isError)) return true
    if (this.#isOver || this.#isError) {
      this.#sendHead()
      return this.#client.write(chunk)
    }
    if (this.#isStream()) return this.#pushed(chunk)
    this.#body.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
    return true
  }

  #end(chunk: Buffer | string, trailers?: Trailers): void {
    if (this.#isWithheld) return
    if (!this.#isError && this.#concluded !== null) return this.#endWith(this.#concluded, trailers)
    if (!this.#isOver && !this.#isError) return this.#endHere(chunk, trailers)
    this.#sendHead()
    this.#client.end(chunk, trailers)
  }

  #onClose(listener: () => void): () => void {
    if (this.#blockedNow()) {
      listener()
      return nothing
    }
    const noLongerBlocked = this.#leaving.add(listener)
    const noLongerClosed = this.#client.onClose(listener)
    return () => {
      noLongerBlocked()
      noLongerClosed()
    }
  }

  #isStream(): boolean {
    return this.#asked.envelope.stream
  }

  /** Findings are only counted: the original bytes go out. */
  #onlyCounts(): boolean {
    return this.#guard.texts?.mode === "warn"
  }

  #keep(bytes: Buffer): void {
    if (this.#watch.blocked() !== null) return
    this.#out.push(bytes)
    this.#outBytes += bytes.length
  }

  #keepAsCame(chunk: Buffer | string): void {
    if (this.#onlyCounts()) this.#keep(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
  }

  #marked(headers: Array<string>): Array<string> {
    const value = this.#guard.header(this.#watch.facts())
    return value === null ? headers : [...headers, headerName, value]
  }

  #sendHead(): void {
    if (this.#head === null) return
    const { headers, status } = this.#head
    this.#head = null
    this.#headSent = true
    this.#client.head(status, this.#marked(headers))
  }

  #take(): Buffer {
    const [only] = this.#out
    const bytes = this.#out.length === 1 && only !== undefined ? only : Buffer.concat(this.#out, this.#outBytes)
    this.#out = []
    this.#outBytes = 0
    return bytes
  }

  #blockedNow(): boolean {
    return this.#watch.blocked() !== null && !this.#isOver
  }

  /** False: the client, or the look at what came, is behind. */
  #pushed(chunk: Buffer | string): boolean {
    let isTaken = true
    const isDone = this.#pace.run(
      () => this.#filter.pushIn(chunk),
      () => {
        isTaken = this.#passOn(chunk)
      }
    )
    return isDone && isTaken
  }

  #passOn(chunk: Buffer | string): boolean {
    if (this.#watch.blocked() !== null) {
      this.#take()
      this.#leaving.tell()
      return true
    }
    this.#keepAsCame(chunk)
    // The head waits for the first text of the answer.
    const isBuffered = this.#head !== null && !this.#says && this.#outBytes < maxPreambleBytes
    if (this.#outBytes === 0 || isBuffered) return true
    this.#sendHead()
    return this.#client.write(this.#take())
  }

  /** Calls `next` at once where there is little to look at. */
  #conclude(rest: Buffer | string, next: (blocked: GuardrailBlocked | null) => void): void {
    this.#pace.run<Buffer | string>(
      () => (this.#isStream() ? this.#lastIn(rest) : this.#filteredIn(rest)),
      (bytes) => {
        this.#isOver = true
        const blocked = this.#watch.blocked()
        if (blocked === null) this.#concluded = bytes
        else this.withhold()
        next(blocked)
      }
    )
  }

  *#lastIn(last: Buffer | string): Steps<Buffer> {
    yield* this.#filter.pushIn(last)
    yield* this.#filter.endIn()
    this.#keepAsCame(last)
    return this.#take()
  }

  *#filteredIn(rest: Buffer | string): Steps<Buffer | string> {
    const whole = this.#body.length === 0 ? rest : Buffer.concat([...this.#body, Buffer.from(rest)])
    const { found, guard, read, unread } = this.#watch
    const reader = readers[this.#asked.exchange.wire]
    const filtered = yield* filterWholeIn(whole, { reader, guard, found, read, unread })
    return this.#onlyCounts() ? whole : filtered
  }

  #endWith(bytes: Buffer | string, trailers?: Trailers): void {
    if (this.#head !== null && !this.#isStream()) this.#head = withLength(this.#head, Buffer.byteLength(bytes))
    this.#sendHead()
    this.#client.end(bytes, trailers)
  }

  /** The end of an answer that was not looked at before. */
  #endHere(chunk: Buffer | string, trailers?: Trailers): void {
    this.#conclude(chunk, (blocked) => {
      if (blocked !== null) this.refuse(blocked)
      else this.#endWith(this.#concluded ?? "", trailers)
    })
  }
}
