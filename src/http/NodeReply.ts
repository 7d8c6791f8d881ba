/** The way back to an HTTP client, over node's own response object. A class, because one is made per request. */
import type { ServerResponse } from "node:http"
import type { ClientReply } from "../inference/request/Exchange.ts"
import { Listeners } from "../kernel/Listeners.ts"
import type { OpenStreams } from "./OpenStreams.ts"

const nothing = (): void => {}

export class NodeReply implements ClientReply {
  readonly #response: ServerResponse
  readonly #streams: typeof OpenStreams.Service
  #isStreaming = false
  #isOver = false
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
    this.#response.writeHead(status, headers)
  }

  write(chunk: Buffer | string): boolean {
    if (!this.#isStreaming && !this.#isOver) {
      this.#isStreaming = true
      this.#streams.opened()
    }
    return this.#response.write(chunk)
  }

  end(chunk: Buffer | string): void {
    this.#leaving.clear()
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
