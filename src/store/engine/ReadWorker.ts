/**
 * Long reads of the database, on a worker thread (`readThread.mjs`) with a read-only connection of its own: neither their time nor their
 * memory is the event loop's. The thread starts with the first read, runs one at a time, is started again when it dies, and ends when it
 * has been idle for a while. The queue is bounded; a read that takes too long is given up together with its thread.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Scope } from "effect/Scope"
import { Worker } from "node:worker_threads"
import { AppConfig } from "../../platform/AppConfig.ts"
import { type Timer, Timers } from "../../platform/Timers.ts"
import { databaseFile } from "../DataFolder.ts"

export type ReadValue = string | number | null

export interface ReadStatement {
  /** One of the program's own texts; what comes from outside is a parameter. */
  readonly sql: string
  readonly parameters: ReadonlyArray<ReadValue>
}

export type ReadRow = Readonly<Record<string, ReadValue>>

/** The read was not done. `message` says why, in one sentence. */
export class ReadRefused extends Data.TaggedError("ReadRefused")<{
  /** `busy`: too many wait; `timeout`: it took too long; `failed`: the database refused it, or the thread died. */
  readonly reason: "busy" | "timeout" | "failed"
  readonly message: string
}> {}

export class ReadWorker extends Context.Tag("gateway/store/engine/ReadWorker")<
  ReadWorker,
  {
    /** The rows of each statement, all as of the same moment. An interruption takes the read out of the queue. */
    readonly read: (
      statements: ReadonlyArray<ReadStatement>
    ) => Effect.Effect<ReadonlyArray<ReadonlyArray<ReadRow>>, ReadRefused>
  }
>() {}

export interface ReadLimits {
  /** Time limit in ms of an answer, once the read has begun; starting the thread included. */
  readonly timeoutMs: number
  readonly maxWaiting: number
  /** Rows of one statement; more is an error. */
  readonly maxRows: number
  readonly idleMs: number
}

export const usualLimits: ReadLimits = { timeoutMs: 30_000, maxWaiting: 32, maxRows: 20_000, idleMs: 60_000 }

/** Threads that were given up and still run: a statement of SQLite cannot be stopped from outside. */
const mostAbandoned = 2
const busyTimeoutMs = 5_000

type Answer = ReadonlyArray<ReadonlyArray<ReadRow>>

/** The thread's words. */
type Told = { readonly id: number; readonly results: Answer } | { readonly id: number; readonly problem: string }

interface Job {
  readonly id: number
  readonly statements: ReadonlyArray<ReadStatement>
  readonly done: (answer: Effect.Effect<Answer, ReadRefused>) => void
}

const refused = (reason: ReadRefused["reason"], message: string): Effect.Effect<never, ReadRefused> =>
  new ReadRefused({ reason, message })

const startWorker = (file: string, { maxRows }: ReadLimits): Worker =>
  new Worker(new URL("./readThread.mjs", import.meta.url), {
    workerData: { file, busyTimeoutMs, maxRows },
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 }
  })

export const makeWith = (
  file: string,
  limits: ReadLimits
): Effect.Effect<Context.Tag.Service<ReadWorker>, never, Timers | Scope> =>
  Effect.gen(function* () {
    const timers = yield* Timers
    const waiting: Array<Job> = []
    let worker: Worker | null = null
    let running: { readonly job: Job; readonly patience: Timer } | null = null
    let idle: Timer | null = null
    let abandoned = 0
    let lastId = 0
    let isClosed = false

    const stop = (): void => {
      idle?.cancel()
      idle = null
      const stopped = worker
      worker = null
      if (stopped === null) return
      abandoned += 1
      const over = () => {
        abandoned -= 1
        next()
      }
      stopped.terminate().then(over, over)
    }

    const finish = (answer: Effect.Effect<Answer, ReadRefused>): void => {
      const finished = running
      running = null
      finished?.patience.cancel()
      finished?.job.done(answer)
      next()
    }

    const giveUp = (failed: Worker, answer: Effect.Effect<never, ReadRefused>): void => {
      if (failed !== worker) return
      stop()
      if (running !== null) finish(answer)
    }

    const ready = (): Worker => {
      if (worker !== null) return worker
      const started = startWorker(file, limits)
      started.on("message", (told: Told) => {
        if (started !== worker || told.id !== running?.job.id) return
        finish("results" in told ? Effect.succeed(told.results) : refused("failed", told.problem))
      })
      started.on("error", (error) => giveUp(started, refused("failed", `The reading thread died: ${error.message}`)))
      started.on("exit", () => giveUp(started, refused("failed", "The reading thread ended.")))
      // An idle thread must not keep the process alive.
      started.unref()
      worker = started
      return started
    }

    const next = (): void => {
      if (running !== null || isClosed) return
      // A thread more for each read that was given up would add up.
      if (worker === null && abandoned >= mostAbandoned) return
      const job = waiting.shift()
      if (job === undefined) {
        if (worker !== null) idle ??= timers.after(limits.idleMs, stop)
        return
      }
      idle?.cancel()
      idle = null
      const thread = ready()
      const tooLong = refused("timeout", `The read took longer than ${limits.timeoutMs / 1000} seconds.`)
      running = { job, patience: timers.after(limits.timeoutMs, () => giveUp(thread, tooLong)) }
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      thread.postMessage({ id: job.id, statements: job.statements })
    }

    const read = (statements: ReadonlyArray<ReadStatement>): Effect.Effect<Answer, ReadRefused> =>
      Effect.async((resume) => {
        if (isClosed) return resume(refused("busy", "The gateway stops."))
        if (waiting.length >= limits.maxWaiting) {
          return resume(refused("busy", "Too many long reads are waiting; try again in a moment."))
        }
        lastId += 1
        const job: Job = { id: lastId, statements, done: resume }
        waiting.push(job)
        next()
        return Effect.sync(() => {
          // A running read goes on: its answer is thrown away, and the thread serves the next one.
          const place = waiting.indexOf(job)
          if (place >= 0) waiting.splice(place, 1)
        })
      })

    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isClosed = true
        const stopping = refused("busy", "The gateway stops.")
        stop()
        for (const job of waiting.splice(0)) job.done(stopping)
        if (running !== null) finish(stopping)
      })
    )
    return ReadWorker.of({ read })
  })

export const layer: Layer.Layer<ReadWorker, never, AppConfig | Timers> = Layer.scoped(
  ReadWorker,
  Effect.flatMap(AppConfig, ({ dataDir }) => makeWith(databaseFile(dataDir), usualLimits))
)

/** Layer over the one connection of a database in memory, which no other thread can open. For tests. */
export const layerMemory: Layer.Layer<ReadWorker, never, SqlClient.SqlClient> = Layer.effect(
  ReadWorker,
  Effect.map(SqlClient.SqlClient, (client) =>
    ReadWorker.of({
      read: (statements) =>
        Effect.forEach(
          statements,
          ({ parameters, sql }) => client.unsafe<ReadRow>(sql, parameters).withoutTransform
        ).pipe(Effect.mapError(({ message }) => new ReadRefused({ reason: "failed", message })))
    })
  )
)
