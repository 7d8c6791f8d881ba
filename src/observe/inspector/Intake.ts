/**
 * Path of captured traffic from the first report to the record in the ring. `begin`, `update` and `finish` only queue their facts; soon after,
 * bodies are worked on in the thread, small ones many at a time, and heads are masked here. Waiting bodies are bounded: beyond that they are
 * dropped, and the record says so.
 */
import type { Timer, Timers } from "../../platform/Timers.ts"
import type { ClientSocket } from "./Attribution.ts"
import type { BodyLimits, ShownBody } from "./Bodies.ts"
import type { CallFacts, RecordEnd, RecordStart, RecordUpdate } from "./CapturedFacts.ts"
import { headOf, type PriceOf, providerOf } from "./HeadOf.ts"
import { type HeaderInput, readHeaders } from "./Headers.ts"
import { lateRecord, jobOfExchange } from "./LateRecords.ts"
import { makeHeadMasker, type Shown, shownOf } from "./masking/HeadMasker.ts"
import type { ContentPermission } from "../../contract/domain/ContentPermission.ts"
import type { Bodies, Head, RecordHeaders } from "../../contract/domain/TrafficRecord.ts"
import type { LateRecord } from "./Ring.ts"
import type { InspectorSettings } from "./Settings.ts"
import type { ExchangeReport } from "./work/Exchange.ts"
import { bytesOfTask, type Report, type Task } from "./work/Work.ts"
import type { WorkThread } from "./work/WorkThread.ts"
import { type Pending, captured, pendingOf } from "./PendingExchange.ts"

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

class CaptureIntake implements Intake {
  readonly #known: IntakeServices["known"]
  readonly #newId: IntakeServices["newId"]
  readonly #priceOf: IntakeServices["priceOf"]
  readonly #put: IntakeServices["put"]
  readonly #putLate: IntakeServices["putLate"]
  readonly #reserve: IntakeServices["reserve"]
  readonly #sessionId: IntakeServices["sessionId"]
  readonly #settings: IntakeServices["settings"]
  readonly #thread: IntakeServices["thread"]
  readonly #timers: IntakeServices["timers"]
  readonly #working: IntakeServices["working"]
  readonly #limits: BodyLimits
  readonly #pending = new Map<string, Pending>()
  #queue: Array<Pending> = []
  #pendingBytes = 0
  #timer: Timer | null = null
  #isPumping = false
  /** Tasks in the thread. */
  #away = 0
  #waiters: Array<() => void> = []
  /** Listeners that wait for one record. */
  readonly #listening = new Map<string, Array<() => void>>()
  #isClosed = false
  readonly #masker = makeHeadMasker()
  readonly begin: Intake["begin"]
  readonly update: Intake["update"]
  readonly finish: Intake["finish"]
  readonly attribute: Intake["attribute"]

  constructor(services: IntakeServices) {
    const { known, newId, priceOf, put, putLate, reserve, sessionId, settings, thread, timers, working } = services
    this.#known = known
    this.#newId = newId
    this.#priceOf = priceOf
    this.#put = put
    this.#putLate = putLate
    this.#reserve = reserve
    this.#sessionId = sessionId
    this.#settings = settings
    this.#thread = thread
    this.#timers = timers
    this.#working = working
    this.#limits = limitsOf(this.#settings)
    this.begin = this.#quietly(this.#begin, "")
    this.update = this.#quietly(this.#update, undefined)
    this.finish = this.#quietly(this.#finish, undefined)
    this.attribute = this.#quietly((id: string, socket: ClientSocket) => {
      if (this.#isClosed) return
      void this.#inThread(async () => {
        const owner = await this.#thread().run({ kind: "owner", socket })
        if (owner !== null) this.#update(id, owner)
      })
    }, undefined)
  }

  readonly listed: Intake["listed"] = (id) =>
    new Promise((done) => {
      if (this.#isClosed || this.#isListed(id)) return done()
      this.#listening.set(id, [...(this.#listening.get(id) ?? []), done])
    })

  readonly settled: Intake["settled"] = () =>
    new Promise((done) => {
      this.#waiters.push(done)
      this.#settle()
    })

  readonly pendingBytes: Intake["pendingBytes"] = () => this.#pendingBytes

  readonly close: Intake["close"] = () => {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#timer = null
    this.#pending.clear()
    this.#queue = []
    for (const each of this.#listening.keys()) this.#tellListed(each)
    this.#settle()
  }

  #headersOf(each: Pending): RecordHeaders {
    return (each.headers ??= readHeaders(each.start.headers))
  }

  /** Tells whether the record is in the list. */
  #isListed(id: string): boolean {
    const each = this.#pending.get(id)
    return each === undefined || (each.end === null && !each.isQueued && !each.isAway)
  }

  #tellListed(id: string): void {
    const found = this.#listening.get(id)
    if (found === undefined || !this.#isListed(id)) return
    this.#listening.delete(id)
    for (const done of found) done()
  }

  #enqueue(each: Pending): void {
    if (each.isQueued || this.#isClosed) return
    each.isQueued = true
    each.queuedAtMs = this.#timers.monotonicMs()
    this.#queue.push(each)
    this.#working?.()
    this.#timer ??= this.#isPumping ? null : this.#timers.after(gatherMs, this.#pump)
  }

  /** Decides whether `bytes` more may wait, and counts them then. */
  #account(each: Pending, bytes: number, isBody = true): boolean {
    const most = bytes <= threadFromBytes ? maxPendingBytes + smallReserveBytes : maxPendingBytes
    if (this.#pendingBytes + bytes > most) {
      each.isShort ||= isBody
      return false
    }
    this.#pendingBytes += bytes
    each.bytes += bytes
    return true
  }

  #release(each: Pending): void {
    this.#pendingBytes -= each.bytes
    each.bytes = 0
  }

  #answerHeaders({ end, update }: Pick<Pending, "end" | "update">): RecordHeaders {
    const answerHeaders: HeaderInput | undefined = end?.responseHeaders ?? update.responseHeaders
    return answerHeaders === undefined ? {} : readHeaders(answerHeaders)
  }

  #recordOf(each: Pending, report: Report | null): Head {
    const { start } = each
    const before = this.#known(each.id)
    const shown: Shown = shownOf(this.#masker, this.#settings.maskSecrets, {
      path: start.path,
      error: each.end?.error ?? null,
      requestHeaders: this.#headersOf(each),
      responseHeaders: this.#answerHeaders(each)
    })
    const response = report?.response ?? null
    const answer = { facts: response?.facts ?? null, shape: response?.shown ?? null, reason: response?.reason ?? null }
    const requestHeaders = before?.requestHeaders ?? shown.requestHeaders
    return headOf(each, { ...shown, requestHeaders }, each, { answer, priceOf: this.#priceOf, before })
  }

  #taskOf(each: Pending): Task {
    const { end, start } = each
    const headers = this.#headersOf(each)
    const responseHeaders = end === null ? {} : this.#answerHeaders(each)
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
      limits: this.#limits
    }
  }

  /** `report` null: it took too long or too much, and the bodies are lost. `end`: as it was when the task was made. */
  #apply(each: Pending, end: RecordEnd | null, read: Uint8Array | null, report: Report | null): void {
    each.isAway = false
    if (!this.#pending.has(each.id)) return
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
      if (end !== null || each.end === null) this.#release(each)
    }
    const requestBody = bufferOf(request?.shown)
    const responseBody = bufferOf(report?.response?.shown)
    const bodies = {
      ...(requestBody === null ? {} : { requestBody }),
      ...(responseBody === null ? {} : { responseBody })
    }
    this.#put(this.#recordOf({ ...each, end }, report), bodies, end === null ? null : each.sent)
    if (end !== null) {
      this.#release(each)
      this.#pending.delete(each.id)
    } else if (each.end !== null || !each.isRequestRead) {
      // More has come meanwhile.
      this.#enqueue(each)
    }
  }

  /** An exchange of ours that has ended before it was listed. */
  #isWhole(each: Pending): each is Pending & { readonly end: RecordEnd; readonly sent: CallFacts } {
    return (
      each.end !== null &&
      each.sent !== null &&
      !each.isListed &&
      !each.isShort &&
      each.bytes <= wholeUpToBytes &&
      each.start.areBodiesWhole !== true &&
      this.#known(each.id) === null
    )
  }

  #workWhole(each: Pending, end: RecordEnd, sent: CallFacts): void {
    each.isListed = true
    this.#reserve(each.id)
    each.isAway = true
    each.awaySinceMs = each.queuedAtMs
    this.#away += 1
    const price = this.#priceOf(sent.provider, sent.model, each.startedAtMs)
    const reported = (report: ExchangeReport | null): void => {
      this.#away -= 1
      try {
        if (!this.#isClosed) this.#applyWhole(each, end, report)
      } finally {
        this.#tellListed(each.id)
        this.#settle()
      }
    }
    try {
      this.#thread().runExchange(jobOfExchange(each, end, sent, { price, limits: this.#limits }), reported)
    } catch {
      reported(null)
    }
  }

  #applyWhole(each: Pending, end: RecordEnd, report: ExchangeReport | null): void {
    if (report === null || !this.#pending.has(each.id)) return this.#apply(each, end, each.requestBody, null)
    each.isAway = false
    this.#release(each)
    this.#pending.delete(each.id)
    this.#putLate(lateRecord(each, end, report, this.#priceOf), report)
  }

  #work(each: Pending): void {
    if (each.isAway || !this.#pending.has(each.id)) return
    const { end, requestBody } = each
    if (end === null && each.isRequestRead) return this.#put(this.#recordOf(each, null))
    if (this.#isWhole(each)) return this.#workWhole(each, each.end, each.sent)
    const task = this.#taskOf(each)
    if (!each.isListed) {
      each.isListed = true
      // In the list at once where the work on its bodies takes a while; the place in the list is that of its turn here in any case.
      if (bytesOfTask(task) > threadFromBytes) this.#put(this.#recordOf({ ...each, end: null }, null))
      else this.#reserve(each.id)
    }
    each.isAway = true
    each.awaySinceMs = each.queuedAtMs
    this.#away += 1
    const reported = (report: Report | null): void => {
      this.#away -= 1
      try {
        if (!this.#isClosed) this.#apply(each, end, requestBody, report)
      } finally {
        this.#tellListed(each.id)
        this.#settle()
      }
    }
    try {
      // A thread that cannot be asked costs the bodies, never the capture.
      this.#thread()
        .run({ kind: "task", task })
        .then(reported, () => reported(null))
    } catch {
      reported(null)
    }
  }

  #settle(): void {
    if (this.#away > 0 || this.#isPumping || this.#queue.length > 0) return
    const waiting = this.#waiters
    this.#waiters = []
    for (const done of waiting) done()
  }

  async #inThread(run: () => Promise<void>): Promise<void> {
    this.#away += 1
    try {
      await run()
    } catch {
      // The record stays as it was listed.
    }
    this.#away -= 1
    this.#settle()
  }

  /** Empty when it was closed, too. */
  #takeQueue(): ReadonlyArray<Pending> {
    const taken = this.#queue
    this.#queue = []
    return taken
  }

  /** Checks whether it may be over soon, and is then processed once. */
  #isYoung({ end, queuedAtMs }: Pending, nowMs: number): boolean {
    return end === null && nowMs - queuedAtMs < gatherMs
  }

  async #pumpAll(): Promise<void> {
    let since = this.#timers.monotonicMs()
    const young: Array<Pending> = []
    for (let batch = this.#takeQueue(); batch.length > 0; batch = this.#takeQueue()) {
      for (const each of batch) {
        if (this.#isYoung(each, since)) {
          young.push(each)
          continue
        }
        each.isQueued = false
        this.#work(each)
        this.#tellListed(each.id)
        if (this.#timers.monotonicMs() - since < turnMs) continue
        await new Promise<void>((done) => this.#timers.soon(done))
        since = this.#timers.monotonicMs()
      }
    }
    this.#queue = this.#isClosed ? [] : young
  }

  readonly #pump = (): void => {
    this.#timer = null
    if (this.#isPumping || this.#isClosed) return
    this.#isPumping = true
    void this.#pumpAll().then(this.#over, this.#over)
  }

  /** No longer than until the first that waits is no longer young. */
  #waitMs(): number {
    const nowMs = this.#timers.monotonicMs()
    const firstMs = this.#queue.reduce((least, { queuedAtMs }) => Math.min(least, queuedAtMs), nowMs)
    return Math.max(leastGatherMs, Math.ceil(gatherMs - (nowMs - firstMs)))
  }

  readonly #over = (): void => {
    this.#isPumping = false
    if (this.#queue.length > 0 && !this.#isClosed) this.#timer ??= this.#timers.after(this.#waitMs(), this.#pump)
    this.#settle()
  }

  readonly behind = (): Behind => {
    const nowMs = this.#timers.monotonicMs()
    let sinceMs = nowMs
    let waiting = 0
    for (const each of this.#pending.values()) {
      if (!each.isQueued && !each.isAway) continue
      waiting += 1
      sinceMs = Math.min(sinceMs, each.isAway ? each.awaySinceMs : each.queuedAtMs)
    }
    return { behindMs: Math.round(nowMs - sinceMs), waiting }
  }

  readonly #begin = (_permission: ContentPermission, start: RecordStart): string => {
    const id = start.id ?? this.#newId()
    if (this.#isClosed || this.#pending.size >= maxPending || this.#pending.has(id)) return id
    const body = start.body ?? null
    const each = pendingOf({
      id,
      start,
      startedAtMs: start.atMs ?? this.#timers.nowMs(),
      sessionId: this.#sessionId()
    })
    if (body !== null && this.#account(each, body.byteLength)) each.requestBody = body
    this.#pending.set(id, each)
    this.#enqueue(each)
    return id
  }

  #merge(each: Pending, update: RecordUpdate): void {
    const { requestBody, requestSize, ...rest } = update
    each.update = { ...each.update, ...rest }
    if (requestSize !== undefined) each.requestSize = requestSize
    if (requestBody === undefined) return
    if (requestSize === undefined) each.requestSize = Math.max(each.start.bodySize ?? 0, requestBody.byteLength)
    if (!this.#account(each, requestBody.byteLength)) return
    each.requestBody = requestBody
    // It came after the work on what there was.
    each.isRequestRead = false
  }

  readonly #update = (id: string, update: RecordUpdate): void => {
    const each = this.#pending.get(id)
    if (each !== undefined) {
      this.#merge(each, update)
      this.#enqueue(each)
      return
    }
    // It is over: only the reported facts can change.
    const head = this.#known(id)
    if (head === null || this.#isClosed) return
    const { agent, decision, gatewayRequestId, mappedModel, note, pid, processName, sourceModel } = update
    this.#put({
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

  readonly #finish = (id: string, end: RecordEnd, sent: CallFacts | null = null): void => {
    const each = this.#pending.get(id)
    if (each === undefined || each.end !== null) return
    if (end.requestBody !== undefined) this.#merge(each, { requestBody: end.requestBody })
    const body = end.responseBody ?? null
    const size = end.responseSize ?? body?.byteLength ?? 0
    const isKept = body !== null && this.#account(each, body.byteLength)
    each.end = {
      ...end,
      responseBody: isKept ? body : null,
      responseSize: size,
      // Null: its reporter gave none; the time that it took here is another one.
      totalLatencyMs: end.totalLatencyMs === undefined ? this.#timers.nowMs() - each.startedAtMs : end.totalLatencyMs
    }
    // A body beyond the bounds is left out, and the call is judged as if it were the client's.
    each.sent =
      sent === null || sent.body === null || this.#account(each, sent.body.length, false)
        ? sent
        : { ...sent, body: null }
    this.#enqueue(each)
  }

  /** Captures go on whatever happens here. */
  #quietly<Arguments extends ReadonlyArray<unknown>, Result>(run: (...args: Arguments) => Result, otherwise: Result) {
    return (...args: Arguments): Result => {
      try {
        return run(...args)
      } catch {
        return otherwise
      }
    }
  }
}

export const makeIntake = (services: IntakeServices): Intake => new CaptureIntake(services)
