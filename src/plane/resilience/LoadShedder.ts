/**
 * Admits a bounded number of requests at once (settings `loadShedding`), of one API key three quarters of them. Further ones are refused with a time to
 * retry, before anything of them is read.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mostHeld } from "../../kernel/collections/FairShare.ts"
import type { Release } from "./ConcurrencyGate.ts"
import * as Settings from "./Settings.ts"

/** The limit is reached. `retryAfterMs` goes to the client as `Retry-After`. */
export interface Shed {
  readonly retryAfterMs: number
}

export class LoadShedder extends Context.Tag("gateway/plane/resilience/LoadShedder")<
  LoadShedder,
  {
    /**
     * Hot: a place, `apiKeyId` null for callers without a key; to be released when the request is over however it ends
     * (further calls do nothing), or a refusal.
     */
    readonly enter: (apiKeyId: string | null) => Release | Shed
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

  const byKey = new Map<string, number>()

  const leave = (apiKeyId: string | null): void => {
    inFlight -= 1
    if (apiKeyId === null) return
    const left = (byKey.get(apiKeyId) ?? 0) - 1
    if (left > 0) byKey.set(apiKeyId, left)
    else byKey.delete(apiKeyId)
  }

  const enter = (apiKeyId: string | null): Release | Shed => {
    const { maxInFlight, retryAfterMs } = settings.current().loadShedding
    const own = apiKeyId === null ? 0 : (byKey.get(apiKeyId) ?? 0)
    if (inFlight >= maxInFlight || own >= mostHeld(maxInFlight)) {
      shed += 1
      return { retryAfterMs }
    }
    if (apiKeyId !== null) byKey.set(apiKeyId, own + 1)
    inFlight += 1
    admitted += 1
    let isInside = true
    return () => {
      if (!isInside) return
      isInside = false
      leave(apiKeyId)
    }
  }
  return LoadShedder.of({ enter, inFlight: () => inFlight, admitted: () => admitted, shed: () => shed })
})

export const layer: Layer.Layer<LoadShedder, never, Settings.Settings> = Layer.effect(LoadShedder, make)
