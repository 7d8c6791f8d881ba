/** Records attempts, those of one turn in one transaction. A full or broken database holds deliveries up; it loses none. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { OutboxRepo, RecordedAttempt } from "./OutboxRepo.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

interface Pending {
  readonly attempt: RecordedAttempt
  readonly done: Deferred.Deferred<void>
}

/** Rows of one transaction, which blocks the process. */
const batch = 100

export type Record = (attempt: RecordedAttempt) => Effect.Effect<void>

/** `disabled` is called with the webhooks that were found disabled after their attempts were recorded. */
export const make = (repo: typeof OutboxRepo.Service, disabled: (ids: ReadonlyArray<string>) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    const some = yield* Effect.makeLatch(false)
    const pending: Array<Pending> = []

    const flush = Effect.suspend(() => {
      some.unsafeClose()
      const taken = pending.slice(0, batch)
      if (taken.length === 0) return Effect.void
      return repo.record(taken.map(({ attempt }) => attempt)).pipe(
        Effect.tapError((error) =>
          Effect.logError(`Deliveries to webhooks wait for the database: ${asSentence(error.message)}`)
        ),
        Effect.retry(Schedule.spaced("1 second")),
        Effect.orDie,
        Effect.flatMap((ids) => {
          pending.splice(0, taken.length)
          for (const { done } of taken) Deferred.unsafeDone(done, Effect.void)
          if (pending.length > 0) some.unsafeOpen()
          return ids.length === 0 ? Effect.void : disabled(ids)
        })
      )
    })

    yield* some.await.pipe(Effect.zipRight(flush), Effect.forever, Effect.forkScoped)

    const record: Record = (attempt) =>
      Effect.flatMap(Deferred.make<void>(), (done) => {
        pending.push({ attempt, done })
        some.unsafeOpen()
        return Deferred.await(done)
      })
    return record
  })
