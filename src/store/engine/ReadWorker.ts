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
import { AppConfig } from "../../platform/AppConfig.ts"
import { makeQuestions } from "../../platform/JobThread.ts"
import type { Timers } from "../../platform/Timers.ts"
import { databaseFile } from "../DataFolder.ts"

export type ReadValue = string | number | null

export interface ReadStatement {
  /** One of the program's own texts; what comes from outside is a parameter. */
  readonly sql: string
  /** Over Postgres, where that is another one. */
  readonly postgres?: string
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

const busyTimeoutMs = 5_000

type Answer = ReadonlyArray<ReadonlyArray<ReadRow>>

/** Answer of the thread (`readThread.mjs`). */
type ThreadAnswer = { readonly results: Answer } | { readonly problem: string }

const refused = (reason: ReadRefused["reason"], message: string): Effect.Effect<never, ReadRefused> =>
  new ReadRefused({ reason, message })

export const makeWith = (
  file: string,
  { idleMs, maxRows, maxWaiting, timeoutMs }: ReadLimits
): Effect.Effect<Context.Tag.Service<ReadWorker>, never, Timers | Scope> =>
  Effect.gen(function* () {
    const ask = yield* makeQuestions<ReadonlyArray<ReadStatement>, ThreadAnswer>({
      thread: {
        file: new URL("./readThread.mjs", import.meta.url),
        workerData: { file, busyTimeoutMs, maxRows },
        resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 }
      },
      timeoutMs,
      idleMs,
      maxWaiting,
      message: (statements) => ({ message: { statements } })
    })
    const read = (statements: ReadonlyArray<ReadStatement>): Effect.Effect<Answer, ReadRefused> =>
      Effect.flatMap(ask(statements), (outcome) => {
        switch (outcome._tag) {
          case "Answered": {
            const { answer } = outcome
            return "results" in answer ? Effect.succeed(answer.results) : refused("failed", answer.problem)
          }
          case "Late":
            return refused("timeout", `The read took longer than ${timeoutMs / 1000} seconds.`)
          case "Died":
            return refused("failed", `The reading thread ${outcome.reason}`)
          case "Full":
            return refused("busy", "Too many long reads are waiting; try again in a moment.")
          case "Closed":
            return refused("busy", "The gateway stops.")
        }
      })
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
