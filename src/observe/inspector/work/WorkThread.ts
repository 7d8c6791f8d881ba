/**
 * Runs jobs on a thread, which starts with the first and ends when it was idle for a while. Jobs are done one after the other; small ones go
 * there and come back together, because a message costs more than they do. What waits is bounded by its bytes. Where the thread cannot start (a Node that reads no TypeScript, from source), jobs run here.
 */
import { Worker } from "node:worker_threads"
import type { Timer, Timers } from "../../../platform/Timers.ts"
import { bytesOfCacheJob } from "../cache/CacheJob.ts"
import { bytesOfExchange, type ExchangeJob, type ExchangeReport } from "./Exchange.ts"
import { packedJobs, reportsIn, type ReportsMessage } from "./Packed.ts"
import { type Job, makeJobs, type Reports } from "./ThreadJobs.ts"
import { bytesOfView } from "./ViewJobs.ts"
import { bytesOfTask } from "./Work.ts"

export interface ThreadLimits {
  /** Bytes of bodies that wait. */
  readonly maxWaitingBytes: number
  readonly maxWaitingJobs: number
  /** Time limit in ms for one job, the start of the thread included. */
  readonly timeoutMs: number
  readonly idleMs: number
  /** The same once it knows of prompts: as long as the longest that providers keep one. */
  readonly keptMs: number
}

export const usualThreadLimits: ThreadLimits = {
  maxWaitingBytes: 64 * 1_048_576,
  maxWaitingJobs: 4_096,
  timeoutMs: 30_000,
  idleMs: 60_000,
  keptMs: 3_900_000
}

export interface WorkThread {
  /** Null: it was not done, because too much waits, it took too long or the thread died of it. */
  readonly run: <Kind extends Job["kind"]>(job: Extract<Job, { readonly kind: Kind }>) => Promise<Reports[Kind] | null>
  /** Tells whether a thread runs now. */
  readonly isRunning: () => boolean
  /** Hot: the same for an exchange, without a promise; it goes with those that are given in the same turn. */
  readonly runExchange: (exchange: ExchangeJob, done: (report: ExchangeReport | null) => void) => void
  readonly close: () => void
}

interface Waiting {
  readonly job: Job
  readonly bytes: number
  readonly done: (report: Reports[keyof Reports] | null) => void
}

interface Told extends ReportsMessage {
  readonly id: number
}

/** Jobs up to this size go together, */
const smallJobBytes = 65_536
/** and exchanges up to this one, */
const smallExchangeBytes = 262_144
/** so many at most, */
const maxBatchJobs = 256
/** and with so many bytes. */
const maxBatchBytes = 1_048_576

/** Bytes beyond the limit, for small jobs: they are soon done, and must not be lost because large ones wait. */
const smallReserveBytes = 8 * 1_048_576

const isSmall = ({ bytes, job: { kind } }: Pick<Waiting, "bytes" | "job">): boolean =>
  kind === "exchange" ? bytes <= smallExchangeBytes : bytes <= smallJobBytes && (kind === "task" || kind === "cache")

const bytesOf = (job: Job): number => {
  switch (job.kind) {
    case "task":
      return bytesOfTask(job.task)
    case "exchange":
      return bytesOfExchange(job.exchange)
    case "har":
      return job.bytes.byteLength
    case "cache":
      return bytesOfCacheJob(job.job)
    case "view":
      return bytesOfView(job.job)
    case "owner":
      return 0
  }
}

export const threadFile: URL = new URL("./bodyThread.mjs", import.meta.url)

const startWorker = (file: URL): Worker =>
  new Worker(file, {
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 32 }
  })

class BodyWorker implements WorkThread {
  readonly #timers: Pick<typeof Timers.Service, "after">
  readonly #idleMs: ThreadLimits["idleMs"]
  readonly #keptMs: ThreadLimits["keptMs"]
  readonly #maxWaitingBytes: ThreadLimits["maxWaitingBytes"]
  readonly #maxWaitingJobs: ThreadLimits["maxWaitingJobs"]
  readonly #timeoutMs: ThreadLimits["timeoutMs"]
  readonly #file: URL
  readonly #waiting: Array<Waiting> = []
  #waitingBytes = 0
  #worker: Worker | null = null
  #running: { readonly id: number; readonly batch: ReadonlyArray<Waiting>; readonly patience: Timer } | null = null
  #idle: Timer | null = null
  #lastId = 0
  #isClosed = false
  /** The thread has done something. One that never has cannot be started here. */
  #hasWorked = false
  #runsHere = false
  readonly #reportOf = makeJobs()
  /** True when it has the history of prompts. */
  #isKept = false
  #isTurnAwaited = false
  // The thread answers a job with the report of its kind.
  readonly run: WorkThread["run"]

  constructor(
    timers: Pick<typeof Timers.Service, "after">,
    { idleMs, keptMs, maxWaitingBytes, maxWaitingJobs, timeoutMs }: ThreadLimits = usualThreadLimits,
    file: URL = threadFile
  ) {
    this.#timers = timers
    this.#idleMs = idleMs
    this.#keptMs = keptMs
    this.#maxWaitingBytes = maxWaitingBytes
    this.#maxWaitingJobs = maxWaitingJobs
    this.#timeoutMs = timeoutMs
    this.#file = file
    this.run = this.#run as WorkThread["run"]
  }

  readonly isRunning: WorkThread["isRunning"] = () => this.#worker !== null

  readonly close: WorkThread["close"] = () => {
    this.#isClosed = true
    this.#stop()
    for (const each of this.#waiting.splice(0)) each.done(null)
    this.#finish(null)
  }

  readonly #stop = (): void => {
    this.#idle?.cancel()
    this.#idle = null
    this.#isKept = false
    const stopped = this.#worker
    this.#worker = null
    void stopped?.terminate()
  }

  /** `reports` null: none of them was done. */
  #finish(reports: ReportsMessage["reports"] | null): void {
    const finished = this.#running
    this.#running = null
    if (finished === null) return
    finished.patience.cancel()
    for (const [index, { bytes, done }] of finished.batch.entries()) {
      this.#waitingBytes -= bytes
      done(reports?.[index] ?? null)
    }
    this.#next()
  }

  async #runHere(batch: ReadonlyArray<Waiting>): Promise<void> {
    const reports: Array<Reports[keyof Reports] | null> = []
    for (const { job } of batch) reports.push(await this.#reportOf(job).catch(() => null))
    this.#finish(reports)
  }

  /** The next to be done: one, or several small ones. */
  #take(): ReadonlyArray<Waiting> {
    let bytes = 0
    let count = 0
    for (const each of this.#waiting) {
      if (count > 0 && (!isSmall(each) || count === maxBatchJobs || bytes + each.bytes > maxBatchBytes)) break
      bytes += each.bytes
      count += 1
      if (!isSmall(each)) break
    }
    return this.#waiting.splice(0, count)
  }

  #died(failed: Worker): void {
    if (failed !== this.#worker) return
    this.#stop()
    if (this.#hasWorked || this.#running === null) return this.#finish(null)
    this.#runsHere = true
    void this.#runHere(this.#running.batch)
  }

  #ready(): Worker {
    if (this.#worker !== null) return this.#worker
    const started = startWorker(this.#file)
    started.on("message", (told: Told) => {
      this.#hasWorked = true
      if (started === this.#worker && told.id === this.#running?.id) this.#finish(reportsIn(told))
    })
    started.on("error", () => this.#died(started))
    started.on("exit", () => this.#died(started))
    // An idle thread must not keep the process alive.
    started.unref()
    this.#worker = started
    return started
  }

  #next(): void {
    if (this.#running !== null || this.#isClosed) return
    const batch = this.#take()
    if (batch.length === 0) {
      if (this.#worker !== null)
        this.#idle ??= this.#timers.after(this.#isKept ? this.#keptMs : this.#idleMs, this.#stop)
      return
    }
    this.#idle?.cancel()
    this.#idle = null
    const tooLong = (): void => {
      this.#hasWorked = true
      this.#stop()
      this.#finish(null)
    }
    this.#lastId += 1
    this.#running = { id: this.#lastId, batch, patience: this.#timers.after(this.#timeoutMs, tooLong) }
    if (this.#runsHere) return void this.#runHere(batch)
    this.#isKept ||= batch.some(({ job }) => job.kind === "cache" || job.kind === "exchange")
    const { message, transfer } = packedJobs(batch.map(({ job }) => job))
    this.#ready().postMessage({ id: this.#lastId, ...message }, transfer)
  }

  /** Adds a job, and returns whether it may wait. */
  #add(job: Job, done: Waiting["done"]): boolean {
    const bytes = bytesOf(job)
    const mostBytes = this.#maxWaitingBytes + (isSmall({ bytes, job }) ? smallReserveBytes : 0)
    const isFull =
      this.#waiting.length >= this.#maxWaitingJobs || (this.#waitingBytes > 0 && this.#waitingBytes + bytes > mostBytes)
    if (this.#isClosed || isFull) {
      done(null)
      return false
    }
    this.#waitingBytes += bytes
    this.#waiting.push({ job, bytes, done })
    return true
  }

  readonly #run = (job: Job): Promise<Reports[keyof Reports] | null> =>
    new Promise((done) => {
      if (this.#add(job, done)) this.#next()
    })

  readonly #endOfTurn = (): void => {
    this.#isTurnAwaited = false
    this.#next()
  }

  readonly runExchange = (exchange: ExchangeJob, done: (report: ExchangeReport | null) => void): void => {
    // The thread answers a job with the report of its kind.
    if (!this.#add({ kind: "exchange", exchange }, done as Waiting["done"]) || this.#isTurnAwaited) return
    this.#isTurnAwaited = true
    void Promise.resolve().then(this.#endOfTurn)
  }
}

export const makeWorkThread = (
  timers: Pick<typeof Timers.Service, "after">,
  options: ThreadLimits = usualThreadLimits,
  file: URL = threadFile
): WorkThread => new BodyWorker(timers, options, file)
