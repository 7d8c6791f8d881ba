/**
 * A bounded copy of an answer, in the bytes of the client's own wire. What exceeds the bound is not recorded at all: half an answer is
 * never kept.
 */
import type { ClientReply } from "../request/Exchange.ts"
import { wrapped } from "./Wrapped.ts"

export interface Recorded {
  readonly status: number
  /** Flat name–value list. */
  readonly headers: ReadonlyArray<string>
  /** Chunks written, in order; the last one came with the end. */
  readonly chunks: ReadonlyArray<Buffer>
  /** Number of bytes of all chunks. */
  readonly bytes: number
  /** False: the client saw a broken answer. An answer that reports its failure in its last bytes has ended, too. */
  readonly isEnded: boolean
}

export class Recorder {
  readonly #maxBytes: number
  #status: number | null = null
  #headers: ReadonlyArray<string> = []
  #chunks: Array<Buffer> = []
  #bytes = 0
  #isOverflown = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  head(status: number, headers: ReadonlyArray<string>): void {
    this.#status = status
    // The sender of the head may go on with its list.
    this.#headers = headers.slice()
  }

  add(chunk: Buffer | string): void {
    if (this.#isOverflown || chunk.length === 0) return
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk
    this.#bytes += bytes.length
    if (this.#bytes <= this.#maxBytes) this.#chunks.push(bytes)
    else {
      this.#isOverflown = true
      this.#chunks = []
    }
  }

  /** Null: it exceeds the bound, or has no head. */
  recorded(isEnded: boolean): Recorded | null {
    if (this.#isOverflown || this.#status === null) return null
    return { status: this.#status, headers: this.#headers, chunks: this.#chunks, bytes: this.#bytes, isEnded }
  }
}

/**
 * The reply, with a copy of what goes through it. `over` is called once with the copy, after the last byte was passed on, or after the cut;
 * null as `Recorder.recorded`. It is not called where the client leaves and the answer is dropped.
 */
export const recording = (
  reply: ClientReply,
  maxBytes: number,
  over: (recorded: Recorded | null) => void
): ClientReply => {
  const recorder = new Recorder(maxBytes)
  return wrapped(reply, {
    head: (status, headers) => {
      recorder.head(status, headers)
      reply.head(status, headers)
    },
    write: (chunk) => {
      recorder.add(chunk)
      return reply.write(chunk)
    },
    end: (chunk, trailers) => {
      recorder.add(chunk)
      reply.end(chunk, trailers)
      over(recorder.recorded(true))
    },
    cut: () => {
      reply.cut()
      over(recorder.recorded(false))
    }
  })
}
