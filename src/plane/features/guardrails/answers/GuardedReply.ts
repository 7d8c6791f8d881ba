/**
 * The reply of a client whose answer is checked. Streams are filtered event by event. `conclude` checks a whole answer, or the last bytes of a
 * stream, before it is settled; `end` then sends the checked bytes in place of those it is given, so that features further in see the answer
 * unchanged. An answer that ends without `conclude` is checked in `end`.
 */
import type { AnswerReader } from "./Reading.ts"
import type { WireCodec } from "../../../../wire/WireCodec.ts"
import type { Trail } from "../../../request/Trail.ts"
import * as Effect from "effect/Effect"
import { describe, type GuardrailBlocked } from "../../../../domain/Errors.ts"
import { Listeners } from "../../../../kernel/collections/Listeners.ts"
import { framingOf } from "../../../reply/Frames.ts"
import type { ClientReply, Exchange, Trailers, Work } from "../../../request/Exchange.ts"
import { changingHead } from "../../../reply/ReplyHeaders.ts"
import { answerError } from "../../../request/OwnAnswer.ts"
import type { AnswerGuard, Watch, TextMode } from "./AnswerGuard.ts"
import { makePace, type Pace } from "./Pace.ts"
import type { Steps } from "./Steps.ts"
import { makeStreamFilter, type StreamFilter } from "./StreamFilter.ts"
import { filterWholeIn } from "./WholeFilter.ts"
import { readers } from "./wires/readers.ts"

export interface GuardedReply {
  readonly reply: ClientReply
  readonly watch: Watch
  /** Tells whether the client has the head of its answer: then an error can only be sent in the stream. */
  readonly hasHead: () => boolean
  /** Nothing of a whole answer has come. */
  readonly isUntouched: () => boolean
  /** Looks at what is to come: the last bytes of a stream, or of a whole answer. Why they may not be given; null where they may. */
  readonly concludeWith: (rest: Buffer | string) => Effect.Effect<GuardrailBlocked | null>
  /**
   * Returns the bytes that replace the end that is to come; null before `concludeWith`, and where the answer is not
   * given.
   */
  readonly concluded: () => Buffer | string | null
  /** Nothing more of the answer goes out. */
  readonly withhold: () => void
  /** Ends the answer with an error, once. */
  readonly refuse: (error: GuardrailBlocked) => void
}

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

/** An answer that is looked at on its way to the client. */
class Guarding {
  readonly #exchange: Exchange
  readonly #trail: Trail
  readonly #guard: AnswerGuard
  readonly watch: Watch
  readonly #isStream: boolean
  readonly #codec: WireCodec
  readonly #client: ClientReply
  readonly #requestId: string
  readonly #reader: AnswerReader
  readonly #mode: TextMode | null
  readonly #leaving = new Listeners()
  /** True after the end of the answer: before it everything is looked at; afterwards, and in errors, nothing is. */
  #isOver = false
  #isError = false
  #head: Head | null = null
  headSent = false
  #out: Array<Buffer> = []
  #outBytes = 0
  #says = false
  readonly body: Array<Buffer> = []
  /** Bytes that replace the end that is to come. */
  concluded: Buffer | string | null = null
  /** The answer is not given: nothing more of it goes out. */
  #isWithheld = false
  #isRefused = false
  readonly #pace: Pace
  readonly #filter: StreamFilter
  readonly reply: ClientReply

  constructor({ envelope, exchange, trail }: Guardable, guard: AnswerGuard, watch: Watch) {
    this.#exchange = exchange
    this.#trail = trail
    this.#guard = guard
    this.watch = watch
    this.#isStream = envelope.stream
    const { codec, reply: client, requestId } = this.#exchange
    this.#codec = codec
    this.#client = client
    this.#requestId = requestId
    this.#reader = readers[exchange.wire]
    this.#mode = guard.texts?.mode ?? null
    this.#pace = makePace(guard.later)
    this.#filter = makeStreamFilter({
      framing: framingOf(this.#codec),
      reader: this.#reader,
      guard: watch.guard,
      found: watch.found,
      unread: watch.unread,
      read: watch.read,
      release: (bytes, isSaid) => {
        this.#says ||= isSaid
        if (this.#mode !== "warn") this.#keep(bytes)
      }
    })
    this.reply = {
      head: (status, headers) => {
        if (this.#isWithheld) return
        this.#head = { status, headers }
        this.#isError ||= status !== 200
        // A stream that may be refused, and a whole answer, begin with the first bytes that are known to be allowed out.
        const isFree = this.#isStream
          ? this.#isOver || (this.#mode !== "block" && this.#guard.mayCall === null)
          : this.#isOver && this.concluded === null
        if (this.#isError || isFree) this.#sendHead()
      },
      write: (chunk) => {
        if (this.#isWithheld || this.#blockedNow() || (this.concluded !== null && !this.#isError)) return true
        if (this.#isOver || this.#isError) {
          this.#sendHead()
          return this.#client.write(chunk)
        }
        if (!this.#isStream) {
          this.body.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
          return true
        }
        return this.#pushed(chunk)
      },
      end: (chunk, trailers) => {
        if (this.#isWithheld) return
        if (!this.#isError && this.concluded !== null) return this.#endWith(this.concluded, trailers)
        if (!this.#isOver && !this.#isError) return this.#endHere(chunk, trailers)
        this.#sendHead()
        this.#client.end(chunk, trailers)
      },
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
      onClose: (listener) => {
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
      },
      isClosed: () => this.#blockedNow() || this.#client.isClosed()
    }
  }

  #keep(bytes: Buffer): void {
    if (this.watch.blocked() !== null) return
    this.#out.push(bytes)
    this.#outBytes += bytes.length
  }

  /** Keeps the original bytes where findings are only counted. */
  #keepAsCame(chunk: Buffer | string): void {
    if (this.#mode === "warn") this.#keep(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
  }

  #marked(headers: Array<string>): Array<string> {
    const value = this.#guard.header(this.watch.facts())
    return value === null ? headers : [...headers, headerName, value]
  }

  #sendHead(): void {
    if (this.#head === null) return
    const { headers, status } = this.#head
    this.#head = null
    this.headSent = true
    this.#client.head(status, this.#marked(headers))
  }

  #take(): Buffer {
    const [only] = this.#out
    const bytes = this.#out.length === 1 && only !== undefined ? only : Buffer.concat(this.#out, this.#outBytes)
    this.#out = []
    this.#outBytes = 0
    return bytes
  }

  /** Tells whether the head waits for the first text of the answer. */
  #isHeld(): boolean {
    return this.#head !== null && !this.#says && this.#outBytes < maxPreambleBytes
  }

  #blockedNow(): boolean {
    return this.watch.blocked() !== null && !this.#isOver
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
    if (this.watch.blocked() !== null) {
      this.#take()
      this.#leaving.tell()
      return true
    }
    this.#keepAsCame(chunk)
    if (this.#outBytes === 0 || this.#isHeld()) return true
    this.#sendHead()
    return this.#client.write(this.#take())
  }

  withhold(): void {
    this.#isWithheld = true
  }

  *#lastIn(last: Buffer | string): Steps<Buffer> {
    yield* this.#filter.pushIn(last)
    yield* this.#filter.endIn()
    this.#keepAsCame(last)
    return this.#take()
  }

  *#filteredIn(rest: Buffer | string): Steps<Buffer | string> {
    const whole = this.body.length === 0 ? rest : Buffer.concat([...this.body, Buffer.from(rest)])
    const { found, guard: texts, read, unread } = this.watch
    const filtered = yield* filterWholeIn(whole, { reader: this.#reader, guard: texts, found, read, unread })
    return this.#mode === "warn" ? whole : filtered
  }

  /** Calls `next` at once where there is little to look at. */
  #conclude(rest: Buffer | string, next: (blocked: GuardrailBlocked | null) => void): void {
    this.#pace.run<Buffer | string>(
      () => (this.#isStream ? this.#lastIn(rest) : this.#filteredIn(rest)),
      (bytes) => {
        this.#isOver = true
        const blocked = this.watch.blocked()
        if (blocked === null) this.concluded = bytes
        else this.withhold()
        next(blocked)
      }
    )
  }

  concludeWith(rest: Buffer | string): Effect.Effect<GuardrailBlocked | null> {
    return Effect.async((resume) => this.#conclude(rest, (blocked) => resume(Effect.succeed(blocked))))
  }

  /** `head`: of an answer whose end is known. */
  #endWith(bytes: Buffer | string, trailers?: Trailers): void {
    if (this.#head !== null && !this.#isStream) this.#head = withLength(this.#head, Buffer.byteLength(bytes))
    this.#sendHead()
    this.#client.end(bytes, trailers)
  }

  /** The end of an answer that was not looked at before. */
  #endHere(chunk: Buffer | string, trailers?: Trailers): void {
    this.#conclude(chunk, (blocked) => {
      if (blocked !== null) this.refuse(blocked)
      else this.#endWith(this.concluded ?? "", trailers)
    })
  }

  refuse(error: GuardrailBlocked): void {
    this.withhold()
    if (this.#isRefused || this.#client.isClosed()) return
    this.#isRefused = true
    if (this.headSent) return this.#client.end(this.#codec.renderStreamError(describe(error), this.#requestId))
    const told = changingHead(this.#client, (_, headers) => this.#marked(headers))
    answerError({ ...this.#exchange, reply: told }, error, this.#trail.headers)
  }
}

export const guardReply = (options: Guardable, guard: AnswerGuard, watch: Watch): GuardedReply => {
  const guarding = new Guarding(options, guard, watch)
  return {
    reply: guarding.reply,
    watch: guarding.watch,
    hasHead: () => guarding.headSent,
    isUntouched: () => guarding.body.length === 0,
    concludeWith: (rest) => guarding.concludeWith(rest),
    concluded: () => guarding.concluded,
    withhold: () => guarding.withhold(),
    refuse: (error) => guarding.refuse(error)
  }
}
