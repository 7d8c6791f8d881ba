/** Waits of a request: never longer than it may take, and not for a client that has left. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Timers from "../../platform/Timers.ts"
import type * as Settings from "../../resilience/Settings.ts"
import { whileClientStays } from "../ClientStays.ts"
import type { Work } from "../Exchange.ts"

export interface Pauses {
  /** What is left of the whole request's time; not positive when it is over. */
  readonly leftMs: (work: Work) => number
  /** False when the client has left, or the wait would outlast the request: then nobody waits. */
  readonly pause: (work: Work, delayMs: number) => Effect.Effect<boolean>
  /** The result; null when it does not come in time, or the client leaves. */
  readonly within: <A>(work: Work, wait: Effect.Effect<A>) => Effect.Effect<A | null>
}

interface PauseRooms {
  readonly timers: Pick<typeof Timers.Timers.Service, "monotonicMs">
  readonly settings: Pick<typeof Settings.Settings.Service, "current">
}

export const makePauses = ({ settings, timers }: PauseRooms): Pauses => {
  const leftMs = ({ exchange }: Work): number =>
    settings.current().timeouts.totalMs - (timers.monotonicMs() - exchange.startedMs)

  return {
    leftMs,
    pause: (work, delayMs) => {
      const { reply } = work.exchange
      if (delayMs <= 0) return Effect.sync(() => !reply.isClosed())
      if (delayMs >= leftMs(work)) return Effect.succeed(false)
      return Effect.match(whileClientStays(reply, Effect.sleep(delayMs)), {
        onFailure: () => false,
        onSuccess: () => true
      })
    },
    within: (work, wait) =>
      Effect.match(whileClientStays(work.exchange.reply, Effect.timeoutOption(wait, Math.max(1, leftMs(work)))), {
        onFailure: () => null,
        onSuccess: Option.getOrNull
      })
  }
}
