/**
 * One exchange as it is recorded. Hot: while it runs, it only keeps references to what passes; whatever costs more is done after the client's
 * last byte. A class, because one is made per request.
 */
import type { UsageRow } from "../../contract/domain/Usage.ts"
import type { CaptureSource, Head } from "../../contract/domain/TrafficRecord.ts"
import { type ContentPermission, mayShowContent } from "../../contract/domain/ContentPermission.ts"
import { isBodySource } from "../../net/egress/BodySource.ts"
import type { ClientSocket } from "../../observe/inspector/Attribution.ts"
import type { RecordEnd } from "../../observe/inspector/CapturedFacts.ts"
import type { Inspector } from "../../observe/inspector/Inspector.ts"
import type { Timer, Timers } from "../../platform/Timers.ts"
import { type DecisionEntry, linesOf, recordOf } from "../routing/records/DecisionRecords.ts"
import type { ClientReply, Exchange, Trailers } from "../request/Exchange.ts"
import type { ExchangeTap, TappedCall } from "../request/ExchangeTap.ts"
import type { SentCall } from "./SentCall.ts"

/** Sink of records. None of its functions throws or waits. */
export interface TrafficSink extends Pick<typeof Inspector.Service, "begin" | "update" | "attribute"> {
  /** `sent`: null where no call was made. */
  readonly finish: (id: string, end: RecordEnd, sent: SentCall | null) => void
}

export interface RecordingServices {
  readonly sink: TrafficSink
  readonly timers: Pick<typeof Timers.Service, "nowMs" | "monotonicMs" | "soon" | "after">
  /** Finds a decision in memory; null where there is none (any more). */
  readonly decisionOf: (requestId: string) => DecisionEntry | null
}

/** Facts of the client's connection, where they are not as the exchange says. */
export interface RecordedFacts {
  readonly source: CaptureSource
  readonly scheme: Head["scheme"]
  readonly host: string
  /** Path with its query, without credentials. */
  readonly path: string
  readonly agent?: string
  /** Absent: those of the exchange. */
  readonly headers?: ReadonlyArray<string>
  /** Absent: that of the exchange. */
  readonly body?: Buffer
  readonly sourceModel?: string
  readonly mappedModel?: string
  readonly replayOf?: string
  /** Socket by which the client's process is found. */
  readonly client?: ClientSocket
}

/** Larger request bodies are not held back from the collector: of them the beginning is copied. */
export const heldRequestBytes = 8 * 1_048_576
const copiedRequestBytes = 1_048_576
/** Bytes of an answer that are referenced; its beginning. */
export const heldAnswerBytes = 4 * 1_048_576
/** Calls that are remembered until it is known which of them answered. */
const maxCalls = 8
/** Most bytes of a decision in memory, without and for each of its scores, exclusions and attempts. */
const decisionBytes = 1_536
const bytesPerLine = 768
/** A client that left: the longest time that is waited for its request to be settled. */
const settlingMs = 10_000

const copied = (body: Buffer): Buffer =>
  body.length <= heldRequestBytes ? body : Buffer.from(body.subarray(0, copiedRequestBytes))

/** The call that answered: the last one to the target of the last attempt that did not fail. */
const answering = (calls: ReadonlyArray<TappedCall>, decision: DecisionEntry | null): TappedCall | null => {
  const served = decision?.attempts.findLast(({ outcome }) => outcome !== "failed")
  const found =
    served === undefined
      ? undefined
      : calls.findLast(({ connectionId, model }) => connectionId === served.connectionId && model === served.model)
  return found ?? calls.at(-1) ?? null
}

const sentCall = ({ body, connectionId, isClients, model, provider, wire }: TappedCall): SentCall => ({
  wire,
  provider,
  account: connectionId,
  model,
  body: isClients || body === null || isBodySource(body) || body.length > heldRequestBytes ? null : body
})

/** Reason for which there is no whole answer. */
type Unended = "client_left" | "cut"

/** Concludes once, and waits no longer. */
const concluding = (patience: Timer, conclude: () => void) => {
  let isDone = false
  return (): void => {
    if (isDone) return
    isDone = true
    patience.cancel()
    conclude()
  }
}

const sentences: Readonly<Record<Unended, string>> = {
  client_left: "The client left before its answer was complete.",
  cut: "The answer was cut before its end."
}

export class RecordedExchange implements ClientReply, ExchangeTap {
  readonly #exchange: Exchange
  readonly #facts: RecordedFacts
  readonly #services: RecordingServices
  readonly #id: string
  #noLongerClose: (() => void) | null = null
  #status: number | null = null
  #headers: ReadonlyArray<string> = []
  #firstMs: number | null = null
  #chunks: Array<Buffer | string> = []
  #held = 0
  #bytes = 0
  #calls: Array<TappedCall> | null = null
  #row: UsageRow | null = null
  #isOver = false
  /** Concludes the record of a client that left, once its request is settled. */
  #conclusion: (() => void) | null = null

  constructor(permission: ContentPermission, exchange: Exchange, facts: RecordedFacts, services: RecordingServices) {
    this.#exchange = exchange
    this.#facts = facts
    this.#services = services
    const body = facts.body ?? exchange.body
    this.#id = services.sink.begin(permission, {
      source: facts.source,
      method: exchange.method,
      scheme: facts.scheme,
      host: facts.host,
      path: facts.path,
      headers: facts.headers ?? exchange.headers,
      body: body.length === 0 ? null : copied(body),
      bodySize: body.length,
      atMs: exchange.receivedMs,
      gatewayRequestId: exchange.requestId,
      agent: facts.agent ?? null,
      sourceModel: facts.sourceModel ?? null,
      mappedModel: facts.mappedModel ?? null,
      replayOf: facts.replayOf ?? null
    })
    if (facts.client !== undefined) services.sink.attribute(this.#id, facts.client)
    this.#noLongerClose = exchange.reply.onClose(() => this.#over("client_left"))
  }

  received(body: Buffer): void {
    this.#services.sink.update(this.#id, { requestBody: copied(body), requestSize: body.length })
  }

  sent(call: TappedCall): void {
    this.#calls ??= []
    if (this.#calls.length === maxCalls) this.#calls.shift()
    this.#calls.push(call)
  }

  settled(row: UsageRow): void {
    this.#row = row
    const { timers } = this.#services
    if (this.#conclusion !== null) timers.soon(this.#conclusion)
  }

  head(status: number, headers: Array<string>): void {
    this.#status = status
    // The sender of the head may go on with its list.
    this.#headers = headers.slice()
    this.#exchange.reply.head(status, headers)
  }

  write(chunk: Buffer | string): boolean {
    this.#firstMs ??= this.#services.timers.monotonicMs()
    this.#hold(chunk)
    return this.#exchange.reply.write(chunk)
  }

  end(chunk: Buffer | string, trailers?: Trailers): void {
    this.#hold(chunk)
    this.#exchange.reply.end(chunk, trailers)
    this.#over(null)
  }

  cut(): void {
    this.#exchange.reply.cut()
    this.#over("cut")
  }

  onDrain(listener: () => void): () => void {
    return this.#exchange.reply.onDrain(listener)
  }

  onClose(listener: () => void): () => void {
    return this.#exchange.reply.onClose(listener)
  }

  isClosed(): boolean {
    return this.#exchange.reply.isClosed()
  }

  #hold(chunk: Buffer | string): void {
    if (chunk.length === 0) return
    const bytes = typeof chunk === "string" ? Buffer.byteLength(chunk) : chunk.length
    this.#bytes += bytes
    if (this.#held >= heldAnswerBytes) return
    this.#held += bytes
    this.#chunks.push(chunk)
  }

  #over(unended: Unended | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#noLongerClose?.()
    const { timers } = this.#services
    const totalMs = timers.monotonicMs() - this.#exchange.startedMs
    const conclude = (): void => this.#conclude(unended, totalMs)
    if (unended !== "client_left" || this.#row !== null) return timers.soon(conclude)
    const patience = timers.after(settlingMs, () => this.#conclusion?.())
    this.#conclusion = concluding(patience, conclude)
  }

  #conclude(unended: Unended | null, totalMs: number): void {
    const { decisionOf, sink } = this.#services
    const { requestId, startedMs } = this.#exchange
    const decision = decisionOf(requestId)
    const call = answering(this.#calls ?? [], decision)
    const attempt = decision?.attempts.at(-1)
    const row = this.#row
    const sourceModel = this.#facts.sourceModel ?? decision?.requestedModel ?? null
    const ttftMs = this.#firstMs === null ? null : this.#firstMs - startedMs
    const end: RecordEnd = {
      status: unended === null ? (this.#status ?? "error") : "error",
      responseHeaders: this.#headers,
      responseBody: this.#answer(),
      responseSize: this.#bytes,
      error: unended === null ? null : sentences[unended],
      ttftMs,
      totalLatencyMs: totalMs,
      upstreamLatencyMs: attempt?.latencyMs ?? null,
      proxyLatencyMs: attempt === undefined ? null : Math.max(0, totalMs - attempt.latencyMs),
      sourceModel,
      ...(call === null
        ? {}
        : {
            provider: call.provider,
            mappedModel: this.#facts.mappedModel ?? (call.model === sourceModel ? null : call.model)
          }),
      ...(decision === null
        ? {}
        : {
            // Put together when the record is read.
            decisionLater: () => recordOf(decision),
            decisionBytes: decisionBytes + bytesPerLine * linesOf(decision)
          }),
      ...(row === null || row.usageSource !== "upstream" || row.attempts === 0 ? {} : { usage: row.tokens })
    }
    sink.finish(this.#id, end, call === null ? null : sentCall(call))
  }

  #answer(): Buffer | null {
    const chunks = this.#chunks.map((chunk) => (typeof chunk === "string" ? Buffer.from(chunk) : chunk))
    this.#chunks = []
    const [first] = chunks
    return first === undefined ? null : chunks.length === 1 ? first : Buffer.concat(chunks)
  }
}

/** The exchange, recorded from here to its end. */
/** The same exchange where nothing of what its caller says may be kept. */
export const recorded = (exchange: Exchange, facts: RecordedFacts, services: RecordingServices): Exchange => {
  const permission = mayShowContent(exchange.principal)
  if (permission === null) return exchange
  const record = new RecordedExchange(permission, exchange, facts, services)
  return { ...exchange, reply: record, tap: record }
}
