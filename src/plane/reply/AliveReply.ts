/**
 * The reply to a client that waits for a stream. When nothing has gone out for so long that a proxy could give the connection up, the head goes out
 * with a heartbeat, which is repeated until the answer begins, and in later silences too. A failure behind such a head is sent as an error event of
 * the client's wire; facts that are known only later are sent in comments and trailers. A class, because one is made per request.
 */
import type { Timer, Timers } from "../../platform/Timers.ts"
import type { WireCodec } from "../../wire/WireCodec.ts"
import { isObject, parseJson } from "../../wire/json/Json.ts"
import type { ClientReply, Trailers } from "../request/Exchange.ts"
import { framingOf } from "./Frames.ts"
import { headerIn } from "./ReplyHeaders.ts"

export interface AliveReplyOptions {
  readonly codec: WireCodec
  /** Longest silence, in milliseconds. */
  readonly heartbeatMs: number
  /** Monotonic milliseconds at which the client began to wait. */
  readonly startedMs: number
  /** Returns the headers that are known before the answer: a flat name–value list. */
  readonly earlyHeaders: () => Array<string>
  readonly timers: Pick<typeof Timers.Service, "after" | "monotonicMs">
}

const nothing = (): void => {}
const none: ReadonlyArray<string> = []
const lf = 10
const cr = 13

/** Line ends at the end of what was sent, given those that were there before. */
const lineEnds = (chunk: Buffer | string, before: number): number => {
  let ends = 0
  for (let at = chunk.length - 1; at >= 0; at -= 1) {
    const code = typeof chunk === "string" ? chunk.charCodeAt(at) : chunk[at]
    if (code === lf) ends += 1
    else if (code !== cr) return ends
    // No more than the two that end an event matter.
    if (ends === 2) return ends
  }
  return before + ends
}

/** Headers of `list` that `sent` has not. */
const others = (list: ReadonlyArray<string>, sent: ReadonlyArray<string>): Array<string> => {
  const late: Array<string> = []
  for (let at = 0; at + 1 < list.length; at += 2) {
    const [name = "", value = ""] = list.slice(at, at + 2)
    if (headerIn(sent, name.toLowerCase()) !== value) late.push(name, value)
  }
  return late
}

export class AliveReply implements ClientReply {
  readonly #reply: ClientReply
  readonly #options: AliveReplyOptions
  readonly #framing: ReturnType<typeof framingOf>
  #timer: Timer | null
  #lastMs: number
  /** The head that went out with a sign of life; null: none did. */
  #early: ReadonlyArray<string> | null = null
  #hasHead = false
  /** The answer is an error, behind an early head that says 200. */
  #isFailed = false
  #late: ReadonlyArray<string> = none
  #failedBody = ""
  #lineEnds = 2
  #hasSpoken = false
  /** The client has not taken what was written: its slowness is no silence of ours. */
  #isFull = false
  #noLongerDrain = nothing

  constructor(reply: ClientReply, options: AliveReplyOptions) {
    this.#reply = reply
    this.#options = options
    this.#framing = framingOf(options.codec)
    this.#lastMs = options.startedMs
    const waitedMs = options.timers.monotonicMs() - options.startedMs
    this.#timer = this.#after(Math.max(1, options.heartbeatMs - waitedMs))
    reply.onClose(() => this.#stop())
  }

  head(status: number, headers: Array<string>): void {
    this.#hasHead = true
    const isStream = status === 200 && this.#isStream(headers)
    if (!isStream) this.#stop()
    if (this.#early === null) return this.#reply.head(status, headers)
    if (status === 200) this.#late = others(headers, this.#early)
    else this.#isFailed = true
  }

  write(chunk: Buffer | string): boolean {
    if (this.#isFailed) {
      this.#failedBody += chunk.toString()
      return true
    }
    if (chunk.length === 0) return this.#reply.write(chunk)
    const comment = this.#lateComment()
    if (comment !== "") this.#reply.write(comment)
    this.#hasSpoken = true
    this.#lineEnds = lineEnds(chunk, this.#lineEnds)
    return this.#sent(chunk)
  }

  end(chunk: Buffer | string, trailers?: Trailers): void {
    this.#stop()
    if (this.#isFailed) return this.#reply.end(this.#errorEvent(this.#failedBody + chunk.toString()))
    if (this.#early === null) return this.#reply.end(chunk, trailers)
    const late = this.#late
    const comment = this.#lateComment()
    if (comment !== "") this.#reply.write(comment)
    this.#reply.end(chunk, () => [...late, ...(trailers?.() ?? none)])
  }

  cut(): void {
    this.#stop()
    this.#reply.cut()
  }

  onDrain(listener: () => void): () => void {
    return this.#reply.onDrain(listener)
  }

  onClose(listener: () => void): () => void {
    return this.#reply.onClose(listener)
  }

  isClosed(): boolean {
    return this.#reply.isClosed()
  }

  #after(delayMs: number): Timer {
    return this.#options.timers.after(delayMs, () => this.#due())
  }

  #stop(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#noLongerDrain()
  }

  #isStream(headers: ReadonlyArray<string>): boolean {
    return headerIn(headers, "content-type") === this.#options.codec.streamContentType
  }

  #sent(chunk: Buffer | string): boolean {
    this.#lastMs = this.#options.timers.monotonicMs()
    const takesMore = this.#reply.write(chunk)
    if (takesMore || this.#isFull) return takesMore
    this.#isFull = true
    this.#noLongerDrain = this.#reply.onDrain(() => {
      this.#isFull = false
      this.#noLongerDrain()
      this.#noLongerDrain = nothing
    })
    return false
  }

  #due(): void {
    if (this.#timer === null || this.#reply.isClosed()) return
    const { heartbeatMs, timers } = this.#options
    const silentMs = timers.monotonicMs() - this.#lastMs
    // Timers are due a little early.
    if (silentMs < heartbeatMs - 1) {
      this.#timer = this.#after(heartbeatMs - silentMs)
      return
    }
    this.#timer = this.#after(heartbeatMs)
    if (!this.#hasHead && this.#early === null) {
      this.#early = this.#options.earlyHeaders()
      this.#reply.head(200, [...this.#early])
    }
    // In the middle of an event there is no place for another.
    const isBetween = this.#framing === "array" || this.#lineEnds >= 2
    if (isBetween && !this.#isFull) this.#sent(this.#options.codec.heartbeat)
  }

  /** Writes the headers that came after the head as a comment, once, for a wire whose clients ignore comments. */
  #lateComment(): string {
    const { codec } = this.#options
    if (this.#late.length === 0 || this.#hasSpoken || codec.heartbeat.trim() === "") return ""
    this.#hasSpoken = true
    let comment = ""
    for (let at = 0; at + 1 < this.#late.length; at += 2) comment += `: ${this.#late[at]}: ${this.#late[at + 1]}\n`
    return `${comment}\n`
  }

  /** Writes the error answer as an event of a stream. */
  #errorEvent(text: string): string {
    const body = parseJson(text)
    return isObject(body) ? (this.#options.codec.errorBodyInStream?.(body) ?? text) : text
  }
}
