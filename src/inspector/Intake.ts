/**
 * What is captured, from the first word of it to the record in the ring. `begin`, `update` and `finish` only note what they are given; soon after,
 * bodies are worked on in the thread, small ones many at a time, and heads are masked here. Bodies that wait are bounded: beyond that they are
 * let go, and the record says so.
 */
import type { ModelPrice } from "../domain/Pricing.ts"
import type { TokenCounts } from "../domain/Usage.ts"
import type { Timer, Timers } from "../platform/Timers.ts"
import type { ClientSocket } from "./Attribution.ts"
import type { BodyLimits, CapturedBody, ShownBody } from "./Bodies.ts"
import { makeHeadMasker } from "./masking/HeadMasker.ts"
import { maskText } from "./masking/Masking.ts"
import {
  type Bodies,
  type CaptureSource,
  type DetectedKind,
  type Head,
  type RecordHeaders,
  type RecordStatus
} from "../domain/TrafficRecord.ts"
import { providerOfHost } from "./reading/Hosts.ts"
import { llmOf, noAnswer, type AnswerFacts, type RequestFacts } from "./reading/Llm.ts"
import type { InspectorSettings } from "./Settings.ts"
import { bytesOfTask, type Report, type Task } from "./work/Work.ts"
import type { WorkThread } from "./work/WorkThread.ts"

/** Header names and values in turn, as `rawHeaders` of node:http, or by name. */
export type GivenHeaders = ReadonlyArray<string> | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** What is known when an exchange begins. What is left out is null or unknown. */
export interface RecordStart {
  /** Absent: a new one. */
  readonly id?: string
  readonly source: CaptureSource
  readonly method: string
  readonly scheme: Head["scheme"]
  readonly host: string
  /** With its query. */
  readonly path: string
  readonly headers: GivenHeaders
  /** As it was on the wire, its beginning at least. */
  readonly body?: Uint8Array | null
  /** On the wire; absent: that of `body`. */
  readonly bodySize?: number
  /** Bodies are all there is, whatever their sizes on the wire: they were decoded before. */
  readonly areBodiesWhole?: boolean
  readonly agent?: string | null
  /** Epoch milliseconds; absent: now. */
  readonly atMs?: number
  /** For custom hosts, whose kind is set; absent: it is detected. */
  readonly kind?: DetectedKind
  readonly sourceModel?: string | null
  readonly mappedModel?: string | null
  readonly provider?: string | null
  readonly gatewayRequestId?: string | null
  readonly replayOf?: string | null
  readonly note?: string | null
}

/** What became known since; what is left out stays as it is. */
export interface RecordUpdate {
  readonly requestBody?: Uint8Array
  readonly requestSize?: number
  /** The head of the answer has come. */
  readonly responseHeaders?: GivenHeaders
  readonly agent?: string | null
  readonly sourceModel?: string | null
  readonly mappedModel?: string | null
  readonly provider?: string | null
  readonly gatewayRequestId?: string | null
  readonly decision?: unknown
  readonly note?: string | null
  readonly pid?: number | null
  readonly processName?: string | null
}

export interface RecordEnd extends RecordUpdate {
  /** `error`: no answer came, or not all of it. */
  readonly status: RecordStatus
  readonly responseBody?: Uint8Array | null
  readonly responseSize?: number
  /** Why there is no answer: a code or a sentence. */
  readonly error?: string | null
  readonly ttftMs?: number | null
  readonly proxyLatencyMs?: number | null
  readonly upstreamLatencyMs?: number | null
  readonly totalLatencyMs?: number | null
  /** As the upstream reported them, where the answer that the client got need not tell; absent: as it tells. */
  readonly usage?: TokenCounts
}

/** Bytes of bodies that wait, or belong to exchanges that have not ended. */
const maxPendingBytes = 64 * 1_048_576
/** Beyond that, for small ones: they are soon done, and must not be lost because large ones wait for the thread. */
const smallReserveBytes = 8 * 1_048_576
/** Exchanges that have begun and not ended. Those beyond it are not recorded. */
const maxPending = 20_000
/** A record with larger bodies is listed before the thread has worked on them. */
export const threadFromBytes = 65_536
/** What comes within this time is worked on together: a short exchange then once. */
const gatherMs = 20
/** Time that is worked before others have their turn. */
const turnMs = 3
const maxHeaderChars = 65_536
const maxPathChars = 65_536

interface Pending {
  readonly id: string
  readonly start: RecordStart
  readonly startedAtMs: number
  readonly headers: RecordHeaders
  readonly sessionId: string | null
  update: RecordUpdate
  end: RecordEnd | null
  requestBody: Uint8Array | null
  requestSize: number
  /** Bodies that had to be let go. */
  isShort: boolean
  /** Bytes that are accounted for it. */
  bytes: number
  isListed: boolean
  isRequestRead: boolean
  kind: DetectedKind | null
  contextKey: string | null
  facts: RequestFacts | null
  /** How the request's body is shown, which itself is in the ring; null until it was read. */
  shape: Pick<ShownBody, "encoding" | "isTruncated"> | null
  isQueued: boolean
  /** The thread works on it. */
  isAway: boolean
}

export interface IntakeServices {
  readonly settings: InspectorSettings
  readonly timers: typeof Timers.Service
  readonly thread: () => WorkThread
  readonly newId: () => string
  /** Session that records now. */
  readonly sessionId: () => string | null
  readonly priceOf: (provider: string, model: string) => ModelPrice | null
  /** Of a record that is in the ring. */
  readonly known: (id: string) => Head | null
  /** Keeps a place in the ring. */
  readonly reserve: (id: string) => void
  /** Into the ring. Bodies that are left out stay as they are. */
  readonly put: (head: Head, bodies?: Partial<Bodies>) => void
}

export interface Intake {
  readonly begin: (start: RecordStart) => string
  readonly update: (id: string, update: RecordUpdate) => void
  readonly finish: (id: string, end: RecordEnd) => void
  readonly attribute: (id: string, socket: ClientSocket) => void
  /** When nothing waits any more. */
  readonly settled: () => Promise<void>
  readonly pendingBytes: () => number
  readonly close: () => void
}

export const readHeaders = (given: GivenHeaders): RecordHeaders => {
  const headers = new Map<string, string>()
  let chars = 0
  const add = (name: string, value: string): void => {
    chars += name.length + value.length
    if (chars > maxHeaderChars) return
    const key = name.toLowerCase()
    const known = headers.get(key)
    headers.set(
      key,
      known === undefined ? value : `${known}${key === "set-cookie" ? "\n" : key === "cookie" ? "; " : ", "}${value}`
    )
  }
  if (isRaw(given)) {
    for (let at = 0; at + 1 < given.length; at += 2) add(given[at] ?? "", given[at + 1] ?? "")
  } else {
    for (const [name, value] of Object.entries(given)) {
      if (typeof value === "string") add(name, value)
      else for (const each of value ?? []) add(name, each)
    }
  }
  return Object.fromEntries(headers)
}

const isRaw = (given: GivenHeaders): given is ReadonlyArray<string> => Array.isArray(given)

const captured = (bytes: Uint8Array | null | undefined, size: number, headers: RecordHeaders): CapturedBody | null =>
  bytes === null || bytes === undefined || bytes.byteLength === 0
    ? null
    : {
        bytes,
        size,
        contentEncoding: headers["content-encoding"] ?? "",
        contentType: headers["content-type"] ?? ""
      }

export const limitsOf = ({ maskSecrets, maxBodyBytes }: InspectorSettings): BodyLimits => ({
  maskSecrets,
  maxShownBytes: maxBodyBytes,
  maxDecodedBytes: Math.max(8 * maxBodyBytes, 4 * 1_048_576)
})

/** What is known of the tokens otherwise goes before what the answer tells. */
const counted = (answer: AnswerFacts, usage: TokenCounts | undefined): AnswerFacts =>
  usage === undefined ? answer : { ...answer, usage, tokensOut: usage.out }

/** From a thread bytes come as plain arrays of them. */
export const bufferOf = (shown: ShownBody | null | undefined): Buffer | null =>
  shown === null || shown === undefined
    ? null
    : Buffer.from(shown.bytes.buffer, shown.bytes.byteOffset, shown.bytes.byteLength)

export const makeIntake = (services: IntakeServices): Intake => {
  const { known, newId, priceOf, put, reserve, sessionId, settings, thread, timers } = services
  const limits = limitsOf(settings)
  const pending = new Map<string, Pending>()
  let queue: Array<Pending> = []
  let pendingBytes = 0
  let timer: Timer | null = null
  let isPumping = false
  /** Tasks in the thread. */
  let away = 0
  let waiters: Array<() => void> = []
  let isClosed = false

  const { maskedHeaders, maskedUrl } = makeHeadMasker()
  const masked = (headers: RecordHeaders): RecordHeaders => (settings.maskSecrets ? maskedHeaders(headers) : headers)

  const enqueue = (each: Pending): void => {
    if (each.isQueued || isClosed) return
    each.isQueued = true
    queue.push(each)
    timer ??= isPumping ? null : timers.after(gatherMs, pump)
  }

  /** Whether so many bytes more may wait; then they are accounted for. */
  const account = (each: Pending, bytes: number): boolean => {
    const most = bytes <= threadFromBytes ? maxPendingBytes + smallReserveBytes : maxPendingBytes
    if (pendingBytes + bytes > most) {
      each.isShort = true
      return false
    }
    pendingBytes += bytes
    each.bytes += bytes
    return true
  }

  const release = (each: Pending): void => {
    pendingBytes -= each.bytes
    each.bytes = 0
  }

  const providerOf = ({ end, start, update }: Pending): string | null =>
    end?.provider ?? update.provider ?? start.provider ?? providerOfHost(start.host)

  const headOf = (each: Pending, answer: AnswerFacts | null, report: Report | null): Head => {
    const { end, facts, start, update } = each
    const before = known(each.id)
    const latest = { ...update, ...end }
    const responseHeaders = latest.responseHeaders === undefined ? {} : readHeaders(latest.responseHeaders)
    const mappedModel = latest.mappedModel ?? start.mappedModel ?? responseHeaders["x-gateway-mapped-model"] ?? null
    const error = end?.error ?? null
    const response = report?.response?.shown ?? null
    const totalLatencyMs = end === null ? null : (end.totalLatencyMs ?? timers.nowMs() - each.startedAtMs)
    return {
      id: each.id,
      source: start.source,
      agent: latest.agent ?? start.agent ?? null,
      timestamp: new Date(each.startedAtMs).toISOString(),
      method: start.method.slice(0, 32),
      scheme: start.scheme,
      host: start.host.slice(0, 512),
      path: (settings.maskSecrets ? maskedUrl(start.path.slice(0, maxPathChars)) : start.path).slice(0, maxPathChars),
      requestHeaders: before?.requestHeaders ?? masked(each.headers),
      requestSize: each.requestSize,
      responseHeaders: masked(responseHeaders),
      responseSize: end?.responseSize ?? end?.responseBody?.byteLength ?? 0,
      status: end?.status ?? "in-flight",
      proxyLatencyMs: end?.proxyLatencyMs ?? null,
      upstreamLatencyMs: end?.upstreamLatencyMs ?? null,
      totalLatencyMs,
      error: error === null ? null : maskText(error.slice(0, 2_000)),
      sourceModel: latest.sourceModel ?? start.sourceModel ?? null,
      mappedModel,
      detectedKind: start.kind ?? each.kind ?? "unknown",
      contextKey: each.contextKey,
      annotation: before?.annotation ?? null,
      sessionId: each.sessionId,
      note: latest.note ?? start.note ?? null,
      pid: latest.pid ?? before?.pid ?? null,
      processName: latest.processName ?? before?.processName ?? null,
      llm:
        facts === null
          ? null
          : llmOf(facts, counted(answer ?? noAnswer(facts), end?.usage), {
              provider: providerOf(each),
              mappedTo: mappedModel,
              ttftMs: end?.ttftMs ?? null,
              totalMs: totalLatencyMs,
              priceOf
            }),
      gatewayRequestId: latest.gatewayRequestId ?? start.gatewayRequestId ?? null,
      decision: latest.decision ?? null,
      requestTruncated: each.shape?.isTruncated ?? false,
      responseTruncated: response?.isTruncated ?? before?.responseTruncated ?? false,
      requestEncoding: each.shape?.encoding ?? "utf8",
      responseEncoding: response?.encoding ?? before?.responseEncoding ?? "utf8",
      bodyEvicted: each.isShort || (before?.bodyEvicted ?? false),
      replayOf: start.replayOf ?? null
    }
  }

  const taskOf = (each: Pending): Task => {
    const { end, headers, start, update } = each
    const responseHeaders = end === null ? {} : readHeaders(end.responseHeaders ?? update.responseHeaders ?? {})
    const isWhole = start.areBodiesWhole === true
    const requestSize = isWhole ? (each.requestBody?.byteLength ?? 0) : each.requestSize
    return {
      request: each.isRequestRead
        ? null
        : {
            host: start.host,
            path: start.path,
            userAgent: headers["user-agent"] ?? "",
            body: captured(each.requestBody, requestSize, headers)
          },
      response:
        end === null
          ? null
          : {
              path: start.path,
              provider: providerOf(each),
              body: captured(
                end.responseBody,
                (isWhole ? null : end.responseSize) ?? end.responseBody?.byteLength ?? 0,
                responseHeaders
              ),
              facts: each.facts
            },
      limits
    }
  }

  /** `report` null: it took too long or too much, and the bodies are lost. `end`: as it was when the task was made. */
  const apply = (each: Pending, end: RecordEnd | null, read: Uint8Array | null, report: Report | null): void => {
    each.isAway = false
    if (!pending.has(each.id)) return
    if (report === null) each.isShort = true
    const request = report?.request ?? null
    if (request !== null) {
      each.kind = request.kind
      each.contextKey = request.contextKey
      each.facts = request.facts
      each.shape = request.shown
    }
    // A request is read once; then its bytes are not needed any more.
    if (each.requestBody === read) {
      each.isRequestRead = true
      each.requestBody = null
      if (end !== null || each.end === null) release(each)
    }
    const requestBody = bufferOf(request?.shown)
    const responseBody = bufferOf(report?.response?.shown)
    const bodies = {
      ...(requestBody === null ? {} : { requestBody }),
      ...(responseBody === null ? {} : { responseBody })
    }
    put(headOf({ ...each, end }, report?.response?.facts ?? null, report), bodies)
    if (end !== null) {
      release(each)
      pending.delete(each.id)
    } else if (each.end !== null || !each.isRequestRead) {
      // More has come meanwhile.
      enqueue(each)
    }
  }

  const work = (each: Pending): void => {
    if (each.isAway || !pending.has(each.id)) return
    const { end, requestBody } = each
    if (end === null && each.isRequestRead) return put(headOf(each, null, null))
    const task = taskOf(each)
    if (!each.isListed) {
      each.isListed = true
      // In the list at once where the work on its bodies takes a while; the place in the list is that of its turn here in any case.
      if (bytesOfTask(task) > threadFromBytes) put(headOf({ ...each, end: null }, null, null))
      else reserve(each.id)
    }
    each.isAway = true
    away += 1
    const reported = (report: Report | null): void => {
      away -= 1
      try {
        if (!isClosed) apply(each, end, requestBody, report)
      } finally {
        settle()
      }
    }
    try {
      // A thread that cannot be asked costs the bodies, never the capture.
      thread()
        .run({ kind: "task", task })
        .then(reported, () => reported(null))
    } catch {
      reported(null)
    }
  }

  const settle = (): void => {
    if (away > 0 || isPumping || queue.length > 0) return
    const waiting = waiters
    waiters = []
    for (const done of waiting) done()
  }

  const inThread = async (run: () => Promise<void>): Promise<void> => {
    away += 1
    try {
      await run()
    } catch {
      // The record stays as it was listed.
    }
    away -= 1
    settle()
  }

  /** Empty when it was closed, too. */
  const takeQueue = (): ReadonlyArray<Pending> => {
    const taken = queue
    queue = []
    return taken
  }

  const pumpAll = async (): Promise<void> => {
    let since = timers.monotonicMs()
    for (let batch = takeQueue(); batch.length > 0; batch = takeQueue()) {
      for (const each of batch) {
        each.isQueued = false
        work(each)
        if (timers.monotonicMs() - since < turnMs) continue
        await new Promise<void>((done) => timers.soon(done))
        since = timers.monotonicMs()
      }
    }
  }

  const pump = (): void => {
    timer = null
    if (isPumping || isClosed) return
    isPumping = true
    void pumpAll().then(over, over)
  }

  const over = (): void => {
    isPumping = false
    if (queue.length > 0 && !isClosed) timer ??= timers.after(gatherMs, pump)
    settle()
  }

  const begin = (start: RecordStart): string => {
    const id = start.id ?? newId()
    if (isClosed || pending.size >= maxPending || pending.has(id)) return id
    const body = start.body ?? null
    const each: Pending = {
      id,
      start: { ...start, body: null },
      startedAtMs: start.atMs ?? timers.nowMs(),
      headers: readHeaders(start.headers),
      sessionId: sessionId(),
      update: {},
      end: null,
      requestBody: null,
      requestSize: start.bodySize ?? body?.byteLength ?? 0,
      isShort: false,
      bytes: 0,
      isListed: false,
      isRequestRead: false,
      kind: null,
      contextKey: null,
      facts: null,
      shape: null,
      isQueued: false,
      isAway: false
    }
    if (body !== null && account(each, body.byteLength)) each.requestBody = body
    pending.set(id, each)
    enqueue(each)
    return id
  }

  const merge = (each: Pending, update: RecordUpdate): void => {
    const { requestBody, requestSize, ...rest } = update
    each.update = { ...each.update, ...rest }
    if (requestSize !== undefined) each.requestSize = requestSize
    if (requestBody === undefined) return
    if (requestSize === undefined) each.requestSize = Math.max(each.start.bodySize ?? 0, requestBody.byteLength)
    if (!account(each, requestBody.byteLength)) return
    each.requestBody = requestBody
    // It came after the work on what there was.
    each.isRequestRead = false
  }

  const update = (id: string, given: RecordUpdate): void => {
    const each = pending.get(id)
    if (each !== undefined) {
      merge(each, given)
      enqueue(each)
      return
    }
    // It is over: only what is told of it can change.
    const head = known(id)
    if (head === null || isClosed) return
    const { agent, decision, gatewayRequestId, mappedModel, note, pid, processName, sourceModel } = given
    put({
      ...head,
      agent: agent ?? head.agent,
      decision: decision ?? head.decision,
      gatewayRequestId: gatewayRequestId ?? head.gatewayRequestId,
      mappedModel: mappedModel ?? head.mappedModel,
      note: note ?? head.note,
      pid: pid ?? head.pid,
      processName: processName ?? head.processName,
      sourceModel: sourceModel ?? head.sourceModel
    })
  }

  const finish = (id: string, end: RecordEnd): void => {
    const each = pending.get(id)
    if (each === undefined || each.end !== null) return
    merge(each, end.requestBody === undefined ? {} : { requestBody: end.requestBody })
    const body = end.responseBody ?? null
    const size = end.responseSize ?? body?.byteLength ?? 0
    const isKept = body !== null && account(each, body.byteLength)
    each.end = { ...end, responseBody: isKept ? body : null, responseSize: size }
    each.end = { ...each.end, totalLatencyMs: end.totalLatencyMs ?? timers.nowMs() - each.startedAtMs }
    enqueue(each)
  }

  /** Captures go on whatever happens here. */
  const quietly =
    <Arguments extends ReadonlyArray<unknown>, Result>(run: (...given: Arguments) => Result, otherwise: Result) =>
    (...given: Arguments): Result => {
      try {
        return run(...given)
      } catch {
        return otherwise
      }
    }

  return {
    begin: quietly(begin, ""),
    update: quietly(update, undefined),
    finish: quietly(finish, undefined),
    attribute: quietly((id: string, socket: ClientSocket) => {
      if (isClosed) return
      void inThread(async () => {
        const owner = await thread().run({ kind: "owner", socket })
        if (owner !== null) update(id, owner)
      })
    }, undefined),
    settled: () =>
      new Promise((done) => {
        waiters.push(done)
        settle()
      }),
    pendingBytes: () => pendingBytes,
    close: () => {
      isClosed = true
      timer?.cancel()
      timer = null
      pending.clear()
      queue = []
      settle()
    }
  }
}
