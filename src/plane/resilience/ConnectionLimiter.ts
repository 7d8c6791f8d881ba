/**
 * Limits the calls of each connection: its `max_concurrent`, and for API-key accounts the throttle of the settings (`requestQueue`, off
 * unless it is enabled there or by the flag `RATE_LIMIT_AUTO_ENABLE`). Calls above the limit wait in one bounded queue, first come first served.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import type { Connection } from "../../subjects/connections/entity.ts"
import type { ResilienceSettings } from "../../subjects/resilience/entity.ts"
import { Flags } from "../../subjects/flags/service.ts"
import * as ConcurrencyGate from "./ConcurrencyGate.ts"
import { makeRateLimiter, type RateLimiter } from "./RateLimiter.ts"
import * as Settings from "./Settings.ts"

type Release = ConcurrencyGate.Release

/** Members of a connection that its limits depend on. */
export type LimitedConnection = Pick<Connection, "id" | "maxConcurrent" | "authType">

export type Place =
  | { readonly _tag: "Free"; readonly release: Release }
  /**
   * `wait` joins the line when it is run (nothing is held before) and resolves with the place, or with null when none came in time
   * or the line is full by then. Interruption leaves the line at once, and releases a place that was just taken. To hold on to the
   * place, run it inside `Effect.uninterruptibleMask`.
   */
  | { readonly _tag: "Wait"; readonly wait: Effect.Effect<Release | null> }
  /** `retryAfterMs`: when the throttle lets a call start again, where it is the reason. */
  | { readonly _tag: "Full"; readonly retryAfterMs?: number }

export class ConnectionLimiter extends Context.Tag("gateway/plane/resilience/ConnectionLimiter")<
  ConnectionLimiter,
  {
    /**
     * Hot: asks for a place for one call. A `shared` one is of a quota share, whose limit fails open: with a full queue, or
     * without a place in time, it goes beyond the limit. The throttle holds for it too.
     */
    readonly enter: (connection: LimitedConnection, shared?: boolean) => Place
    /** Returns the number of calls that are in and that wait; connections without any limit are not counted. */
    readonly inUse: (connectionId: string) => number
    readonly waiting: (connectionId: string) => number
  }
>() {}

/** Paces kept at most: beyond it idle ones go, then the oldest. */
const capacity = 10_000

/** A sleeper looks at the settings again after this long. */
const lookAgainMs = 1_000

const full: Place = { _tag: "Full" }
const beyond: Release = () => {}
const unlimited: Place = { _tag: "Free", release: beyond }

type Throttle = ResilienceSettings["requestQueue"]

const services = Effect.all({ gate: ConcurrencyGate.ConcurrencyGate, settings: Settings.Settings, flags: Flags })
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly limiters: LruMap<string, RateLimiter>
  readonly clock: Clock.Clock
}

const throttleOf = ({ flags, settings }: Deps, { authType }: LimitedConnection): Throttle | null => {
  const { requestQueue } = settings.current()
  const isOn = requestQueue.enabled || flags.isOn("RATE_LIMIT_AUTO_ENABLE")
  return isOn && authType === "apikey" ? requestQueue : null
}

const limiterOf = ({ limiters }: Deps, id: string, throttle: Throttle, nowMs: number): RateLimiter => {
  const known = limiters.peek(id)
  if (known !== undefined) return known
  if (limiters.isFull) limiters.prune((idle) => idle.isIdle(throttle, nowMs))
  const limiter = makeRateLimiter()
  limiters.set(id, limiter)
  return limiter
}

/** Key of the queue of calls with a place that may not start yet: a gate with one place. */
const turnsOf = (id: string): string => `${id}\npace`

const limitOf = ({ maxConcurrent }: LimitedConnection, throttle: Throttle | null): number =>
  Math.min(maxConcurrent ?? Number.POSITIVE_INFINITY, throttle?.concurrentRequests ?? Number.POSITIVE_INFINITY)

const waiting = ({ gate }: Deps, id: string): number =>
  gate.waiting(id) + gate.inUse(turnsOf(id)) + gate.waiting(turnsOf(id))

/** Sleeps until the limiter allows a start, and starts. Only the head of the line is here. */
const start = (deps: Deps, connection: LimitedConnection): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
    const throttle = throttleOf(deps, connection)
    if (throttle === null) return Effect.void
    const limiter = limiterOf(deps, connection.id, throttle, nowMs)
    const restMs = limiter.waitMs(throttle, nowMs)
    if (restMs > 0) return Effect.zipRight(Effect.sleep(Math.min(restMs, lookAgainMs)), start(deps, connection))
    return Effect.sync(() => limiter.start(nowMs))
  })

/** A place at the gate; null when its line is full. What is taken is taken note of in the same breath. */
const take = ({ gate }: Deps, key: string, limit: number, depth: number, note: (release: Release) => void) =>
  Effect.uninterruptibleMask((restore) => {
    const place = gate.enter(key, limit, depth)
    if (place._tag === "Full") return Effect.succeed(false)
    const taken = place._tag === "Free" ? Effect.succeed(place.release) : restore(place.wait)
    return Effect.map(taken, (release) => {
      note(release)
      return true
    })
  })

/** Chooses the kind of queue for this call. */
const lineOf = (deps: Deps, connection: LimitedConnection, shared: boolean) => {
  const { connectionQueue, quotaShareConcurrencyLimit } = deps.settings.current()
  const isOpen = shared && quotaShareConcurrencyLimit.enabled
  const { queueDepth, waitTimeoutMs } = isOpen ? quotaShareConcurrencyLimit : connectionQueue
  return { queueDepth, waitTimeoutMs, failsOpen: isOpen && throttleOf(deps, connection) === null }
}

const wait = (deps: Deps, connection: LimitedConnection, shared: boolean): Effect.Effect<Release | null> =>
  Effect.suspend(() => {
    const { id } = connection
    const { failsOpen, queueDepth, waitTimeoutMs } = lineOf(deps, connection, shared)
    const throttle = throttleOf(deps, connection)
    let place: Release | null = null
    let turn: Release | null = null
    const giveTurnBack = Effect.sync(() => turn?.())

    const walk = Effect.gen(function* () {
      const isIn = yield* take(deps, id, limitOf(connection, throttle), queueDepth, (release) => (place = release))
      if (!isIn) return false
      if (throttle === null) return true
      const hasTurn = yield* take(deps, turnsOf(id), 1, Number.POSITIVE_INFINITY, (release) => (turn = release))
      if (hasTurn) yield* start(deps, connection)
      return hasTurn
    })

    return walk.pipe(
      Effect.ensuring(giveTurnBack),
      Effect.timeoutTo({
        duration: throttle?.maxWaitMs ?? waitTimeoutMs,
        onSuccess: (isIn) => isIn,
        onTimeout: () => false
      }),
      // Also a place that came in the same moment as the timeout or the interruption.
      Effect.onExit((exit) => Effect.sync(() => (Exit.isSuccess(exit) && exit.value ? undefined : place?.()))),
      Effect.map((isIn) => (isIn ? place : failsOpen ? beyond : null))
    )
  })

const enter = (deps: Deps, connection: LimitedConnection, shared = false): Place => {
  const { clock, gate } = deps
  const { id } = connection
  const throttle = throttleOf(deps, connection)
  const limit = limitOf(connection, throttle)
  // Calls that wait since there was a limit are let in by the next one without.
  if (limit === Number.POSITIVE_INFINITY && gate.waiting(id) === 0) return unlimited
  const { failsOpen, queueDepth } = lineOf(deps, connection, shared)
  const line = { _tag: "Wait", wait: wait(deps, connection, shared) } as const
  if (throttle !== null) {
    const nowMs = clock.unsafeCurrentTimeMillis()
    const restMs = limiterOf(deps, id, throttle, nowMs).waitMs(throttle, nowMs)
    // A turn that cannot come in time is not waited for.
    if (restMs > throttle.maxWaitMs) return { _tag: "Full", retryAfterMs: restMs }
    if (restMs > 0 || gate.inUse(turnsOf(id)) > 0) return waiting(deps, id) < queueDepth ? line : full
    const place = gate.enter(id, limit, queueDepth)
    if (place._tag === "Free") limiterOf(deps, id, throttle, nowMs).start(nowMs)
    return place._tag === "Queued" ? line : place
  }
  const place = gate.enter(id, limit, queueDepth)
  if (place._tag === "Full" && failsOpen) return unlimited
  return place._tag === "Queued" ? line : place
}

export const make = Effect.gen(function* () {
  const all = yield* services
  const clock = yield* Effect.clock
  const deps: Deps = { ...all, limiters: new LruMap<string, RateLimiter>({ capacity }), clock }

  return ConnectionLimiter.of({
    enter: (connection, shared) => enter(deps, connection, shared),
    inUse: deps.gate.inUse,
    waiting: (id) => waiting(deps, id)
  })
})

export const layer: Layer.Layer<ConnectionLimiter, never, Effect.Effect.Context<typeof services>> = Layer.effect(
  ConnectionLimiter,
  make
)
