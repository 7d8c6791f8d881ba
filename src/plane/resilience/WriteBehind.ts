/**
 * Writes changed state to the store: at once on `flush`, otherwise soon after the change, many changes in one go. What cannot be written
 * stays marked, is logged, and is tried again after a while and on the next `flush`.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { makeLane } from "../../kernel/Lane.ts"
import type { StoreError } from "../../store/Errors.ts"
import { Claims } from "../state/Claims.ts"

export interface WriteBehind {
  /** Hot: marks a key as changed. */
  readonly touch: (key: string) => void
  /** Waits until everything marked before is in the store, or could not be written (which is logged). Never fails. */
  readonly flush: Effect.Effect<void>
}

/**
 * Pauses between rounds without a `flush`: repeated changes meanwhile are written once. Ten times as long as the round took, so that
 * writing is a small part of the work however much changes, and a crash loses next to nothing while little does.
 */
const pauseAfter = (round: Duration.Duration): Effect.Effect<void> =>
  Effect.sleep(Duration.clamp(Duration.times(round, 10), { minimum: Duration.millis(1), maximum: Duration.millis(50) }))

/** Schedule after a round that could not write everything. */
const again = Schedule.exponential("1 second").pipe(Schedule.union(Schedule.spaced("10 seconds")))

export const makeWriteBehind = (
  what: string,
  write: (key: string) => Effect.Effect<void, StoreError>
): Effect.Effect<WriteBehind, never, Scope.Scope> =>
  Effect.gen(function* () {
    // What other processes learn is told to this one, or the other way round: one of them writes it.
    const { holds } = yield* Claims
    if (!holds("health")) return { touch: () => {}, flush: Effect.void }
    const changed = new Set<string>()
    const someChange = yield* Effect.makeLatch(false)
    const oneAtATime = makeLane(1)
    let writing = false

    const touch = (key: string): void => {
      changed.add(key)
      someChange.unsafeOpen()
    }

    /** Unmarked before it is read, so that a change during the write is written again. False when it stays marked. */
    const writeOne = (key: string): Effect.Effect<boolean> =>
      Effect.suspend(() => {
        changed.delete(key)
        return write(key)
      }).pipe(
        Effect.exit,
        Effect.flatMap((exit) => {
          if (Exit.isSuccess(exit)) return Effect.succeed(true)
          touch(key)
          return Effect.as(
            Effect.logError(`${what} of ${key} is not stored and will be tried again`, exit.cause),
            false
          )
        }),
        Effect.uninterruptible
      )

    /** Fails when something stays marked that could not be written. */
    const round = Effect.suspend(() => {
      writing = true
      return Effect.forEach([...changed], writeOne)
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          writing = false
          if (changed.size === 0) someChange.unsafeClose()
        })
      ),
      Effect.filterOrFail(
        (written) => written.every(Boolean),
        () => "unwritten" as const
      ),
      oneAtATime.inTurn
    )

    const flush = Effect.suspend(() => (changed.size === 0 && !writing ? Effect.void : Effect.ignore(round)))

    yield* someChange.await.pipe(
      Effect.zipRight(Effect.timed(Effect.retry(round, again))),
      Effect.flatMap(([took]) => pauseAfter(took)),
      Effect.forever,
      Effect.forkScoped
    )
    yield* Effect.addFinalizer(() => flush)
    return { touch, flush }
  })
