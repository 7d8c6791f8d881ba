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

export const makeWorkThread = (
  timers: Pick<typeof Timers.Service, "after">,
  { idleMs, keptMs, maxWaitingBytes, maxWaitingJobs, timeoutMs }: ThreadLimits = usualThreadLimits,
  file: URL = threadFile
): WorkThread => {
  const waiting: Array<Waiting> = []
  let waitingBytes = 0
  let worker: Worker | null = null
  let running: { readonly id: number; readonly batch: ReadonlyArray<Waiting>; readonly patience: Timer } | null = null
  let idle: Timer | null = null
  let lastId = 0
  let isClosed = false
  /** The thread has done something. One that never has cannot be started here. */
  let hasWorked = false
  let runsHere = false
  const reportOf = makeJobs()
  /** True when it has the history of prompts. */
  let isKept = false

  const stop = (): void => {
    idle?.cancel()
    idle = null
    isKept = false
    const stopped = worker
    worker = null
    void stopped?.terminate()
  }

  /** `reports` null: none of them was done. */
  const finish = (reports: ReportsMessage["reports"] | null): void => {
    const finished = running
    running = null
    if (finished === null) return
    finished.patience.cancel()
    for (const [index, { bytes, done }] of finished.batch.entries()) {
      waitingBytes -= bytes
      done(reports?.[index] ?? null)
    }
    next()
  }

  const runHere = async (batch: ReadonlyArray<Waiting>): Promise<void> => {
    const reports: Array<Reports[keyof Reports] | null> = []
    for (const { job } of batch) reports.push(await reportOf(job).catch(() => null))
    finish(reports)
  }

  /** The next to be done: one, or several small ones. */
  const take = (): ReadonlyArray<Waiting> => {
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

  const died = (failed: Worker): void => {
    if (failed !== worker) return
    stop()
    if (hasWorked || running === null) return finish(null)
    runsHere = true
    void runHere(running.batch)
  }

  const ready = (): Worker => {
    if (worker !== null) return worker
    const started = startWorker(file)
    started.on("message", (told: Told) => {
      hasWorked = true
      if (started === worker && told.id === running?.id) finish(reportsIn(told))
    })
    started.on("error", () => died(started))
    started.on("exit", () => died(started))
    // An idle thread must not keep the process alive.
    started.unref()
    worker = started
    return started
  }

  const next = (): void => {
    if (running !== null || isClosed) return
    const batch = take()
    if (batch.length === 0) {
      if (worker !== null) idle ??= timers.after(isKept ? keptMs : idleMs, stop)
      return
    }
    idle?.cancel()
    idle = null
    const tooLong = (): void => {
      hasWorked = true
      stop()
      finish(null)
    }
    lastId += 1
    running = { id: lastId, batch, patience: timers.after(timeoutMs, tooLong) }
    if (runsHere) return void runHere(batch)
    isKept ||= batch.some(({ job }) => job.kind === "cache" || job.kind === "exchange")
    const { message, transfer } = packedJobs(batch.map(({ job }) => job))
    ready().postMessage({ id: lastId, ...message }, transfer)
  }

  /** Adds a job, and returns whether it may wait. */
  const add = (job: Job, done: Waiting["done"]): boolean => {
    const bytes = bytesOf(job)
    const mostBytes = maxWaitingBytes + (isSmall({ bytes, job }) ? smallReserveBytes : 0)
    const isFull = waiting.length >= maxWaitingJobs || (waitingBytes > 0 && waitingBytes + bytes > mostBytes)
    if (isClosed || isFull) {
      done(null)
      return false
    }
    waitingBytes += bytes
    waiting.push({ job, bytes, done })
    return true
  }

  const run = (job: Job): Promise<Reports[keyof Reports] | null> =>
    new Promise((done) => {
      if (add(job, done)) next()
    })

  let isTurnAwaited = false
  const endOfTurn = (): void => {
    isTurnAwaited = false
    next()
  }

  const runExchange = (exchange: ExchangeJob, done: (report: ExchangeReport | null) => void): void => {
    // The thread answers a job with the report of its kind.
    if (!add({ kind: "exchange", exchange }, done as Waiting["done"]) || isTurnAwaited) return
    isTurnAwaited = true
    void Promise.resolve().then(endOfTurn)
  }

  return {
    // The thread answers a job with the report of its kind.
    run: run as WorkThread["run"],
    runExchange,
    isRunning: () => worker !== null,
    close: () => {
      isClosed = true
      stop()
      for (const each of waiting.splice(0)) each.done(null)
      finish(null)
    }
  }
}
