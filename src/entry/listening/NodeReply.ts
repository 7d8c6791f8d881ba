/** Reply to an HTTP client, over node's own response object. A class, because one is made per request. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { ClientReply, Trailers } from "../../plane/request/Exchange.ts"
import { trailerNames } from "../../plane/request/Headers.ts"
import { Listeners } from "../../kernel/collections/Listeners.ts"
import type { OpenStreams } from "./OpenStreams.ts"

const nothing = (): void => {}

/** Trailers need an answer in chunks, and a client that has said that it reads them (RFC 9110, 6.5.1). */
const takesTrailers = ({ headers: { te }, httpVersion }: IncomingMessage, headers: ReadonlyArray<string>): boolean =>
  httpVersion === "1.1" &&
  /(?:^|,)\s*trailers\s*(?:;|,|$)/i.test(String(te)) &&
  !headers.some((name, at) => at % 2 === 0 && name.toLowerCase() === "content-length")

const pairsOf = (list: ReadonlyArray<string>): Array<[string, string]> => {
  const pairs: Array<[string, string]> = []
  for (let at = 0; at + 1 < list.length; at += 2) pairs.push([list[at] ?? "", list[at + 1] ?? ""])
  return pairs
}

export class NodeReply implements ClientReply {
  readonly #response: ServerResponse
  readonly #streams: typeof OpenStreams.Service
  #isStreaming = false
  #isOver = false
  #hasTrailers = false
  readonly #leaving = new Listeners()
  #over: () => void = nothing
  #drained: Listeners | null = null

  constructor(response: ServerResponse, streams: typeof OpenStreams.Service) {
    this.#response = response
    this.#streams = streams
    response.on("close", () => {
      this.#isOver = true
      if (this.#isStreaming) streams.closed()
      this.#over()
      if (!response.writableFinished) this.#leaving.tell()
    })
  }

  /** `run` is called once, when the response is over, however it ended. */
  whenOver(run: () => void): void {
    this.#over = run
  }

  head(status: number, headers: Array<string>): void {
    this.#hasTrailers = this.#response.req.headers.te !== undefined && takesTrailers(this.#response.req, headers)
    this.#response.writeHead(status, this.#hasTrailers ? [...headers, "Trailer", trailerNames] : headers)
  }

  write(chunk: Buffer | string): boolean {
    if (!this.#isStreaming && !this.#isOver) {
      this.#isStreaming = true
      this.#streams.opened()
    }
    return this.#response.write(chunk)
  }

  end(chunk: Buffer | string, trailers?: Trailers): void {
    this.#leaving.clear()
    if (this.#hasTrailers && trailers !== undefined) this.#response.addTrailers(pairsOf(trailers()))
    if (chunk.length === 0) this.#response.end()
    else this.#response.end(chunk)
  }

  cut(): void {
    this.#leaving.clear()
    this.#response.destroy()
  }

  onDrain(listener: () => void): () => void {
    if (this.#drained === null) {
      const drained = new Listeners()
      this.#drained = drained
      this.#response.on("drain", () => drained.tell())
    }
    return this.#drained.add(listener)
  }

  onClose(listener: () => void): () => void {
    if (!this.#response.destroyed || this.#response.writableFinished) return this.#leaving.add(listener)
    // The client left before there was a listener.
    listener()
    return nothing
  }

  isClosed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded
  }
}
