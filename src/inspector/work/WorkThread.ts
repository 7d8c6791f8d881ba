/**
 * Runs jobs on a thread, which starts with the first and ends when it was idle for a while. Jobs are done one after the other; what waits is
 * bounded by its bytes. Where the thread cannot start (a Node that reads no TypeScript, from source), jobs run here.
 */
import { Worker } from "node:worker_threads"
import type { Timer, Timers } from "../../platform/Timers.ts"
import { bytesOfCacheJob } from "../cache/CacheJob.ts"
import { type Job, makeJobs, type Reports } from "./ThreadJobs.ts"
import { bytesOfView } from "./ViewJobs.ts"
import { bytesOfTask } from "./Work.ts"

export interface ThreadLimits {
  /** Bytes of bodies that wait. */
  readonly maxWaitingBytes: number
  readonly maxWaitingJobs: number
  /** For one job, the start of the thread included. */
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
  /** Whether a thread runs now. */
  readonly isRunning: () => boolean
  readonly close: () => void
}

interface Waiting {
  readonly id: number
  readonly job: Job
  readonly bytes: number
  readonly done: (report: Reports[keyof Reports] | null) => void
}

type Told =
  | { readonly id: number; readonly report: Reports[keyof Reports] }
  | { readonly id: number; readonly problem: string }

const bytesOf = (job: Job): number => {
  switch (job.kind) {
    case "task":
      return bytesOfTask(job.task)
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
  let running: { readonly waiting: Waiting; readonly patience: Timer } | null = null
  let idle: Timer | null = null
  let lastId = 0
  let isClosed = false
  /** The thread has done something. One that never has cannot be started here. */
  let hasWorked = false
  let runsHere = false
  const reportOf = makeJobs()
  /** It has the history of prompts. */
  let isKept = false

  const stop = (): void => {
    idle?.cancel()
    idle = null
    isKept = false
    const stopped = worker
    worker = null
    void stopped?.terminate()
  }

  const finish = (report: Reports[keyof Reports] | null): void => {
    const finished = running
    running = null
    if (finished === null) return
    finished.patience.cancel()
    waitingBytes -= finished.waiting.bytes
    finished.waiting.done(report)
    next()
  }

  const runHere = (each: Waiting): void => {
    reportOf(each.job).then(
      (report) => finish(report),
      () => finish(null)
    )
  }

  const died = (failed: Worker): void => {
    if (failed !== worker) return
    stop()
    if (hasWorked || running === null) return finish(null)
    runsHere = true
    runHere(running.waiting)
  }

  const ready = (): Worker => {
    if (worker !== null) return worker
    const started = startWorker(file)
    started.on("message", (told: Told) => {
      hasWorked = true
      if (started === worker && told.id === running?.waiting.id) finish("report" in told ? told.report : null)
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
    const each = waiting.shift()
    if (each === undefined) {
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
    running = { waiting: each, patience: timers.after(timeoutMs, tooLong) }
    if (runsHere) return runHere(each)
    isKept ||= each.job.kind === "cache"
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    ready().postMessage({ id: each.id, job: each.job })
  }

  const enqueue = (job: Job): Promise<Reports[keyof Reports] | null> =>
    new Promise((done) => {
      const bytes = bytesOf(job)
      if (
        isClosed ||
        waiting.length >= maxWaitingJobs ||
        (waitingBytes > 0 && waitingBytes + bytes > maxWaitingBytes)
      ) {
        return done(null)
      }
      lastId += 1
      waitingBytes += bytes
      waiting.push({ id: lastId, job, bytes, done })
      next()
    })

  return {
    // The thread answers a job with the report of its kind.
    run: enqueue as WorkThread["run"],
    isRunning: () => worker !== null,
    close: () => {
      isClosed = true
      stop()
      for (const each of waiting.splice(0)) each.done(null)
      finish(null)
    }
  }
}
