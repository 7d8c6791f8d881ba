/**
 * Path of captured traffic from the first report to the record in the ring. `begin`, `update` and `finish` only queue their facts; soon after,
 * bodies are worked on in the thread, small ones many at a time, and heads are masked here. Waiting bodies are bounded: beyond that they are
 * dropped, and the record says so.
 */
import type { Timer, Timers } from "../../platform/Timers.ts"
import type { ClientSocket } from "./Attribution.ts"
import type { BodyLimits, CapturedBody, ShownBody } from "./Bodies.ts"
import type { CallFacts, RecordEnd, RecordStart, RecordUpdate } from "./CapturedFacts.ts"
import { headOf, type PriceOf, providerOf, type Shape } from "./HeadOf.ts"
import { type GivenHeaders, readHeaders } from "./Headers.ts"
import { lateRecord, jobOfExchange } from "./LateRecords.ts"
import { makeHeadMasker, type Shown, shownOf } from "./masking/HeadMasker.ts"
import type { ContentPermission } from "../../domain/ContentPermission.ts"
import { type Bodies, type DetectedKind, type Head, type RecordHeaders } from "../../domain/TrafficRecord.ts"
import type { RequestFacts } from "./reading/Llm.ts"
import type { LateRecord } from "./Ring.ts"
import type { InspectorSettings } from "./Settings.ts"
import type { ExchangeReport } from "./work/Exchange.ts"
import { bytesOfTask, type Report, type Task } from "./work/Work.ts"
import type { WorkThread } from "./work/WorkThread.ts"

/** Bytes of bodies that wait, or belong to exchanges that have not ended. */
const maxPendingBytes = 64 * 1_048_576
/** Further bytes for small ones: they are soon done, and must not be lost because large ones wait for the thread. */
const smallReserveBytes = 8 * 1_048_576
/** Exchanges that have begun and not ended. Those beyond it are not recorded. */
const maxPending = 20_000
/** A record with larger bodies is listed before the thread has worked on them. */
export const threadFromBytes = 65_536
/** Exchanges of ours up to this size, which have ended already, are listed when they were worked on. */
const wholeUpToBytes = 262_144
/**
 * Time in ms within which reports are processed together: a short exchange then once. Watchers are informed soon after.
 */
const gatherMs = 50
/** Shortest further time in ms for one that came during that time and may be over soon. */
const leastGatherMs = 10
/** Time that is worked before others have their turn. */
const turnMs = 3

interface Pending {
  readonly id: string
  /** Start without its body. */
  readonly start: RecordStart
  readonly startedAtMs: number
  /** Headers of the request, once they were needed here. */
  headers: RecordHeaders | null
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
  promptKey: string | null
  facts: RequestFacts | null
  /** Form in which the request's body is shown, which itself is in the ring; null until it was read. */
  shape: Shape | null
  /** The call behind it; null: it is not known. */
  sent: CallFacts | null
  isQueued: boolean
  /** Time of queueing on the monotonic clock. */
  queuedAtMs: number
  /** The thread works on it. */
  isAway: boolean
  /** Time at which the thread's job was queued. */
  awaySinceMs: number
}

export interface IntakeServices {
  readonly settings: InspectorSettings
  readonly timers: typeof Timers.Service
  readonly thread: () => WorkThread
  readonly newId: () => string
  /** Session that records now. */
  readonly sessionId: () => string | null
  readonly priceOf: PriceOf
  /** Finds the head of a record that is in the ring. */
  readonly known: (id: string) => Head | null
  /** Keeps a place in the ring. */
  readonly reserve: (id: string) => void
  /** Puts a record into the ring. Absent bodies stay as they are. `sent`: the call behind it, where it has ended. */
  readonly put: (head: Head, bodies?: Partial<Bodies>, sent?: CallFacts | null) => void
  /** Hot: something waits to be worked on. */
  readonly working?: () => void
  /** Puts a record with an exchange that has ended and was judged: `report` has the result. */
  readonly putLate: (late: LateRecord, report: ExchangeReport) => void
}

/** Delay of the list behind the reports. */
export interface Behind {
  /** Time in ms since the oldest change that is not in the list yet; 0: none waits. */
  readonly behindMs: number
  /** Exchanges with changes that are not in the list yet. */
  readonly waiting: number
}

export interface Intake {
  readonly begin: (permission: ContentPermission, start: RecordStart) => string
  readonly update: (id: string, update: RecordUpdate) => void
  readonly finish: (id: string, end: RecordEnd, sent?: CallFacts | null) => void
  readonly attribute: (id: string, socket: ClientSocket) => void
  /** Waits until a record is in the ring as it was reported up to now; ends at once where it is not on its way. */
  readonly listed: (id: string) => Promise<void>
  /** Waits until no report is pending. */
  readonly settled: () => Promise<void>
  readonly pendingBytes: () => number
  readonly behind: () => Behind
  readonly close: () => void
}

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

/** Converts the bytes from a thread, which come as plain arrays. */
export const bufferOf = (shown: ShownBody | null | undefined): Buffer | null =>
  shown === null || shown === undefined
    ? null
    : Buffer.from(shown.bytes.buffer, shown.bytes.byteOffset, shown.bytes.byteLength)

export const makeIntake = (services: IntakeServices): Intake => {
  const { known, newId, priceOf, put, putLate, reserve, sessionId, settings, thread, timers, working } = services
  const limits = limitsOf(settings)
  const pending = new Map<string, Pending>()
  let queue: Array<Pending> = []
  let pendingBytes = 0
  let timer: Timer | null = null
  let isPumping = false
  /** Tasks in the thread. */
  let away = 0
  let waiters: Array<() => void> = []
  /** Listeners that wait for one record. */
  const listening = new Map<string, Array<() => void>>()
  let isClosed = false

  const masker = makeHeadMasker()
  const headersOf = (each: Pending): RecordHeaders => (each.headers ??= readHeaders(each.start.headers))

  /** Tells whether the record is in the list. */
  const isListed = (id: string): boolean => {
    const each = pending.get(id)
    return each === undefined || (each.end === null && !each.isQueued && !each.isAway)
  }

  const tellListed = (id: string): void => {
    const found = listening.get(id)
    if (found === undefined || !isListed(id)) return
    listening.delete(id)
    for (const done of found) done()
  }

  const enqueue = (each: Pending): void => {
    if (each.isQueued || isClosed) return
    each.isQueued = true
    each.queuedAtMs = timers.monotonicMs()
    queue.push(each)
    working?.()
    timer ??= isPumping ? null : timers.after(gatherMs, pump)
  }

  /** Decides whether `bytes` more may wait, and counts them then. */
  const account = (each: Pending, bytes: number, isBody = true): boolean => {
    const most = bytes <= threadFromBytes ? maxPendingBytes + smallReserveBytes : maxPendingBytes
    if (pendingBytes + bytes > most) {
      each.isShort ||= isBody
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

  const answerHeaders = ({ end, update }: Pick<Pending, "end" | "update">): RecordHeaders => {
    const given: GivenHeaders | undefined = end?.responseHeaders ?? update.responseHeaders
    return given === undefined ? {} : readHeaders(given)
  }

  const recordOf = (each: Pending, report: Report | null): Head => {
    const { start } = each
    const before = known(each.id)
    const shown: Shown = shownOf(masker, settings.maskSecrets, {
      path: start.path,
      error: each.end?.error ?? null,
      requestHeaders: headersOf(each),
      responseHeaders: answerHeaders(each)
    })
    const response = report?.response ?? null
    const answer = { facts: response?.facts ?? null, shape: response?.shown ?? null, reason: response?.reason ?? null }
    const requestHeaders = before?.requestHeaders ?? shown.requestHeaders
    return headOf(each, { ...shown, requestHeaders }, each, answer, priceOf, before)
  }

  const taskOf = (each: Pending): Task => {
    const { end, start } = each
    const headers = headersOf(each)
    const responseHeaders = end === null ? {} : answerHeaders(each)
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
      each.promptKey = request.promptKey
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
    put(recordOf({ ...each, end }, report), bodies, end === null ? null : each.sent)
    if (end !== null) {
      release(each)
      pending.delete(each.id)
    } else if (each.end !== null || !each.isRequestRead) {
      // More has come meanwhile.
      enqueue(each)
    }
  }

  /** An exchange of ours that has ended before it was listed. */
  const isWhole = (each: Pending): each is Pending & { readonly end: RecordEnd; readonly sent: CallFacts } =>
    each.end !== null &&
    each.sent !== null &&
    !each.isListed &&
    !each.isShort &&
    each.bytes <= wholeUpToBytes &&
    each.start.areBodiesWhole !== true &&
    known(each.id) === null

  const workWhole = (each: Pending, end: RecordEnd, sent: CallFacts): void => {
    each.isListed = true
    reserve(each.id)
    each.isAway = true
    each.awaySinceMs = each.queuedAtMs
    away += 1
    const price = priceOf(sent.provider, sent.model, each.startedAtMs)
    const reported = (report: ExchangeReport | null): void => {
      away -= 1
      try {
        if (!isClosed) applyWhole(each, end, report)
      } finally {
        tellListed(each.id)
        settle()
      }
    }
    try {
      thread().runExchange(jobOfExchange(each, end, sent, { price, limits }), reported)
    } catch {
      reported(null)
    }
  }

  const applyWhole = (each: Pending, end: RecordEnd, report: ExchangeReport | null): void => {
    if (report === null || !pending.has(each.id)) return apply(each, end, each.requestBody, null)
    each.isAway = false
    release(each)
    pending.delete(each.id)
    putLate(lateRecord(each, end, report, priceOf), report)
  }

  const work = (each: Pending): void => {
    if (each.isAway || !pending.has(each.id)) return
    const { end, requestBody } = each
    if (end === null && each.isRequestRead) return put(recordOf(each, null))
    if (isWhole(each)) return workWhole(each, each.end, each.sent)
    const task = taskOf(each)
    if (!each.isListed) {
      each.isListed = true
      // In the list at once where the work on its bodies takes a while; the place in the list is that of its turn here in any case.
      if (bytesOfTask(task) > threadFromBytes) put(recordOf({ ...each, end: null }, null))
      else reserve(each.id)
    }
    each.isAway = true
    each.awaySinceMs = each.queuedAtMs
    away += 1
    const reported = (report: Report | null): void => {
      away -= 1
      try {
        if (!isClosed) apply(each, end, requestBody, report)
      } finally {
        tellListed(each.id)
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

  /** Checks whether it may be over soon, and is then processed once. */
  const isYoung = ({ end, queuedAtMs }: Pending, nowMs: number): boolean =>
    end === null && nowMs - queuedAtMs < gatherMs

  const pumpAll = async (): Promise<void> => {
    let since = timers.monotonicMs()
    const young: Array<Pending> = []
    for (let batch = takeQueue(); batch.length > 0; batch = takeQueue()) {
      for (const each of batch) {
        if (isYoung(each, since)) {
          young.push(each)
          continue
        }
        each.isQueued = false
        work(each)
        tellListed(each.id)
        if (timers.monotonicMs() - since < turnMs) continue
        await new Promise<void>((done) => timers.soon(done))
        since = timers.monotonicMs()
      }
    }
    queue = isClosed ? [] : young
  }

  const pump = (): void => {
    timer = null
    if (isPumping || isClosed) return
    isPumping = true
    void pumpAll().then(over, over)
  }

  /** No longer than until the first that waits is no longer young. */
  const waitMs = (): number => {
    const nowMs = timers.monotonicMs()
    const firstMs = queue.reduce((least, { queuedAtMs }) => Math.min(least, queuedAtMs), nowMs)
    return Math.max(leastGatherMs, Math.ceil(gatherMs - (nowMs - firstMs)))
  }

  const over = (): void => {
    isPumping = false
    if (queue.length > 0 && !isClosed) timer ??= timers.after(waitMs(), pump)
    settle()
  }

  const behind = (): Behind => {
    const nowMs = timers.monotonicMs()
    let sinceMs = nowMs
    let waiting = 0
    for (const each of pending.values()) {
      if (!each.isQueued && !each.isAway) continue
      waiting += 1
      sinceMs = Math.min(sinceMs, each.isAway ? each.awaySinceMs : each.queuedAtMs)
    }
    return { behindMs: Math.round(nowMs - sinceMs), waiting }
  }

  const begin = (_permission: ContentPermission, start: RecordStart): string => {
    const id = start.id ?? newId()
    if (isClosed || pending.size >= maxPending || pending.has(id)) return id
    const body = start.body ?? null
    const each: Pending = {
      id,
      start: { ...start, body: null },
      startedAtMs: start.atMs ?? timers.nowMs(),
      headers: null,
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
      promptKey: null,
      facts: null,
      shape: null,
      sent: null,
      isQueued: false,
      queuedAtMs: 0,
      isAway: false,
      awaySinceMs: 0
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
    // It is over: only the reported facts can change.
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

  const finish = (id: string, end: RecordEnd, sent: CallFacts | null = null): void => {
    const each = pending.get(id)
    if (each === undefined || each.end !== null) return
    if (end.requestBody !== undefined) merge(each, { requestBody: end.requestBody })
    const body = end.responseBody ?? null
    const size = end.responseSize ?? body?.byteLength ?? 0
    const isKept = body !== null && account(each, body.byteLength)
    each.end = {
      ...end,
      responseBody: isKept ? body : null,
      responseSize: size,
      // Null: its reporter gave none; the time that it took here is another one.
      totalLatencyMs: end.totalLatencyMs === undefined ? timers.nowMs() - each.startedAtMs : end.totalLatencyMs
    }
    // A body beyond the bounds is left out, and the call is judged as if it were the client's.
    each.sent =
      sent === null || sent.body === null || account(each, sent.body.length, false) ? sent : { ...sent, body: null }
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
    listed: (id) =>
      new Promise((done) => {
        if (isClosed || isListed(id)) return done()
        listening.set(id, [...(listening.get(id) ?? []), done])
      }),
    settled: () =>
      new Promise((done) => {
        waiters.push(done)
        settle()
      }),
    pendingBytes: () => pendingBytes,
    behind,
    close: () => {
      isClosed = true
      timer?.cancel()
      timer = null
      pending.clear()
      queue = []
      for (const each of listening.keys()) tellListed(each)
      settle()
    }
  }
}
