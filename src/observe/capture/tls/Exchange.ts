/** The record of one exchange while it runs. Hot: nothing here waits or copies. */
import type { Timers } from "../../../platform/Timers.ts"
import {
  BodyCopy,
  type CapturedEnd,
  type CapturedHead,
  type CapturedRequest,
  type CaptureSink,
  type RawHeaders,
  type TunnelReason
} from "../CaptureSink.ts"

export interface Recording {
  readonly sink: CaptureSink
  readonly timers: Pick<typeof Timers.Service, "nowMs" | "monotonicMs" | "after" | "soon">
  readonly maxBodyBytes: number
}

export class Exchange {
  readonly requestBody: BodyCopy
  readonly responseBody: BodyCopy
  readonly #recording: Recording
  readonly #id: string
  readonly #beganMs: number
  #sentMs: number | null = null
  #head: CapturedHead | null = null
  #isOver = false

  constructor(recording: Recording, request: Omit<CapturedRequest, "startedAtMs">) {
    this.#recording = recording
    this.#beganMs = recording.timers.monotonicMs()
    this.requestBody = new BodyCopy(recording.maxBodyBytes)
    this.responseBody = new BodyCopy(recording.maxBodyBytes)
    this.#id = recording.sink.begin({ ...request, startedAtMs: recording.timers.nowMs() })
  }

  /** The connection to the server is established. */
  sent(): void {
    this.#sentMs ??= this.#sinceBegan()
  }

  answered(status: number, headers: RawHeaders): void {
    this.#head = { status, headers, afterMs: this.#sinceBegan() }
    if (!this.#isOver) this.#recording.sink.update(this.#id, this.#head)
  }

  /** Counts once. */
  end(error: CapturedEnd["error"], tunnelled: TunnelReason | null = null): void {
    if (this.#isOver) return
    this.#isOver = true
    const { requestBody, responseBody } = this
    this.#recording.sink.finish(this.#id, {
      head: this.#head,
      requestBody,
      responseBody,
      sentMs: this.#sentMs,
      totalMs: this.#sinceBegan(),
      error,
      tunnelled
    })
  }

  #sinceBegan(): number {
    return this.#recording.timers.monotonicMs() - this.#beganMs
  }
}
