/**
 * Waiting for a database that another process holds. SQLite's own wait (`busy_timeout`) blocks the thread, and with it every stream of the
 * process. Here a write that finds the database locked waits by a timer and is tried again; reads and everything else go on. Writes that
 * wait go in the order in which they came, so that an older value never replaces a newer one.
 */
import { SqlError } from "@effect/sql/SqlError"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { codeOf } from "../Errors.ts"

/**
 * Time in ms that a write waits for another process before it fails. The usual wait is that of work in the background; a write that
 * answers a request waits less.
 */
export class LockWait extends Context.Reference<LockWait>()("gateway/store/engine/LockWait", {
  defaultValue: (): number => 30_000
}) {}

/** Time in ms that the write of a request waits. */
export const requestWaitMs = 10_000

/** The same effect, whose writes wait at most so long for a database that another process holds. */
export const waitingAtMost =
  (waitMs: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(effect, LockWait, waitMs)

/** The same effect, whose writes do not wait: for what can be written later, or left out. */
export const withoutWaiting = waitingAtMost(0)

/** Time in ms that a reader waits for the rows that are on their way. */
const readerWaitMs = 1_000

/** Waits for writes on behalf of a reader; they go on behind it when they take longer. */
export const forReader = <E, R>(writes: Effect.Effect<unknown, E, R>): Effect.Effect<void, E, R> =>
  Effect.asVoid(Effect.timeoutOption(Effect.disconnect(writes), readerWaitMs))

/** Writes that wait at most; beyond it they fail at once. */
export const mostWaiting = 10_000

/** Checks whether another connection holds the lock that a statement needs. */
export const isBusy = (error: unknown): boolean => {
  const code = codeOf(error)
  return code !== null && (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED"))
}

/** Pauses between tries: most locks of other programs last for milliseconds. */
const pausesMs = [1, 2, 5, 10, 20]
const longestPauseMs = 50

const pauseMs = (tries: number): number => pausesMs[tries] ?? longestPauseMs

/** Time at which a wait that begins now is over. */
interface Deadline {
  readonly atMs: number
  readonly waitMs: number
}

/** Time in ms for which all waits together go on after the stop of the service began. */
const closingMs = 5_000

/** The stop of the service, which ends every wait of it. */
export interface Closing {
  /** Null while the service runs. */
  atMs: number | null
}

const running: Closing = { atMs: null }

const waking = (resume: (ready: Effect.Effect<void>) => void) => (): void => resume(Effect.void)

const deadline: Effect.Effect<Deadline> = Effect.zipWith(LockWait, Clock.currentTimeMillis, (waitMs, nowMs) => ({
  atMs: nowMs + waitMs,
  waitMs
}))

/** Computes the rest of a wait in ms. A clock that was set back must not keep a write for longer. */
const leftMs = ({ atMs, waitMs }: Deadline, closing: Closing): Effect.Effect<number> =>
  Effect.map(Clock.currentTimeMillis, (nowMs) => {
    if (atMs - nowMs > waitMs) return 0
    return Math.max(0, Math.min(atMs, closing.atMs ?? Number.POSITIVE_INFINITY) - nowMs)
  })

/** Tries again after `first`, which found the database locked. */
const retried = <A, E>(
  attempt: Effect.Effect<A, E>,
  first: E,
  until: Deadline,
  closing: Closing
): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    for (let tries = 0; ; tries += 1) {
      const left = yield* leftMs(until, closing)
      if (left === 0) return yield* Effect.fail(first)
      yield* Effect.sleep(Math.min(pauseMs(tries), left))
      const result = yield* Effect.either(attempt)
      if (result._tag === "Right") return result.right
      if (!isBusy(result.left)) return yield* Effect.fail(result.left)
    }
  })

/** Tries until the database is free. `attempt` must leave nothing behind when it finds the database locked. */
export const untilFree = <A, E>(
  attempt: Effect.Effect<A, E>,
  closing: Closing = running,
  begun = deadline
): Effect.Effect<A, E> =>
  Effect.catchAll(attempt, (first) =>
    isBusy(first) ? Effect.flatMap(begun, (until) => retried(attempt, first, until, closing)) : Effect.fail(first)
  )

interface Place {
  wake: (() => void) | null
}

export interface WriteQueue {
  readonly closing: Closing
  /** The stop of the service: all waits are over some seconds after what it takes until then. The earliest end counts. */
  readonly close: (untilThenMs: number) => Effect.Effect<void>
  /** Hot: tells whether a write waits for another process, so that a new one has to wait behind it. */
  readonly isWaiting: () => boolean
  /** Tries, as the first of those that wait, until the database is free. */
  readonly wait: <A>(attempt: Effect.Effect<A, SqlError>) => Effect.Effect<A, SqlError>
}

const locked = (detail: string) =>
  new SqlError({
    cause: Object.assign(new Error(`database is locked, and ${detail}`), { code: "SQLITE_BUSY" }),
    message: "Failed to execute statement"
  })

const tooMany = locked("too many writes wait for it")
const neverFirst = locked("writes that came before wait for it")

export const make = (): WriteQueue => {
  const closing: Closing = { atMs: null }
  const places: Array<Place> = []

  /**
   * Waits until a place is the first, the only one that tries. A place stays in the queue until its write is over, so that an
   * interruption cannot lose the turn. The wait for the turn counts: a write that may wait for long does not keep one behind it beyond
   * its own bound.
   */
  const untilFirst = (place: Place, until: Deadline): Effect.Effect<void, SqlError> =>
    Effect.suspend(() => {
      if (places[0] === place) return Effect.void
      const turn = Effect.async<void>((resume) => {
        // The one before may have left since.
        if (places[0] === place) resume(Effect.void)
        else place.wake = waking(resume)
      })
      return Effect.flatMap(leftMs(until, closing), (left) =>
        // A transaction begins in what cannot be interrupted, and a race there would wait for the one that has lost.
        Effect.raceFirst(
          Effect.interruptible(turn),
          Effect.interruptible(Effect.zipRight(Effect.sleep(left), Effect.fail(neverFirst)))
        )
      )
    })

  const leave = (place: Place): void => {
    const index = places.indexOf(place)
    if (index >= 0) places.splice(index, 1)
    if (index === 0) places[0]?.wake?.()
  }

  const inTurn = <A>(attempt: Effect.Effect<A, SqlError>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const place: Place = { wake: null }
        places.push(place)
        return place
      }),
      (place) =>
        Effect.flatMap(deadline, (until) =>
          Effect.zipRight(untilFirst(place, until), untilFree(attempt, closing, Effect.succeed(until)))
        ),
      (place) => Effect.sync(() => leave(place))
    )

  return {
    closing,
    close: (untilThenMs) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => {
        closing.atMs = Math.min(closing.atMs ?? Number.POSITIVE_INFINITY, nowMs + untilThenMs + closingMs)
      }),
    isWaiting: () => places.length > 0,
    wait: (attempt) => Effect.suspend(() => (places.length >= mostWaiting ? Effect.fail(tooMany) : inTurn(attempt)))
  }
}
