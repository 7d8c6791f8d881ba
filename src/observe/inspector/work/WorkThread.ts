/**
 * Runs jobs on a thread, which starts with the first and ends when it was idle for a while. Jobs are done one after the other; small ones go
 * there and come back together, because a message costs more than they do. What waits is bounded by its bytes. Where the thread cannot start (a Node that reads no TypeScript, from source), jobs run here.
 */
import { JobThread } from "../../../platform/JobThread.ts"
import type { Timers } from "../../../platform/Timers.ts"
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

/** Takes the next to be done: one, or several small ones. */
const takeTogether = (waiting: Array<Waiting>): ReadonlyArray<Waiting> => {
  let bytes = 0
  let count = 0
  for (const each of waiting) {
    if (count > 0 && (!isSmall(each) || count === maxBatchJobs || bytes + each.bytes > maxBatchBytes)) break
    bytes += each.bytes
    count += 1
    if (!isSmall(each)) break
  }
  return waiting.splice(0, count)
}

class BodyWorker implements WorkThread {
  readonly #limits: ThreadLimits
  readonly #thread: JobThread<Waiting, ReportsMessage>
  /** Bytes of what waits and of what is being done. */
  #bytes = 0
  readonly #reportOf = makeJobs()
  /** True when it has the history of prompts. */
  #isKept = false
  #isTurnAwaited = false
  // The thread answers a job with the report of its kind.
  readonly run: WorkThread["run"]

  constructor(timers: Pick<typeof Timers.Service, "after">, limits: ThreadLimits, file: URL) {
    this.#limits = limits
    this.#thread = new JobThread(timers, {
      thread: { file, resourceLimits: { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 32 } },
      timeoutMs: limits.timeoutMs,
      idleMs: () => (this.#isKept ? limits.keptMs : limits.idleMs),
      take: takeTogether,
      message: (batch) => {
        this.#isKept ||= batch.some(({ job }) => job.kind === "cache" || job.kind === "exchange")
        return packedJobs(batch.map(({ job }) => job))
      },
      ended: () => {
        this.#isKept = false
      },
      done: (batch, outcome) => this.#done(batch, outcome._tag === "Answered" ? reportsIn(outcome.answer) : null),
      doHere: (batch) => this.#doHere(batch)
    })
    this.run = this.#run as WorkThread["run"]
  }

  readonly isRunning: WorkThread["isRunning"] = () => this.#thread.isRunning

  readonly close: WorkThread["close"] = () => this.#thread.close()

  readonly runExchange = (exchange: ExchangeJob, done: (report: ExchangeReport | null) => void): void => {
    // The thread answers a job with the report of its kind.
    if (!this.#add({ kind: "exchange", exchange }, done as Waiting["done"]) || this.#isTurnAwaited) return
    this.#isTurnAwaited = true
    void Promise.resolve().then(this.#endOfTurn)
  }

  readonly #run = (job: Job): Promise<Reports[keyof Reports] | null> =>
    new Promise((done) => {
      if (this.#add(job, done)) this.#thread.start()
    })

  readonly #endOfTurn = (): void => {
    this.#isTurnAwaited = false
    this.#thread.start()
  }

  /** Adds a job, and returns whether it may wait. */
  #add(job: Job, done: Waiting["done"]): boolean {
    const { maxWaitingBytes, maxWaitingJobs } = this.#limits
    const bytes = bytesOf(job)
    const mostBytes = maxWaitingBytes + (isSmall({ bytes, job }) ? smallReserveBytes : 0)
    const isFull = this.#thread.waiting >= maxWaitingJobs || (this.#bytes > 0 && this.#bytes + bytes > mostBytes)
    if (this.#thread.isClosed || isFull) {
      done(null)
      return false
    }
    this.#bytes += bytes
    this.#thread.add({ job, bytes, done })
    return true
  }

  /** `reports` null: none of them was done. */
  #done(batch: ReadonlyArray<Waiting>, reports: ReportsMessage["reports"] | null): void {
    for (const [index, { bytes, done }] of batch.entries()) {
      this.#bytes -= bytes
      done(reports?.[index] ?? null)
    }
  }

  async #doHere(batch: ReadonlyArray<Waiting>): Promise<ReportsMessage> {
    const reports: Array<Reports[keyof Reports] | null> = []
    for (const { job } of batch) reports.push(await this.#reportOf(job).catch(() => null))
    return { reports }
  }
}

export const makeWorkThread = (
  timers: Pick<typeof Timers.Service, "after">,
  options: ThreadLimits = usualThreadLimits,
  file: URL = threadFile
): WorkThread => new BodyWorker(timers, options, file)
