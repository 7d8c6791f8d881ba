/**
 * Notifies requests in progress that the gateway stops now: the time they had to finish (`GATEWAY_DRAIN_SECONDS`) is over. Each of
 * them informs its client and ends; no further target is asked.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ShuttingDown } from "../../contract/domain/Errors.ts"
import { Listeners } from "../../kernel/collections/Listeners.ts"

export class StopSignal extends Context.Tag("gateway/plane/request/StopSignal")<
  StopSignal,
  {
    /** Hot. */
    readonly isStopping: () => boolean
    /** Hot: the listener runs when the time is over; at once when it is. The returned function takes it out. */
    readonly onStop: (listener: () => void) => () => void
    readonly stop: () => void
  }
>() {}

const nothing = (): void => {}

/** Interrupts `work` and fails when the gateway stops before it is done. */
export const unlessStopped = <A, E>(
  { isStopping, onStop }: Pick<typeof StopSignal.Service, "isStopping" | "onStop">,
  work: Effect.Effect<A, E>
): Effect.Effect<A, E | ShuttingDown> =>
  Effect.suspend(() => {
    if (isStopping()) return Effect.fail(new ShuttingDown())
    const stopped = Effect.async<never, ShuttingDown>((resume) =>
      Effect.sync(onStop(() => resume(Effect.fail(new ShuttingDown()))))
    )
    return Effect.raceFirst(work, stopped)
  })

export const make = () => {
  const listeners = new Listeners()
  let stopping = false
  return StopSignal.of({
    isStopping: () => stopping,
    onStop: (listener) => {
      if (!stopping) return listeners.add(listener)
      listener()
      return nothing
    },
    stop: () => {
      if (stopping) return
      stopping = true
      listeners.tell()
      listeners.clear()
    }
  })
}

export const layer: Layer.Layer<StopSignal> = Layer.sync(StopSignal, make)
