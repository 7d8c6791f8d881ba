/**
 * Decides whether a session that was lost comes back. The SDK opens lost sessions again by itself, after 50 ms, 2.5 s and then minutes,
 * and never reports that it has: a heartbeat comes from every connection, also from one on which the login is then refused.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"

export type SessionEvent = { readonly _tag: "Lost"; readonly reason: string } | { readonly _tag: "Heartbeat" }

export interface WatchLimits {
  /** Time in ms that the SDK may try: its first three tries fit in. */
  readonly graceMs: number
  /** Time in ms without a loss after a heartbeat, after which it is open again. */
  readonly calmMs: number
}

export const watchLimits: WatchLimits = { graceMs: 10_000, calmMs: 2_000 }

/** More are dropped, the oldest first: the last one decides. */
export const mostPendingEvents = 64

type Events = Queue.Dequeue<SessionEvent>

const nextLoss = (events: Events): Effect.Effect<string> =>
  Effect.flatMap(Queue.take(events), (event) =>
    event._tag === "Lost" ? Effect.succeed(event.reason) : nextLoss(events)
  )

const comesBack = (events: Events, calmMs: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    const event = yield* Queue.take(events)
    if (event._tag === "Lost") return yield* comesBack(events, calmMs)
    const again = yield* Effect.timeoutOption(nextLoss(events), calmMs)
    if (again._tag === "Some") return yield* comesBack(events, calmMs)
  })

/** Runs until a session is lost for longer than `graceMs`, and gives the reason of the first loss. `onBack`: it was, and is open again. */
export const watchSession = (
  events: Events,
  { calmMs, graceMs }: WatchLimits,
  onBack: Effect.Effect<void>
): Effect.Effect<string> =>
  Effect.gen(function* () {
    for (;;) {
      const reason = yield* nextLoss(events)
      yield* Effect.logWarning("The session of the token tunnel was lost", { reason })
      const resumed = yield* Effect.timeoutOption(comesBack(events, calmMs), graceMs)
      if (resumed._tag === "None") return reason
      yield* Effect.logInfo("The session of the token tunnel is open again")
      yield* onBack
    }
  })
