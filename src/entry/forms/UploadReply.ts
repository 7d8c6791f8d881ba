/** Reply to a client that may still be sending its form: an answer before its end is an error, and the client gets to see it. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Trailers } from "../../plane/request/Exchange.ts"
import type { Timers } from "../../platform/Timers.ts"
import { drain, isUnread } from "./RefuseUpload.ts"
import { NodeReply } from "../listening/NodeReply.ts"
import type { OpenStreams } from "../listening/OpenStreams.ts"

export class UploadReply extends NodeReply {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #timers: Pick<typeof Timers.Service, "after">

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    streams: typeof OpenStreams.Service,
    timers: Pick<typeof Timers.Service, "after">
  ) {
    super(response, streams)
    this.#request = request
    this.#response = response
    this.#timers = timers
  }

  override head(status: number, headers: Array<string>): void {
    super.head(status, isUnread(this.#request) ? [...headers, "Connection", "close"] : headers)
  }

  override end(chunk: Buffer | string, trailers?: Trailers): void {
    if (!isUnread(this.#request)) return super.end(chunk, trailers)
    if (this.#response.destroyed) return
    this.#response.write(chunk)
    drain(this.#timers, this.#request, this.#response)
  }
}
