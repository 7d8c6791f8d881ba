/**
 * Checks large requests on a thread (`guardThread.mjs`), which starts with the first and ends when it was idle for a while: one at a time, and
 * what waits is bounded by its bytes. Where the thread cannot start (a Node that reads no TypeScript, from source), they are checked here.
 */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { Worker } from "node:worker_threads"
import { type Timer, Timers } from "../../../../platform/Timers.ts"
import type { GuardJob, GuardReport } from "./GuardJob.ts"

export interface GuardThreadLimits {
  /** Bytes of requests that wait. */
  readonly maxWaitingBytes: number
  /** Time limit in ms for one request, the start of the thread included. */
  readonly timeoutMs: number
  readonly idleMs: number
}

export const usualGuardThreadLimits: GuardThreadLimits = {
  maxWaitingBytes: 256 * 1_048_576,
  timeoutMs: 30_000,
  idleMs: 60_000
}

/** `late`: it took too long, or too much waits. `failed`: a guardrail is at fault. */
export type Guarding = GuardReport | "late" | "failed"

export interface GuardThread {
  /** Interruption takes it out of the queue; what is in progress is not stopped. */
  readonly run: (job: GuardJob) => Effect.Effect<Guarding>
}

interface Waiting {
  readonly job: GuardJob
  readonly done: (guarding: Guarding) => void
}

interface Told {
  readonly id: number
  readonly report: GuardReport | null
}

const startWorker = (file: URL): Worker =>
  new Worker(file, {
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 32 }
  })

export const makeGuardThread = (
  { idleMs, maxWaitingBytes, timeoutMs }: GuardThreadLimits = usualGuardThreadLimits,
  file: URL = new URL("./guardThread.mjs", import.meta.url)
): Effect.Effect<GuardThread, never, Timers | Scope> =>
  Effect.gen(function* () {
    const timers = yield* Timers
    const waiting: Array<Waiting> = []
    let waitingBytes = 0
    let worker: Worker | null = null
    let running: { readonly id: number; readonly one: Waiting; readonly patience: Timer } | null = null
    let idle: Timer | null = null
    let lastId = 0
    /** The thread has done something. One that never has cannot be started here. */
    let hasWorked = false

    const stop = (): void => {
      idle?.cancel()
      idle = null
      const stopped = worker
      worker = null
      void stopped?.terminate()
    }

    const finish = (guarding: Guarding): void => {
      const finished = running
      running = null
      if (finished === null) return
      finished.patience.cancel()
      finished.one.done(guarding)
      next()
    }

    const runHere = async ({ job }: Waiting): Promise<Guarding> => {
      const { guardJob } = await import("./GuardJob.ts")
      return guardJob(job)
    }

    const died = (failed: Worker): void => {
      if (failed !== worker) return
      stop()
      if (hasWorked || running === null) return finish("failed")
      void runHere(running.one).then(finish, () => finish("failed"))
    }

    const ready = (): Worker => {
      if (worker !== null) return worker
      const started = startWorker(file)
      started.on("message", ({ id, report }: Told) => {
        hasWorked = true
        if (started === worker && id === running?.id) finish(report ?? "failed")
      })
      started.on("error", () => died(started))
      started.on("exit", () => died(started))
      // An idle thread must not keep the process alive.
      started.unref()
      worker = started
      return started
    }

    const next = (): void => {
      if (running !== null) return
      const one = waiting.shift()
      if (one === undefined) {
        if (worker !== null) idle ??= timers.after(idleMs, stop)
        return
      }
      waitingBytes -= one.job.body.length
      idle?.cancel()
      idle = null
      lastId += 1
      const tooLong = (): void => {
        hasWorked = true
        stop()
        finish("late")
      }
      running = { id: lastId, one, patience: timers.after(timeoutMs, tooLong) }
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      ready().postMessage({ id: lastId, job: one.job })
    }

    yield* Effect.addFinalizer(() => Effect.sync(stop))
    return {
      run: (job) =>
        Effect.async((resume) => {
          const bytes = job.body.length
          if (waitingBytes > 0 && waitingBytes + bytes > maxWaitingBytes) return resume(Effect.succeed("late"))
          const one: Waiting = { job, done: (guarding) => resume(Effect.succeed(guarding)) }
          waitingBytes += bytes
          waiting.push(one)
          next()
          return Effect.sync(() => {
            const place = waiting.indexOf(one)
            if (place < 0) return
            waiting.splice(place, 1)
            waitingBytes -= bytes
          })
        })
    }
  })
