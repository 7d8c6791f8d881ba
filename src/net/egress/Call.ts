/** One outbound call: connects the HTTP client's callbacks to a sink and upholds the guarantees of `UpstreamSink`. */
import type { Dispatcher } from "undici"
import type { CallOwner } from "../../subjects/proxies/entity.ts"
import type { SentSecrets } from "../../kernel/secrets/SentSecrets.ts"
import { type BodySource, isBodySource, streamOf } from "./BodySource.ts"
import { type ContentDecoder, decoderFor, isEncoded } from "./ContentDecoder.ts"
import type { Connection, OriginPool } from "./OriginPool.ts"
import { scrubbedSink } from "./ScrubbedSink.ts"
import type { UpstreamSink } from "./UpstreamSink.ts"
import { exchangeFailure, type TransportFailure, transportFailure } from "./TransportFailure.ts"
import { fromRaw, withoutEncoding } from "./UpstreamHeaders.ts"

export type { UpstreamSink } from "./UpstreamSink.ts"

export interface UpstreamRequest {
  /** `https://host[:port]`, as `URL.origin` writes it. */
  readonly origin: string
  /** Path and query, starting with a slash. */
  readonly path: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD"
  /**
   * Name, value, name, value, … Without `host`, `connection`, `content-length` and `transfer-encoding`: the transport adds them.
   * Include `accept-encoding: identity`; an encoded answer is decoded nevertheless.
   */
  readonly headers: ReadonlyArray<string>
  readonly body: Buffer | string | BodySource | null
  /** The credentials in it: the answer comes without them. `noSecrets` where it has none, or where the answer is a credential. */
  readonly secrets: SentSecrets
  /** Owner on whose behalf it is made, who decides the proxy. Null: no account, direct. */
  readonly owner: CallOwner | null
}

/** Request whose owner is given separately. */
export type UnownedRequest = Omit<UpstreamRequest, "owner">

export interface UpstreamCall {
  /** Destroys the socket at once, in whatever phase the call is. Idempotent. */
  readonly abort: () => void
  /** Lets a paused body flow again. Does nothing when it is not paused. */
  readonly resume: () => void
}

/** Replaces the sink of an ended call, so that the call does not keep the whole request alive. */
const ignoring: UpstreamSink = { onHeaders: () => true, onData: () => true, onEnd: () => {}, onFail: () => {} }

class Call implements UpstreamCall, Dispatcher.DispatchHandler {
  #sink: UpstreamSink
  readonly #pool: OriginPool
  /** Null as soon as the call no longer owns it. */
  #connection: Connection | null
  #started = false
  #responded = false
  #done = false
  #paused = false
  #resumeSocket: (() => void) | null = null
  #decoder: ContentDecoder | null = null

  constructor(pool: OriginPool, request: UnownedRequest, sink: UpstreamSink) {
    this.#pool = pool
    this.#sink = sink
    this.#connection = pool.acquire()
    this.#connection.beforeEnd = Call.#endOf(this)
    // The client only reads the array; its type is wider than that.
    const headers = request.headers as Array<string>
    const { path, method, body } = request
    this.#connection.client.dispatch(
      isBodySource(body)
        ? { path, method, headers: [...headers, "content-length", String(body.bytes)], body: streamOf(body) }
        : { path, method, headers, body },
      this
    )
    this.#started = true
  }

  /**
   * The parser throws from the socket's event handler when the connection ends while it is paused. By then it has seen every byte, so
   * it can be resumed.
   */
  #beforeEnd(): void {
    if (!this.#done) this.#resumeSocket?.()
  }

  /** Made by a call of its own: a function literal that is assigned to a member lives until a full collection. */
  static #endOf(call: Call): () => void {
    return () => call.#beforeEnd()
  }

  abort(): void {
    if (this.#done) return
    this.#done = true
    this.#sink = ignoring
    this.#dropConnection()
  }

  resume(): void {
    this.#decoder?.resume()
    this.#readOn()
  }

  // Below: called by the HTTP client.

  onConnect(): void {}

  onHeaders(status: number, raw: Array<Buffer>, resume: () => void): boolean {
    if (this.#done || status < 200) return true
    this.#responded = true
    this.#resumeSocket = resume
    const headers = fromRaw(raw)
    const encoding = headers.get("content-encoding")
    if (isEncoded(encoding)) return this.#startDecoding(status, raw, encoding)
    return this.#flow(this.#sink.onHeaders(status, headers) !== false)
  }

  onData(chunk: Buffer): boolean {
    if (this.#done || chunk.length === 0) return true
    return this.#flow(this.#decoder === null ? this.#sink.onData(chunk) : this.#decoder.write(chunk))
  }

  onComplete(): void {
    if (this.#done) return
    const connection = this.#connection
    this.#connection = null
    this.#resumeSocket = null
    if (connection !== null) this.#pool.release(connection)
    if (this.#decoder === null) this.#end()
    else this.#decoder.end()
  }

  onError(error: Error): void {
    const failure = exchangeFailure(error, this.#responded)
    if (this.#started) this.#fail(failure)
    else queueMicrotask(() => this.#fail(failure))
  }

  #readOn(): void {
    if (!this.#paused) return
    this.#paused = false
    // Not from inside another call's parser callback: the parser cannot be entered twice.
    queueMicrotask(() => {
      if (!this.#done) this.#resumeSocket?.()
    })
  }

  #flow(onward: boolean): boolean {
    this.#paused = !onward
    return onward
  }

  #startDecoding(status: number, raw: ReadonlyArray<Buffer>, encoding: string): boolean {
    this.#decoder = decoderFor(encoding, {
      onData: (chunk) => this.#sink.onData(chunk),
      onDrain: () => this.#readOn(),
      onEnd: () => this.#end(),
      onFail: (kind) => this.#fail(transportFailure(kind))
    })
    if (this.#decoder === null) {
      this.#fail(transportFailure("protocol"))
      return true
    }
    return this.#flow(this.#sink.onHeaders(status, withoutEncoding(raw)) !== false)
  }

  #end(): void {
    if (this.#done) return
    this.#done = true
    const sink = this.#sink
    this.#sink = ignoring
    sink.onEnd()
  }

  #fail(failure: TransportFailure): void {
    if (this.#done) return
    this.#done = true
    this.#dropConnection()
    const sink = this.#sink
    this.#sink = ignoring
    sink.onFail(failure)
  }

  #dropConnection(): void {
    this.#decoder?.destroy()
    const connection = this.#connection
    this.#connection = null
    if (connection !== null) this.#pool.drop(connection)
  }
}

/** The sink gets nothing of the credentials that the request carries. */
export const startCall = (pool: OriginPool, request: UnownedRequest, sink: UpstreamSink): UpstreamCall =>
  new Call(pool, request, scrubbedSink(sink, request.secrets))

/** A call that cannot even be started, reported like any other failure. */
export const failedCall = (failure: TransportFailure, sink: UpstreamSink): UpstreamCall => {
  let aborted = false
  queueMicrotask(() => aborted || sink.onFail(failure))
  return {
    abort: () => {
      aborted = true
    },
    resume: () => {}
  }
}
