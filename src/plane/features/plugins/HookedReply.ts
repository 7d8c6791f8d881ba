/**
 * The reply to a client whose answer goes to plugins as well. It keeps a copy of what goes through it, and holds a stream back where a plugin is to
 * change it: then nothing goes out before `conclude`. What goes out in the place of the end is set by `conclude`, so that features
 * further in see the answer unchanged.
 */
import { describe, type PluginFailed } from "../../../contract/domain/Errors.ts"
import { Listeners } from "../../../kernel/collections/Listeners.ts"
import { chunkOverheadBytes, type Room } from "../../reply/HeldChunks.ts"
import { withHeaders } from "../../reply/ReplyHeaders.ts"
import type { ClientReply, Exchange, Trailers } from "../../request/Exchange.ts"
import { answerError } from "../../request/OwnAnswer.ts"

/** Most bytes of one answer. A larger one is not seen by plugins, and goes on as it comes. */
export const maxAnswerBytes = 16 * 1_048_576
/** Most bytes of all answers that are kept or held at the same time. */
export const roomBytes = 128 * 1_048_576

export interface HookedReplyOptions {
  readonly isStream: boolean
  /** The stream is held back. */
  readonly holds: boolean
  /** True when an answer that is too large to be held must not go out. */
  readonly isGuarded: boolean
  readonly room: Room
  /** Makes the headers of what goes out. What it adds only once the head has gone out goes into the trailers. */
  readonly marked: (headers: Array<string>) => Array<string>
}

interface Head {
  readonly status: number
  readonly headers: Array<string>
}

const nothing = (): void => {}

const bufferOf = (chunk: Buffer | string): Buffer => (typeof chunk === "string" ? Buffer.from(chunk) : chunk)

const withLength = (headers: Array<string>, length: number): Array<string> =>
  headers.some((name, at) => at % 2 === 0 && name.toLowerCase() === "content-length")
    ? withHeaders(headers, ["Content-Length", String(length)])
    : headers

export class HookedReply {
  readonly reply: ClientReply
  readonly #exchange: Exchange
  readonly #client: ClientReply
  readonly #options: HookedReplyOptions
  readonly #leaving = new Listeners()
  readonly #noLongerClose: () => void
  #chunks: Array<Buffer> = []
  #bytes = 0
  #isTouched = false
  #isTooLarge = false
  #isHolding: boolean
  #isError = false
  #isWithheld = false
  #isRefused = false
  #concluded: Buffer | null = null
  #head: Head | null = null
  #headSent = false
  /** Headers that `marked` has added to the head. */
  #marks = ""
  /** The client has taken what was held, once that was released. */
  #isFree = true

  constructor(exchange: Exchange, options: HookedReplyOptions) {
    this.#exchange = exchange
    this.#client = exchange.reply
    this.#options = options
    this.#isHolding = options.holds
    this.#noLongerClose = this.#client.onClose(() => this.#drop())
    this.reply = {
      head: (status, headers) => this.#begin(status, headers),
      write: (chunk) => this.#write(chunk),
      end: (chunk, trailers) => this.#end(chunk, trailers),
      cut: () => this.#cut(),
      onDrain: (listener) => this.#client.onDrain(listener),
      onClose: (listener) => this.#onClose(listener),
      isClosed: () => this.#isRefused || this.#client.isClosed()
    }
  }

  /** Returns the bytes so far; null: it is too large. */
  soFar(): Buffer | null {
    return this.#isTooLarge ? null : Buffer.concat(this.#chunks)
  }

  /** Nothing of the answer has come. */
  isUntouched(): boolean {
    return !this.#isTouched
  }

  /** True when it must not go out, because it is too large to be held. */
  isRefused(): boolean {
    return this.#isRefused
  }

  hasHead(): boolean {
    return this.#headSent
  }

  /** Sets what goes out in the place of all that was held, and of the end that is to come. */
  conclude(bytes: Buffer): void {
    this.#isHolding = false
    this.#drop()
    this.#concluded = bytes
  }

  /** Sends the held bytes, and the rest as it comes. */
  release(): void {
    if (!this.#isHolding) return
    this.#isHolding = false
    if (this.#head === null) return
    this.#sendHead()
    if (this.#chunks.length > 0) this.#isFree = this.#client.write(Buffer.concat(this.#chunks))
  }

  /** Lets nothing more of the answer out. */
  withhold(): void {
    this.#isWithheld = true
    this.#over()
  }

  /** Ends the answer with an error. */
  refuse(error: PluginFailed): void {
    const { codec, requestId } = this.#exchange
    this.withhold()
    if (this.#client.isClosed()) return
    if (this.#headSent) this.#client.end(codec.renderStreamError(describe(error), requestId))
    else answerError(this.#exchange, error)
  }

  #begin(status: number, headers: Array<string>): void {
    if (this.#isWithheld || this.#head !== null) return
    this.#head = { status, headers }
    this.#isError = status !== 200
    if (this.#isError) this.#isHolding = false
    if (this.#isHolding) return
    // The head of a changed answer is sent with its end.
    if (this.#isError || this.#concluded === null) this.#sendHead()
  }

  #write(chunk: Buffer | string): boolean {
    if (this.#isWithheld) return true
    if (this.#isError) return this.#client.write(chunk)
    if (this.#concluded !== null) return true
    const wasHolding = this.#isHolding
    this.#keep(bufferOf(chunk))
    if (this.#isHolding || this.#isWithheld) return true
    // Given up, it was sent with all that was held.
    return wasHolding ? this.#isFree : this.#client.write(chunk)
  }

  #end(chunk: Buffer | string, trailers?: Trailers): void {
    if (this.#isWithheld) return
    if (this.#isError) {
      this.#over()
      return this.#client.end(chunk, trailers)
    }
    if (this.#concluded !== null) return this.#endWith(this.#concluded, trailers)
    this.release()
    this.#endWith(chunk, trailers)
  }

  #cut(): void {
    if (this.#isWithheld) return
    this.release()
    this.#over()
    this.#client.cut()
  }

  #onClose(listener: () => void): () => void {
    if (this.#isRefused) {
      listener()
      return nothing
    }
    const noLongerRefused = this.#leaving.add(listener)
    const noLongerClosed = this.#client.onClose(listener)
    return () => {
      noLongerRefused()
      noLongerClosed()
    }
  }

  #sendHead(): void {
    if (this.#head === null || this.#headSent) return
    const { marked } = this.#options
    this.#headSent = true
    const { headers, status } = this.#head
    this.#marks = marked([]).join()
    this.#client.head(status, status === 200 ? marked(headers) : headers)
  }

  #endWith(last: Buffer | string, trailers?: Trailers): void {
    const { isStream, marked } = this.#options
    if (this.#head !== null && this.#concluded !== null && !isStream) {
      this.#head = { ...this.#head, headers: withLength(this.#head.headers, this.#concluded.length) }
    }
    this.#sendHead()
    this.#over()
    const late = marked([])
    this.#client.end(last, late.join() === this.#marks ? trailers : () => [...(trailers?.() ?? []), ...late])
  }

  #keep(chunk: Buffer): void {
    if (chunk.length === 0) return
    const { isStream, room } = this.#options
    this.#isTouched = true
    // A whole answer comes with its end; what comes before is no text.
    if (this.#isTooLarge || !isStream || this.#client.isClosed()) return
    this.#chunks.push(chunk)
    this.#bytes += chunk.length + chunkOverheadBytes
    room.add(chunk.length + chunkOverheadBytes)
    if (this.#bytes > maxAnswerBytes || room.isFull) this.#tooLarge()
  }

  #tooLarge(): void {
    this.#isTooLarge = true
    if (this.#isHolding && this.#options.isGuarded) {
      this.#isRefused = true
      this.#isWithheld = true
      this.#drop()
      // The upstream need not go on.
      this.#leaving.tell()
      return
    }
    this.release()
    this.#drop()
  }

  #over(): void {
    this.#noLongerClose()
    this.#drop()
  }

  #drop(): void {
    this.#options.room.add(-this.#bytes)
    this.#bytes = 0
    this.#chunks = []
  }
}
