/**
 * Admits a bounded number of requests at once (settings `loadShedding`). Further ones are refused with a time to retry, before anything
 * of them is read.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Release } from "./ConcurrencyGate.ts"
import * as Settings from "./Settings.ts"

/** The limit is reached. `retryAfterMs` goes to the client as `Retry-After`. */
export interface Shed {
  readonly retryAfterMs: number
}

export class LoadShedder extends Context.Tag("gateway/resilience/LoadShedder")<
  LoadShedder,
  {
    /** Hot: a place, to be given back when the request is over however it ends (further calls do nothing), or a refusal. */
    readonly enter: () => Release | Shed
    readonly inFlight: () => number
    /** Requests admitted since the start. */
    readonly admitted: () => number
    /** Requests refused since the start. */
    readonly shed: () => number
  }
>() {}

export const isShed = (entered: Release | Shed): entered is Shed => typeof entered !== "function"

export const make = Effect.map(Settings.Settings, (settings) => {
  let inFlight = 0
  let admitted = 0
  let shed = 0

  const enter = (): Release | Shed => {
    const { maxInFlight, retryAfterMs } = settings.current().loadShedding
    if (inFlight >= maxInFlight) {
      shed += 1
      return { retryAfterMs }
    }
    inFlight += 1
    admitted += 1
    let held = true
    return () => {
      if (!held) return
      held = false
      inFlight -= 1
    }
  }
  return LoadShedder.of({ enter, inFlight: () => inFlight, admitted: () => admitted, shed: () => shed })
})

export const layer: Layer.Layer<LoadShedder, never, Settings.Settings> = Layer.effect(LoadShedder, make)
