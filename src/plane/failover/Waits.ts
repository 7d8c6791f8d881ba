/** The waits of a request. They end when its total time is over, when the client disconnects, and when the gateway stops. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Timers from "../../platform/Timers.ts"
import * as Settings from "../resilience/Settings.ts"
import { unlessDisconnected } from "../request/ClientDisconnect.ts"
import * as StopSignal from "../request/StopSignal.ts"
import type { Work } from "../request/Exchange.ts"
import type { Release } from "../resilience/ConcurrencyGate.ts"

export class Waits extends Context.Tag("gateway/plane/failover/Waits")<
  Waits,
  {
    /** Returns the rest of the whole request's time in ms; not positive when it is over. */
    readonly leftMs: (work: Work) => number
    /** False when the client has left, the gateway stops, or the wait would outlast the request: then it is broken off. */
    readonly pause: (work: Work, delayMs: number) => Effect.Effect<boolean>
    /** The result; null when it does not come in time, the client leaves, or the gateway stops. */
    readonly within: <A>(work: Work, wait: Effect.Effect<A>) => Effect.Effect<A | null>
    /** The same for a place, which is released when it comes in the very moment the wait is over. */
    readonly forPlace: (work: Work, wait: Effect.Effect<Release | null>) => Effect.Effect<Release | null>
  }
>() {}

export const make = Effect.gen(function* () {
  const settings = yield* Settings.Settings
  const stop = yield* StopSignal.StopSignal
  const timers = yield* Timers.Timers

  const leftMs = ({ exchange }: Work): number =>
    settings.current().timeouts.totalMs - (timers.monotonicMs() - exchange.startedMs)

  /** Fails when there is nothing to wait for any more. */
  const waiting = <A>(work: Work, wait: Effect.Effect<A>) =>
    StopSignal.unlessStopped(stop, unlessDisconnected(work.exchange.reply, wait))

  const within = <A>(work: Work, wait: Effect.Effect<A>): Effect.Effect<A | null> =>
    Effect.match(waiting(work, Effect.timeoutOption(wait, Math.max(1, leftMs(work)))), {
      onFailure: () => null,
      onSuccess: Option.getOrNull
    })

  return Waits.of({
    leftMs,
    pause: (work, delayMs) => {
      if (delayMs >= leftMs(work)) return Effect.succeed(false)
      return Effect.match(waiting(work, Effect.sleep(delayMs)), {
        onFailure: () => false,
        onSuccess: () => true
      })
    },
    within,
    forPlace: (work, wait) =>
      Effect.suspend(() => {
        let permit: Release | null = null
        const noting = Effect.uninterruptibleMask((restore) =>
          Effect.map(restore(wait), (release) => (permit = release))
        )
        return Effect.map(within(work, noting), (release) => {
          if (release === null) permit?.()
          return release
        })
      })
  })
})

export const layer: Layer.Layer<Waits, never, Settings.Settings | StopSignal.StopSignal | Timers.Timers> = Layer.effect(
  Waits,
  make
)
