/**
 * The reply to a socket client. The pipeline writes the text of an event stream, cut anywhere; each event is sent as one frame. The id
 * and output of the answer are recorded for a conversation that continues. A class, because one is made per request.
 */
import type { ClientReply } from "../../plane/request/Exchange.ts"
import { Listeners } from "../../kernel/collections/Listeners.ts"
import { isArray, isObject, type Json, type JsonObject, numberOr, parseJson, stringOr } from "../../wire/json/Json.ts"
import { makeSseScanner, type SseEvent } from "../../wire/sse/SseScanner.ts"
import {
  errorAnswerFrame,
  errorEventFrame,
  errorFrame,
  headersOf,
  transportError,
  withMembers
} from "./ServerFrames.ts"

/** A whole answer, as a later request may refer to it. */
export interface Answered {
  readonly responseId: string
  readonly output: ReadonlyArray<Json>
}

export interface SocketReplyOptions {
  readonly requestId: string
  /** Members of the transport in every frame (`stream_id`). */
  readonly members: JsonObject
  /** Id as the client sent it: the answer shows it, although it was not sent to the upstream. */
  readonly previousResponseId: string | null
  /** False when the client reads slower than we write. */
  readonly send: (frame: string) => boolean
  /** Called once, after the last frame; null when there is no whole answer. */
  readonly ended: (answered: Answered | null) => void
}

/** Events that are read; all others go on as they came. */
const readEvents = new Set([
  "error",
  "response.created",
  "response.queued",
  "response.in_progress",
  "response.completed",
  "response.incomplete",
  "response.failed",
  "response.output_item.done"
])

/** The last event repeats the whole answer with all settings of its request. */
const maxEventBytes = 64 * 1_048_576

const nothing = (): void => {}

export class SocketReply implements ClientReply {
  readonly #options: SocketReplyOptions
  readonly #scanner = makeSseScanner(maxEventBytes)
  readonly #items: Array<Json | undefined> = []
  #status = 200
  #headers: Array<string> = []
  #errorBody = ""
  #frames = 0
  /** The end of the answer was sent to the client. */
  #over = false
  #failed = false
  #answered: Answered | null = null
  #closed = false
  readonly #leaving = new Listeners()
  readonly #drained = new Listeners()

  constructor(options: SocketReplyOptions) {
    this.#options = options
  }

  head(status: number, headers: Array<string>): void {
    this.#status = status
    this.#headers = headers
  }

  write(chunk: Buffer | string): boolean {
    if (this.#closed) return true
    if (this.#status >= 400) {
      this.#errorBody += chunk.toString()
      return true
    }
    return this.#relay(this.#scanner.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk))
  }

  end(chunk: Buffer | string): void {
    if (this.#closed) return
    this.write(chunk)
    if (this.#status >= 400) this.#send(JSON.stringify(errorAnswerFrame(this.#status, this.#headers, this.#errorBody)))
    else this.#relay(this.#scanner.end())
    if (this.#status < 400 && !this.#over) this.#tellCut()
    this.#finish(this.#failed ? null : this.#answered)
  }

  cut(): void {
    if (this.#closed) return
    if (!this.#over) this.#tellCut()
    this.#finish(null)
  }

  onDrain(listener: () => void): () => void {
    return this.#drained.add(listener)
  }

  /** The client may have left already: between two steps of the pipeline there is no listener. */
  onClose(listener: () => void): () => void {
    if (!this.#closed) return this.#leaving.add(listener)
    listener()
    return nothing
  }

  isClosed(): boolean {
    return this.#closed
  }

  /** The client reads again. */
  drained(): void {
    this.#drained.tell()
  }

  /** The client left, or takes its request back: nothing more is sent. */
  leave(): void {
    if (this.#closed) return
    this.#finish(null)
    this.#leaving.tell()
  }

  #finish(answered: Answered | null): void {
    this.#closed = true
    this.#drained.clear()
    this.#options.ended(answered)
  }

  #relay(events: ReadonlyArray<SseEvent>): boolean {
    let keepsUp = true
    for (const event of events) {
      const frame = this.#frameOf(event)
      if (frame !== null) keepsUp = this.#send(frame)
    }
    return keepsUp
  }

  /** The first frame of an answer names what serves it, like the headers over HTTP. */
  #send(frame: string): boolean {
    const { members, send } = this.#options
    const first = this.#frames === 0 && this.#status < 400
    this.#frames += 1
    return send(withMembers(frame, first ? { ...members, headers: headersOf(this.#headers) } : members))
  }

  /** A client waits for the last event of its answer: without one it gets an error. */
  #tellCut(): void {
    this.#failed = true
    const limit = this.#scanner.failure()?.limitBytes
    const message =
      limit === undefined
        ? "The answer ended without its last event."
        : `The answer has an event larger than ${limit} bytes.`
    this.#send(JSON.stringify(errorFrame(transportError(502, null, message), this.#options.requestId)))
  }

  /** Null for what is no event of this transport: a frame is one JSON object. */
  #frameOf({ data, event: name }: SseEvent): string | null {
    if (name !== null && !readEvents.has(name)) return data
    const event = parseJson(data)
    if (!isObject(event)) return null
    switch (event["type"]) {
      case "error":
        this.#failed = true
        this.#over = true
        return JSON.stringify(errorEventFrame(event))
      case "response.output_item.done":
        this.#noteItem(event)
        return data
      case "response.completed":
      case "response.incomplete":
        this.#noteAnswer(event["response"])
        this.#over = true
        return this.#asAsked(event, data)
      case "response.failed":
        this.#over = true
        return this.#asAsked(event, data)
      default:
        return this.#asAsked(event, data)
    }
  }

  #noteItem(event: JsonObject): void {
    const index = numberOr(event["output_index"]) ?? this.#items.length
    // A hole for every missing index: no further than the items that came.
    if (index >= 0 && index <= this.#items.length) this.#items[index] = event["item"]
  }

  #noteAnswer(response: Json | undefined): void {
    if (!isObject(response)) return
    const responseId = stringOr(response["id"])
    const output = isArray(response["output"]) ? response["output"] : []
    // Some servers leave the output out of the last event.
    const items = output.length > 0 ? output : this.#items.flatMap((item) => (item === undefined ? [] : [item]))
    if (responseId !== null) this.#answered = { responseId, output: items }
  }

  #asAsked(event: JsonObject, data: string): string {
    const { previousResponseId } = this.#options
    const { response } = event
    if (previousResponseId === null || !isObject(response)) return data
    return JSON.stringify({ ...event, response: { ...response, previous_response_id: previousResponseId } })
  }
}
