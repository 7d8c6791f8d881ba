/**
 * The audit log. A row waits in memory for the next turn of the event loop, so that an answer does not wait for the disk; a normal stop
 * writes what is left. A database that cannot be written is tried again until it can.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { makeLane } from "../../kernel/Lane.ts"
import type { AuditFilter, AuditRow } from "../audit/entity.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { ReadRefused } from "../../store/engine/ReadWorker.ts"
import { type AuditPage, AuditRepo } from "../audit/repo.ts"
import { forReader } from "../../store/engine/WriteQueue.ts"
import { AuditQueue } from "./AuditQueue.ts"

export class AuditLog extends Context.Tag("gateway/subjects/auth/AuditLog")<
  AuditLog,
  {
    /** Puts a row on its way. Waits for the database only while far too many are on theirs. */
    readonly record: (row: AuditRow) => Effect.Effect<void>
    /** Newest first; sees everything recorded before, unless another process holds the database. */
    readonly page: (
      filter: AuditFilter,
      limit: number,
      offset: number
    ) => Effect.Effect<AuditPage, StoreError | ReadRefused>
  }
>() {}

/** Rows of one statement. */
const batchSize = 500
/** More waiting rows than this hold up the requests that make them; while the database fails, the oldest are given up beyond it. */
const maxWaiting = 10_000
const trimEvery = "1 hour"

const retrySchedule = Schedule.exponential("1 second").pipe(Schedule.union(Schedule.spaced("1 minute")))

export const make = Effect.gen(function* () {
  const repo = yield* AuditRepo
  const { rows, wake } = yield* AuditQueue
  const oneAtATime = makeLane(1)

  const writeBatch = Effect.suspend(() => {
    const batch = rows.slice(0, batchSize)
    return Effect.zipRight(
      repo.add(batch),
      Effect.sync(() => rows.splice(0, batch.length))
    )
  }).pipe(Effect.uninterruptible)

  const writeAll = oneAtATime.inTurn(
    Effect.whileLoop({
      while: () => rows.length > 0,
      body: () => writeBatch,
      step: () => undefined
    })
  )

  const writer = wake.await.pipe(
    Effect.zipRight(wake.close),
    Effect.zipRight(
      Effect.tapError(writeAll, (error) => Effect.logError("The audit log could not be written", error)).pipe(
        Effect.retry(retrySchedule)
      )
    ),
    Effect.forever
  )
  const writing = yield* Effect.forkDaemon(writer)
  yield* Effect.addFinalizer(() =>
    Fiber.interrupt(writing).pipe(
      Effect.zipRight(writeAll),
      Effect.catchAll((error) => Effect.logError(`${rows.length} rows of the audit log could not be written`, error))
    )
  )

  yield* Effect.flatMap(Clock.currentTimeMillis, repo.trim).pipe(
    Effect.catchAll((error) => Effect.logWarning(`Old rows of the audit log could not be removed: ${error.message}`)),
    Effect.repeat(Schedule.spaced(trimEvery)),
    Effect.forkScoped
  )

  const makeRoom = Effect.catchAll(writeAll, () =>
    Effect.logError(
      `The audit log has given up ${rows.splice(0, rows.length - maxWaiting).length} rows: its table cannot be written.`
    )
  )

  return AuditLog.of({
    record: (row) =>
      Effect.suspend(() => {
        rows.push(row)
        return Effect.zipRight(wake.open, rows.length > maxWaiting ? makeRoom : Effect.void)
      }),
    page: (filter, limit, offset) => Effect.zipRight(forReader(writeAll), repo.page(filter, limit, offset))
  })
})

export const layer: Layer.Layer<AuditLog, never, AuditRepo | AuditQueue> = Layer.scoped(AuditLog, make)
