/**
 * The reply to a client whose answer goes to plugins as well. It keeps a copy of what goes through it, and holds a stream back where a plugin is to
 * change it: then nothing goes out before `conclude`. What goes out in the place of the end is set by `conclude`, so that features
 * further in see the answer unchanged.
 */
import type { WireCodec } from "../../../wire/WireCodec.ts"
import { describe, type PluginFailed } from "../../../domain/Errors.ts"
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

export interface HookedReply {
  readonly reply: ClientReply
  /** Returns the bytes so far; null: it is too large. */
  readonly soFar: () => Buffer | null
  /** Nothing of the answer has come. */
  readonly isUntouched: () => boolean
  /** True when it must not go out, because it is too large to be held. */
  readonly isRefused: () => boolean
  readonly hasHead: () => boolean
  /** Goes out in the place of all that was held, and of the end that is to come. */
  readonly conclude: (bytes: Buffer) => void
  /** Sends the held bytes, and the rest as it comes. */
  readonly release: () => void
  /** Nothing more of the answer goes out. */
  readonly withhold: () => void
  /** Ends the answer with an error. */
  readonly refuse: (error: PluginFailed) => void
}

interface Head {
  readonly status: number
  readonly headers: Array<string>
}

const nothing = (): void => {}

const bufferOf = (chunk: Buffer | string): Buffer => (typeof chunk === "string" ? Buffer.from(chunk) : chunk)

/** A reply and what is held of it. */
class Hooking {
  readonly exchange: Exchange
  readonly codec: WireCodec
  readonly client: ClientReply
  readonly requestId: string
  readonly #isGuarded: boolean
  readonly #isStream: boolean
  readonly #marked: (headers: Array<string>) => Array<string>
  readonly #room: Room
  readonly #leaving = new Listeners()
  chunks: Array<Buffer> = []
  #bytes = 0
  isTouched = false
  isTooLarge = false
  isHolding: boolean
  #isError = false
  isWithheld = false
  isRefused = false
  concluded: Buffer | null = null
  #head: Head | null = null
  headSent = false
  /** Headers that `marked` has added to the head. */
  #marks = ""
  /** The client has taken what was held, once that was released. */
  #isFree = true
  readonly #noLongerClose: () => void
  readonly reply: ClientReply

  constructor(exchange: Exchange, options: HookedReplyOptions) {
    this.exchange = exchange
    const { codec, reply: client, requestId } = this.exchange
    this.codec = codec
    this.client = client
    this.requestId = requestId
    const { holds, isGuarded, isStream, marked, room } = options
    this.#isGuarded = isGuarded
    this.#isStream = isStream
    this.#marked = marked
    this.#room = room
    this.isHolding = holds
    this.#noLongerClose = this.client.onClose(() => this.drop())
    this.reply = {
      head: (status, headers) => {
        if (this.isWithheld || this.#head !== null) return
        this.#head = { status, headers }
        this.#isError = status !== 200
        if (this.#isError) this.isHolding = false
        if (this.isHolding) return
        // The head of a changed answer is sent with its end.
        if (this.#isError || this.concluded === null) this.#sendHead()
      },
      write: (chunk) => {
        if (this.isWithheld) return true
        if (this.#isError) return this.client.write(chunk)
        if (this.concluded !== null) return true
        const wasHolding = this.isHolding
        this.#keep(bufferOf(chunk))
        if (this.isHolding || this.isWithheld) return true
        // Given up, it was sent with all that was held.
        return wasHolding ? this.#isFree : this.client.write(chunk)
      },
      end: (chunk, trailers) => {
        if (this.isWithheld) return
        if (this.#isError) {
          this.over()
          return this.client.end(chunk, trailers)
        }
        if (this.concluded !== null) return this.#endWith(this.concluded, trailers)
        this.release()
        this.#endWith(chunk, trailers)
      },
      cut: () => {
        if (this.isWithheld) return
        this.release()
        this.over()
        this.client.cut()
      },
      onDrain: (listener) => this.client.onDrain(listener),
      onClose: (listener) => {
        if (this.isRefused) {
          listener()
          return nothing
        }
        const noLongerRefused = this.#leaving.add(listener)
        const noLongerClosed = this.client.onClose(listener)
        return () => {
          noLongerRefused()
          noLongerClosed()
        }
      },
      isClosed: () => this.isRefused || this.client.isClosed()
    }
  }

  drop(): void {
    this.#room.add(-this.#bytes)
    this.#bytes = 0
    this.chunks = []
  }

  over(): void {
    this.#noLongerClose()
    this.drop()
  }

  #sendHead(): void {
    if (this.#head === null || this.headSent) return
    this.headSent = true
    const { headers, status } = this.#head
    this.#marks = this.#marked([]).join()
    this.client.head(status, status === 200 ? this.#marked(headers) : headers)
  }

  release(): void {
    if (!this.isHolding) return
    this.isHolding = false
    if (this.#head === null) return
    this.#sendHead()
    if (this.chunks.length > 0) this.#isFree = this.client.write(Buffer.concat(this.chunks))
  }

  #tooLarge(): void {
    this.isTooLarge = true
    if (this.isHolding && this.#isGuarded) {
      this.isRefused = true
      this.isWithheld = true
      this.drop()
      // The upstream need not go on.
      this.#leaving.tell()
      return
    }
    this.release()
    this.drop()
  }

  #keep(chunk: Buffer): void {
    if (chunk.length === 0) return
    this.isTouched = true
    // A whole answer comes with its end; what comes before is no text.
    if (this.isTooLarge || !this.#isStream || this.client.isClosed()) return
    this.chunks.push(chunk)
    this.#bytes += chunk.length + chunkOverheadBytes
    this.#room.add(chunk.length + chunkOverheadBytes)
    if (this.#bytes > maxAnswerBytes || this.#room.isFull) this.#tooLarge()
  }

  #withLength(headers: Array<string>, length: number): Array<string> {
    return headers.some((name, at) => at % 2 === 0 && name.toLowerCase() === "content-length")
      ? withHeaders(headers, ["Content-Length", String(length)])
      : headers
  }

  #endWith(last: Buffer | string, trailers?: Trailers): void {
    if (this.#head !== null && this.concluded !== null && !this.#isStream) {
      this.#head = { ...this.#head, headers: this.#withLength(this.#head.headers, this.concluded.length) }
    }
    this.#sendHead()
    this.over()
    const late = this.#marked([])
    this.client.end(last, late.join() === this.#marks ? trailers : () => [...(trailers?.() ?? []), ...late])
  }
}

export const hookedReply = (exchange: Exchange, options: HookedReplyOptions): HookedReply => {
  const hooking = new Hooking(exchange, options)
  return {
    reply: hooking.reply,
    soFar: () => (hooking.isTooLarge ? null : Buffer.concat(hooking.chunks)),
    isUntouched: () => !hooking.isTouched,
    isRefused: () => hooking.isRefused,
    hasHead: () => hooking.headSent,
    conclude: (all) => {
      hooking.isHolding = false
      hooking.drop()
      hooking.concluded = all
    },
    release: () => hooking.release(),
    withhold: () => {
      hooking.isWithheld = true
      hooking.over()
    },
    refuse: (error) => {
      hooking.isWithheld = true
      hooking.over()
      if (hooking.client.isClosed()) return
      if (hooking.headSent)
        return hooking.client.end(hooking.codec.renderStreamError(describe(error), hooking.requestId))
      answerError(hooking.exchange, error)
    }
  }
}
