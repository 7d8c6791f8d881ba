/**
 * The last way: a model that rests after a passing failure is asked all the same where nobody else is left, one request at a time per
 * connection. Whoever comes meanwhile stands in line for that answer: a good one lets everybody in, after a bad one the next may ask.
 */
import * as Effect from "effect/Effect"
import type * as Timers from "../../platform/Timers.ts"
import type * as ConcurrencyGate from "../../resilience/ConcurrencyGate.ts"
import type * as Settings from "../../resilience/Settings.ts"
import type { Target } from "../../routing/ModelResolver.ts"
import type { TargetHealth, Unready } from "../../routing/TargetHealth.ts"
import { type LoopEnd, clientLeft, fullUntil, queueFull } from "./LoopEnd.ts"
import type { BeginCall } from "./Calling.ts"
import type { Pauses } from "./Pauses.ts"
import { noLongerThan, type PlaceRooms } from "./Places.ts"
import type { Place } from "../../resilience/ConnectionDoor.ts"
import { leaveOut, type Outcome, type Round, type Turn } from "./Round.ts"

type Release = ConcurrencyGate.Release

export interface LastWayRooms {
  readonly gate: PlaceRooms["gate"] & Pick<typeof ConcurrencyGate.ConcurrencyGate.Service, "inUse">
  readonly health: Pick<typeof TargetHealth.Service, "unready">
  readonly settings: Pick<typeof Settings.Settings.Service, "current">
  readonly timers: Pick<typeof Timers.Timers.Service, "nowMs">
  readonly pauses: Pauses
  readonly placeAt: (round: Round, target: Target) => Place
  readonly begin: BeginCall
  /** How the walk goes on: with an outcome, with a target that has become well, and without one that could not be asked. */
  readonly after: (round: Round, outcome: Outcome) => Effect.Effect<LoopEnd>
  readonly enter: (round: Round, turn: Turn) => Effect.Effect<LoopEnd>
  readonly skip: (round: Round, turn: Turn) => Effect.Effect<LoopEnd>
}

export interface LastWays {
  /** Nobody is asking there. */
  readonly isFree: (turn: Turn) => boolean
  /** A turn at a model that rests, for the reason given. */
  readonly ask: (round: Round, turn: Turn, reason: Unready) => Effect.Effect<LoopEnd>
}

const keyOf = ({ target }: Turn): string => `last way\n${target.account.connection.id}`

/** How the walk goes on once the last way is free for the next. */
type Next = () => Effect.Effect<LoopEnd>

export const makeLastWays = (rooms: LastWayRooms): LastWays => {
  const { after, begin, enter, gate, health, pauses, placeAt, settings, skip, timers } = rooms

  /** Null: it did not come in time, or the rest is over, or the client has left. */
  const take = (round: Round, turn: Turn, { untilMs }: Unready): Effect.Effect<Release | null> =>
    Effect.suspend(() => {
      const { queueDepth, waitTimeoutMs } = settings.current().connectionQueue
      const place = gate.enter(keyOf(turn), 1, queueDepth)
      if (place._tag === "Free") return Effect.succeed(place.release)
      if (place._tag === "Full") return Effect.succeed(null)
      const restMs = Math.max(1, (untilMs ?? 0) - timers.nowMs())
      return waitFor(round, noLongerThan(Math.min(waitTimeoutMs, restMs), place.wait))
    })

  /** The place goes back when the client leaves, or the time is over, in the very moment it comes. */
  const waitFor = (round: Round, wait: Effect.Effect<Release | null>): Effect.Effect<Release | null> => {
    let held: Release | null = null
    const noting = Effect.uninterruptibleMask((restore) => Effect.map(restore(wait), (release) => (held = release)))
    return Effect.map(pauses.within(round.work, noting), (release) => {
      if (release === null) held?.()
      return release
    })
  }

  const placeFor = (round: Round, { target }: Turn): Effect.Effect<Release | null> => {
    const place = placeAt(round, target)
    if (place._tag === "Free") return Effect.succeed(place.release)
    if (place._tag === "Wait") {
      return Effect.tap(waitFor(round, place.wait), (release) =>
        Effect.sync(() => (release === null ? leaveOut(round, target, queueFull) : undefined))
      )
    }
    leaveOut(round, target, fullUntil(place.retryAfterMs, timers.nowMs()))
    return Effect.succeed(null)
  }

  const call = (round: Round, turn: Turn): Effect.Effect<Next> =>
    Effect.flatMap(placeFor(round, turn), (release) => {
      const calling = release === null ? null : begin(round, turn, null, release, Effect.succeed<Outcome>)
      if (calling !== null) return Effect.map(calling, (outcome) => () => after(round, outcome))
      return Effect.succeed(() => skip(round, turn))
    })

  /** Much may have been learned while it stood in line. */
  const look = (round: Round, turn: Turn, hasWay: boolean): Effect.Effect<Next> =>
    Effect.suspend((): Effect.Effect<Next> => {
      const { target } = turn
      if (round.work.exchange.reply.isClosed()) return Effect.succeed(() => Effect.succeed(clientLeft(target)))
      const reason = health.unready(target, timers.nowMs())
      if (reason === null) return Effect.succeed(() => enter(round, turn))
      if (hasWay && reason.lastWay === "rest") return call(round, turn)
      leaveOut(round, target, reason)
      return Effect.succeed(() => skip(round, turn))
    })

  return {
    isFree: (turn) => gate.inUse(keyOf(turn)) === 0,
    ask: (round, turn, reason) =>
      Effect.flatMap(
        Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(restore(take(round, turn, reason)), (release) =>
            Effect.ensuring(
              restore(look(round, turn, release !== null)),
              Effect.sync(() => release?.())
            )
          )
        ),
        (next) => next()
      )
  }
}
