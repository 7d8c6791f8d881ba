/** Waits of a request: never longer than it may take, not for a client that has left, and not past the stop of the gateway. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Timers from "../../platform/Timers.ts"
import type * as Settings from "../../resilience/Settings.ts"
import { whileClientStays } from "../ClientStays.ts"
import * as StopSignal from "../StopSignal.ts"
import type { Work } from "../Exchange.ts"

export interface Pauses {
  /** What is left of the whole request's time; not positive when it is over. */
  readonly leftMs: (work: Work) => number
  /** False when the client has left, the gateway stops, or the wait would outlast the request: then nobody waits. */
  readonly pause: (work: Work, delayMs: number) => Effect.Effect<boolean>
  /** The result; null when it does not come in time, the client leaves, or the gateway stops. */
  readonly within: <A>(work: Work, wait: Effect.Effect<A>) => Effect.Effect<A | null>
}

interface PauseRooms {
  readonly timers: Pick<typeof Timers.Timers.Service, "monotonicMs">
  readonly settings: Pick<typeof Settings.Settings.Service, "current">
  readonly stop: typeof StopSignal.StopSignal.Service
}

export const makePauses = ({ settings, stop, timers }: PauseRooms): Pauses => {
  const leftMs = ({ exchange }: Work): number =>
    settings.current().timeouts.totalMs - (timers.monotonicMs() - exchange.startedMs)

  /** Fails when nobody is to wait any more. */
  const waiting = <A>(work: Work, wait: Effect.Effect<A>) =>
    StopSignal.unlessStopped(stop, whileClientStays(work.exchange.reply, wait))

  return {
    leftMs,
    pause: (work, delayMs) => {
      if (delayMs <= 0) return Effect.sync(() => !work.exchange.reply.isClosed() && !stop.isStopping())
      if (delayMs >= leftMs(work)) return Effect.succeed(false)
      return Effect.match(waiting(work, Effect.sleep(delayMs)), {
        onFailure: () => false,
        onSuccess: () => true
      })
    },
    within: (work, wait) =>
      Effect.match(waiting(work, Effect.timeoutOption(wait, Math.max(1, leftMs(work)))), {
        onFailure: () => null,
        onSuccess: Option.getOrNull
      })
  }
}
